// What is wrong with an item, collected: everything at once, at the place where it is.
import type { StoredProblem } from '../item.ts'

/** Kinds of places, as answers name them (resources brief 9.4). */
export type ElementType =
  | 'account'
  | 'policy'
  | 'term'
  | 'transaction'
  | 'element'
  | 'charge'
  | 'installment'
  | 'invoice'
  | 'payment'
  | 'disbursement'

/** Sentences that one item may have; the rest is counted. */
const MOST_SENTENCES = 200

export class Problems {
  readonly #byPlace = new Map<string, { elementType: ElementType; locator: string; errors: string[] }>()
  #count = 0

  /** `path`: original ids, as `P1/terms[0]/transactions[2]/veh-3`. */
  add(elementType: ElementType, path: string, sentence: string): void {
    this.#count += 1
    if (this.#count > MOST_SENTENCES) return
    const key = `${elementType} ${path}`
    const place = this.#byPlace.get(key) ?? { elementType, locator: path, errors: [] }
    place.errors.push(sentence)
    this.#byPlace.set(key, place)
  }

  get any(): boolean {
    return this.#count > 0
  }

  list(): StoredProblem[] {
    const list: StoredProblem[] = [...this.#byPlace.values()]
    const last = list.at(-1)
    if (this.#count <= MOST_SENTENCES || !last) return list
    const more = `And ${this.#count - MOST_SENTENCES} problems more.`
    return [...list.slice(0, -1), { ...last, errors: [...last.errors, more] }]
  }
}
