// The items of an account by their original ids: what they became, why they failed.
import { addTo } from '../../kernel/maps.ts'

/** Kinds of items that stand in maps by their ids. */
export const LISTED_KINDS = ['policies', 'invoices', 'payments', 'disbursements'] as const
export type ListedKind = (typeof LISTED_KINDS)[number]

/** Kinds of items; ids are unique per kind within an account. */
export type ItemKind = 'account' | ListedKind

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
    for (const key of [`${link.kind} ${link.id}`, `invoices ${link.invoice}`]) addTo(this.#of, key, link)
  }

  /** What an invoice stands or falls with: the ids of invoices, itself among them, and those of payments. */
  around(invoice: string): Readonly<Record<'invoices' | 'payments', ReadonlySet<string>>> {
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

  /** Blocks all that is linked to failing items (`kind id`), directly or not. `block` fails an item. Returns whether it blocked any. */
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

// What is wrong with an item, collected: everything at once, at the place where it is.
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

// What is wrong with the items of an account, by their original ids, and what is linked to it.
const isBlocked = ({ problems }: ItemFailure): boolean =>
  problems.every(({ errors }) => errors.every(one => one.startsWith('blocked by ')))

function firstOf(failures: readonly ItemFailure[], kind: ItemKind | undefined): string | undefined {
  const own = failures.filter(one => kind === undefined || one.kind === kind)
  return (own.find(one => !isBlocked(one)) ?? own[0])?.originalId
}

export class Findings {
  readonly #found = new Map<string, { kind: ItemKind; id: string; problems: Problems }>()
  /** Items and the invoices that they name, which stand or fall together. */
  readonly links = new InvoiceLinks()
  /** Invoices that were migrated before. They are no items of the request, and fail only what would change them. */
  readonly #there = new Set<string>()
  /** What of the account was found to fail before it was converted, and is not in the request. */
  readonly #before: readonly ItemFailure[]

  constructor(before: readonly ItemFailure[]) {
    this.#before = before
  }

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
    this.of(kind, id).add(ELEMENT_TYPES[kind], id, sentence)
  }

  fails(kind: ItemKind, id: string): boolean {
    return this.#found.get(`${kind} ${id}`)?.problems.any ?? false
  }

  /** An item that fails, of that kind if given: the first that fails by itself, or the first if all are blocked. */
  failing(kind?: ItemKind): string | undefined {
    return firstOf([...this.#before, ...this.list()], kind)
  }

  /** The same of items that failed before the conversion. */
  failedBefore(kind: ItemKind): string | undefined {
    return firstOf(this.#before, kind)
  }

  /** The items without repeated ids, which fail. */
  singles<T extends { id: string }>(kind: ItemKind, items: readonly T[]): T[] {
    const seen = new Set<string>()
    return items.filter(({ id }) => {
      if (!seen.has(id)) return Boolean(seen.add(id))
      this.wrong(kind, id, `id '${id}' must be that of one ${ELEMENT_TYPES[kind]} of the account only.`)
      return false
    })
  }

  isThere(invoice: string): void {
    this.#there.add(invoice)
  }

  /** Takes along what hangs together with what fails; whether anything more fails now. */
  block(): boolean {
    const failing = [...this.#found].filter(([, { problems }]) => problems.any).map(([key]) => key)
    return this.links.block(
      failing,
      (kind, id) => this.fails(kind, id),
      (kind, id, by) => this.wrong(kind, id, kind === 'invoices' ? `blocked by ${by}` : this.#reasonOf(by)),
    )
  }

  /** The problem of an earlier invoice is reported with the items that name it. */
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
