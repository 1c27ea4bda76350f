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
