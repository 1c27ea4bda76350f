// The items of an account by original id: their mappings, failures and links.
import { addTo } from '../../kernel/maps.ts'

export const LISTED_KINDS = ['policies', 'invoices', 'payments', 'disbursements'] as const
export type ListedKind = (typeof LISTED_KINDS)[number]

/** Ids are unique for each kind within an account. */
export type ItemKind = 'account' | ListedKind

export type MappingNode = {
  readonly originalId: string
  readonly locator: string
  readonly children?: readonly MappingNode[]
}

/** Problems at one place: its kind, its path of original ids, and sentences that name the field and the rule. */
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

/** An item that names an invoice. If one fails, so does the other. */
export type InvoiceLink = {
  readonly kind: 'policies' | 'payments'
  readonly id: string
  readonly invoice: string
}

/** Links indexed by both ends, so that each link of a chain is followed once. */
export class InvoiceLinks {
  readonly #byItem = new Map<string, InvoiceLink[]>()

  add(link: InvoiceLink): void {
    for (const key of [`${link.kind} ${link.id}`, `invoices ${link.invoice}`]) addTo(this.#byItem, key, link)
  }

  /** Returns the ids of the invoices (including this one) and payments that fail if this invoice fails. */
  around(invoice: string): Readonly<Record<'invoices' | 'payments', ReadonlySet<string>>> {
    const [invoices, payments] = [new Set([invoice]), new Set<string>()]
    const queue = new Set([`invoices ${invoice}`])
    for (const key of queue)
      for (const link of this.#byItem.get(key) ?? []) {
        if (link.kind === 'payments') payments.add(link.id)
        invoices.add(link.invoice)
        queue.add(`${link.kind} ${link.id}`).add(`invoices ${link.invoice}`)
      }
    return { invoices, payments }
  }

  /** Fails every item linked to a failing one (`kind id`), directly or not. Returns whether any was added. */
  block(
    failing: Iterable<string>,
    fails: (kind: ListedKind, id: string) => boolean,
    block: (kind: ListedKind, id: string, by: string) => void,
  ): boolean {
    const queue = [...failing]
    const before = queue.length
    for (const key of queue)
      for (const { kind, id, invoice } of this.#byItem.get(key) ?? []) {
        const itemFails = fails(kind, id)
        if (itemFails === fails('invoices', invoice)) continue
        if (itemFails) block('invoices', invoice, id)
        else block(kind, id, invoice)
        queue.push(itemFails ? `invoices ${invoice}` : `${kind} ${id}`)
      }
    return queue.length > before
  }
}

export const ELEMENT_TYPES = {
  account: 'account',
  policies: 'policy',
  invoices: 'invoice',
  payments: 'payment',
  disbursements: 'disbursement',
} as const satisfies Record<ItemKind, string>

type PartType = 'term' | 'transaction' | 'element' | 'charge' | 'installment'

/** Kinds of places, as answers name them (resources brief 9.4). */
export type ElementType = (typeof ELEMENT_TYPES)[ItemKind] | PartType

/** The number of sentences that an item keeps. Further ones are only counted. */
const MOST_SENTENCES = 200

/** Sentences on what is wrong, by the place that they are about, in the order in which the places were added. */
export class Problems {
  readonly #byPlace = new Map<string, { elementType: ElementType; locator: string; errors: string[] }>()
  #count = 0

  /** Adds a problem. `path` has original ids, as in `P1/terms[0]/transactions[2]/veh-3`. */
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

