import type { JournalEntry } from './rows.ts'

/** What distinguishes entries of one row: entries that differ in the amount alone are one. */
type Place = Omit<JournalEntry, 'minor'>

/** Adds up amounts of the same place. Places whose amounts cancel out are dropped. */
export class Entries {
  readonly #byPlace = new Map<string, { place: Place; minor: number }>()

  add(place: Place, minor: number): void {
    if (minor === 0) return
    const { account, peril, name, start, end, invoice, due, payment } = place
    const key = [account, peril, name, start, end, invoice, due, payment].join('\n')
    const known = this.#byPlace.get(key)
    if (known) known.minor += minor
    else this.#byPlace.set(key, { place, minor })
  }

  list(): JournalEntry[] {
    return [...this.#byPlace.values()]
      .filter(({ minor }) => minor !== 0)
      .map(({ place, minor }) => ({ ...place, minor }))
  }
}

/** The sum of the entries: zero, where they balance. */
export const totalOf = (entries: Iterable<Pick<JournalEntry, 'minor'>>): number => {
  let total = 0
  for (const { minor } of entries) total += minor
  return total
}
