// What an account brings, and what is said of it: items by their original ids, what they became, why they failed.

/** Kinds of items; ids are unique per kind within an account. */
export const ITEM_KINDS = ['account', 'policies', 'invoices', 'payments', 'disbursements'] as const
export type ItemKind = (typeof ITEM_KINDS)[number]

/** Kinds of items that stand in maps by their ids. */
export const LISTED_KINDS = ['policies', 'invoices', 'payments', 'disbursements'] as const
export type ListedKind = (typeof LISTED_KINDS)[number]

/** A part of an item, with the locator that it has now. */
export type MappingNode = {
  readonly originalId: string
  readonly locator: string
  readonly children?: readonly MappingNode[]
}

/** What is wrong at one place: its kind, its path of original ids, and sentences that name field and rule. */
export type StoredProblem = {
  readonly elementType: string
  readonly locator: string
  readonly errors: readonly string[]
}

export type ItemFailure = {
  readonly kind: ItemKind
  readonly originalId: string
  readonly problems: readonly StoredProblem[]
}

export type ItemMapping = MappingNode & { readonly kind: ItemKind }

/** An item that names an invoice: they stand or fall together. */
export type InvoiceLink = {
  readonly kind: 'policies' | 'payments'
  readonly id: string
  readonly invoice: string
}

/** Links by what they connect, so that each is followed once, however long the chain of items that it is part of. */
export class InvoiceLinks {
  readonly #of = new Map<string, InvoiceLink[]>()

  add(link: InvoiceLink): void {
    for (const key of [`${link.kind} ${link.id}`, `invoices ${link.invoice}`]) {
      const known = this.#of.get(key)
      if (known) known.push(link)
      else this.#of.set(key, [link])
    }
  }

  /** What an invoice stands or falls with: the ids of invoices, itself among them, and those of payments. */
  around(invoice: string): {
    readonly invoices: ReadonlySet<string>
    readonly payments: ReadonlySet<string>
  } {
    const [invoices, payments] = [new Set([invoice]), new Set<string>()]
    const queue = new Set([`invoices ${invoice}`])
    for (const key of queue)
      for (const link of this.#of.get(key) ?? []) {
        if (link.kind === 'payments') payments.add(link.id)
        invoices.add(link.invoice)
        queue.add(`${link.kind} ${link.id}`).add(`invoices ${link.invoice}`)
      }
    return { invoices, payments }
  }

  /**
   * Blocks whatever is linked to what fails, and what is linked to that. `failing`: items as `kind id`; `block` makes the item
   * fail. Returns whether it blocked anything.
   */
  block(
    failing: Iterable<string>,
    fails: (kind: ListedKind, id: string) => boolean,
    block: (kind: ListedKind, id: string, by: string) => void,
  ): boolean {
    const queue = [...failing]
    const before = queue.length
    for (const key of queue)
      for (const { kind, id, invoice } of this.#of.get(key) ?? []) {
        const itemFails = fails(kind, id)
        if (itemFails === fails('invoices', invoice)) continue
        if (itemFails) block('invoices', invoice, id)
        else block(kind, id, invoice)
        queue.push(itemFails ? `invoices ${invoice}` : `${kind} ${id}`)
      }
    return queue.length > before
  }
}
