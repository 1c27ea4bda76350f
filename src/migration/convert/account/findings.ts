// What is wrong with the items of an account, by their original ids, and what hangs together with it.
import type { ItemFailure, ItemKind } from '../../item.ts'
import { type ElementType, Problems } from '../problems.ts'

const ELEMENT_OF: Readonly<Record<ItemKind, ElementType>> = {
  account: 'account',
  policies: 'policy',
  invoices: 'invoice',
  payments: 'payment',
  disbursements: 'disbursement',
}

/** An item that names an invoice. */
type Link = { readonly kind: 'policies' | 'payments'; readonly id: string; readonly invoice: string }

export class Findings {
  readonly #found = new Map<string, { kind: ItemKind; id: string; problems: Problems }>()
  readonly #links: Link[] = []
  /** Invoices that were migrated before. They are no items of the request, and fail only what would change them. */
  readonly #there = new Set<string>()

  /** The problems of the item, to be added to. */
  of(kind: ItemKind, id: string): Problems {
    const key = `${kind} ${id}`
    const found = this.#found.get(key)?.problems
    if (found) return found
    const problems = new Problems()
    this.#found.set(key, { kind, id, problems })
    return problems
  }

  wrong(kind: ItemKind, id: string, sentence: string): void {
    this.of(kind, id).add(ELEMENT_OF[kind], id, sentence)
  }

  fails(kind: ItemKind, id: string): boolean {
    return this.#found.get(`${kind} ${id}`)?.problems.any ?? false
  }

  /** The items without those whose id another one before them has, which fails. */
  singles<T extends { id: string }>(kind: ItemKind, items: readonly T[]): T[] {
    const seen = new Set<string>()
    return items.filter(({ id }) => {
      if (!seen.has(id)) return Boolean(seen.add(id))
      this.wrong(kind, id, `id '${id}' must be that of one ${ELEMENT_OF[kind]} of the account only.`)
      return false
    })
  }

  isThere(invoice: string): void {
    this.#there.add(invoice)
  }

  /** The item and the invoice that it names stand or fall together. */
  link(kind: Link['kind'], id: string, invoice: string): void {
    this.#links.push({ kind, id, invoice })
  }

  /** Takes along what hangs together with what fails; whether anything more fails now. */
  block(): boolean {
    let more = false
    for (let again = true; again; ) {
      again = false
      for (const { kind, id, invoice } of this.#links) {
        const [one, other] = [this.fails(kind, id), this.fails('invoices', invoice)]
        if (one === other) continue
        if (one) this.wrong('invoices', invoice, `blocked by ${id}`)
        else this.wrong(kind, id, this.#reasonOf(invoice))
        again = true
        more = true
      }
    }
    return more
  }

  /** What becomes of an invoice that is there already is told with those that name it. */
  #reasonOf(invoice: string): string {
    const [problem] = this.#there.has(invoice) ? this.of('invoices', invoice).list() : []
    return problem?.errors[0] ?? `blocked by ${invoice}`
  }

  list(): ItemFailure[] {
    return [...this.#found.values()]
      .filter(({ kind, id, problems }) => problems.any && !(kind === 'invoices' && this.#there.has(id)))
      .map(({ kind, id, problems }) => ({ kind, originalId: id, problems: problems.list() }))
  }
}