  /** With more than `MOST_SENTENCES`, the last sentence states how many are left out. */
  list(): StoredProblem[] {
    const list: StoredProblem[] = [...this.#byPlace.values()]
    const last = list.at(-1)
    if (this.#count <= MOST_SENTENCES || !last) return list
    const more = `And ${this.#count - MOST_SENTENCES} more problems.`
    return [...list.slice(0, -1), { ...last, errors: [...last.errors, more] }]
  }
}

const isBlocked = ({ problems }: ItemFailure): boolean =>
  problems.every(({ errors }) => errors.every(error => error.startsWith('blocked by ')))

function firstOf(failures: readonly ItemFailure[], kind: ItemKind | undefined): string | undefined {
  const own = failures.filter(failure => kind === undefined || failure.kind === kind)
  return (own.find(one => !isBlocked(one)) ?? own[0])?.originalId
}

/** The problems of an account, by item. An item with a problem fails. */
export class Findings {
  readonly #byKey = new Map<string, { kind: ItemKind; id: string; problems: Problems }>()
  readonly links = new InvoiceLinks()
  /** Invoices that were migrated earlier. They are not items of the request, so only the items that name them fail. */
  readonly #earlierInvoices = new Set<string>()
  /** Failures found before the conversion. Their items are not in the request. */
  readonly #earlierFailures: readonly ItemFailure[]

  constructor(before: readonly ItemFailure[]) {
    this.#earlierFailures = before
  }

  /** Returns the item's problems, to which more can be added. */
  of(kind: ItemKind, id: string): Problems {
    const key = `${kind} ${id}`
    const found = this.#byKey.get(key)?.problems
    if (found) return found
    const problems = new Problems()
    this.#byKey.set(key, { kind, id, problems })
    return problems
  }

  /** Fails the item as a whole. */
  wrong(kind: ItemKind, id: string, sentence: string): void {
    this.of(kind, id).add(ELEMENT_TYPES[kind], id, sentence)
  }

  /** Whether the item fails by what was found so far. Ignores failures from before the conversion (`failedBefore`). */
  fails(kind: ItemKind, id: string): boolean {
    return this.#byKey.get(`${kind} ${id}`)?.problems.any ?? false
  }

  /** Returns the id of a failing item: one that fails by itself if there is one, otherwise a blocked one. */
  failing(kind?: ItemKind): string | undefined {
    return firstOf([...this.#earlierFailures, ...this.list()], kind)
  }

  /** Does what `failing` does, among items that failed before the conversion. */
  failedBefore(kind: ItemKind): string | undefined {
    return firstOf(this.#earlierFailures, kind)
  }

  /** Drops repeated ids and fails them. */
  withoutRepeatedIds<T extends { id: string }>(kind: ItemKind, items: readonly T[]): T[] {
    const seen = new Set<string>()
    return items.filter(({ id }) => {
      if (!seen.has(id)) return Boolean(seen.add(id))
      this.wrong(kind, id, `id '${id}' must be the id of only one ${ELEMENT_TYPES[kind]} of the account.`)
      return false
    })
  }

  /** Reports problems of the invoice at the items that name it, because it is not in the request. */
  addEarlierInvoice(invoice: string): void {
    this.#earlierInvoices.add(invoice)
  }

  /** Fails everything linked to a failing item. Returns whether more items fail now. */
  block(): boolean {
    const failing = [...this.#byKey].filter(([, { problems }]) => problems.any).map(([key]) => key)
    return this.links.block(
      failing,
      (kind, id) => this.fails(kind, id),
      (kind, id, by) => this.wrong(kind, id, kind === 'invoices' ? `blocked by ${by}` : this.#reasonOf(by)),
    )
  }

  /** Problems of an earlier invoice are reported at the items that name it. */
  #reasonOf(invoice: string): string {
    const [problem] = this.#earlierInvoices.has(invoice) ? this.of('invoices', invoice).list() : []
    return problem?.errors[0] ?? `blocked by ${invoice}`
  }

  /** Returns the items that fail, without those that failed before the conversion. */
  list(): ItemFailure[] {
    return [...this.#byKey.values()]
      .filter(
        ({ kind, id, problems }) => problems.any && !(kind === 'invoices' && this.#earlierInvoices.has(id)),
      )
      .map(({ kind, id, problems }) => ({ kind, originalId: id, problems: problems.list() }))
  }
}
