// An account's JSON as a request: each item is read on its own, so that one that does not fit fails alone.

import type { z } from '@hono/zod-openapi'
import { contractRefusal } from '../../platform/wire-problem.ts'
import * as contract from './contract-request.ts'
import {
  ELEMENT_TYPES,
  InvoiceLinks,
  type ItemFailure,
  type ItemKind,
  LISTED_KINDS,
  type ListedKind,
  type StoredProblem,
} from './item.ts'

/** An account, or (without `accountData`) further items of one that exists. */
export type ReadAccount = contract.MigrationRequest & { readonly accountData?: contract.AccountMigrationData }

export type AccountReading = { readonly request: ReadAccount; readonly failures: readonly ItemFailure[] }

export const ITEM_SCHEMAS = {
  policies: contract.PolicyMigrationRequest,
  invoices: contract.InvoiceMigrationRequest,
  payments: contract.PaymentMigrationRequest,
  disbursements: contract.DisbursementMigrationRequest,
} as const satisfies Record<ListedKind, z.ZodType>

/** A failure of the item itself, said in sentences. */
export const itemFailure = (kind: ItemKind, originalId: string, errors: readonly string[]): ItemFailure => ({
  kind,
  originalId,
  problems: [{ elementType: ELEMENT_TYPES[kind], locator: originalId, errors }],
})

/** The id of an item as it was sent, where it has one that an item can have. */
export const ownId = (item: unknown): string | undefined => {
  const id = typeof item === 'object' && item !== null ? (item as { id?: unknown }).id : undefined
  if (typeof id === 'number') return String(id)
  return typeof id === 'string' && id !== '' && id.length <= contract.LONGEST_ID ? id : undefined
}

/** What an item is called: by its id, or its place where it has none. */
export const itemId = (kind: ListedKind, item: unknown, index: number): string =>
  ownId(item) ?? `${kind}[${index}]`

export const itemsOf = (value: Readonly<Record<string, unknown>>, kind: ListedKind): readonly unknown[] => {
  const items = value[kind]
  return Array.isArray(items) ? items : []
}

/** Items of an account that were migrated before, by kind and id. */
export type MigratedItems = {
  /** By this migration: they are passed over. */
  readonly done: ReadonlySet<string>
  /** By others: ids of an account are its items' for good. */
  readonly taken: ReadonlySet<string>
}

const NOTHING_MIGRATED: MigratedItems = { done: new Set(), taken: new Set() }

/** `isNew`: the account is to be made. What fits is in the request, what does not among the failures. */
export function readAccount(
  value: Readonly<Record<string, unknown>>,
  originalId: string,
  isNew: boolean,
  { done, taken }: MigratedItems = NOTHING_MIGRATED,
): AccountReading {
  const failures: ItemFailure[] = []
  const { policies: _1, invoices: _2, payments: _3, disbursements: _4, accountData, ...rest } = value
  const own: string[] = []
  const frame = parsed(contract.MigrationRequest, rest, own)
  const isData = accountData === undefined || accountData === null || typeof accountData === 'object'
  if (isNew && !isData) own.push(`'accountData' must be an object.`)
  const data =
    isNew && isData ? parsed(contract.AccountMigrationData, accountData ?? {}, own, 'accountData') : undefined
  for (const kind of LISTED_KINDS)
    if (value[kind] !== undefined && value[kind] !== null && !Array.isArray(value[kind]))
      own.push(`'${kind}' must be a list.`)
  const items: Partial<Record<ListedKind, unknown[]>> = {}
  for (const kind of LISTED_KINDS) {
    const list = itemsOf(value, kind)
    const byId = Map.groupBy(list.keys(), index => itemId(kind, list[index], index))
    items[kind] = [...byId].flatMap(([id, indexes]) => {
      if (done.has(`${kind} ${id}`)) return []
      const reads = indexes.map(index => ITEM_SCHEMAS[kind].safeParse(list[index]))
      const problems = reads.flatMap((read, at): readonly StoredProblem[] =>
        read.success ? [] : placedProblems(read.error, ELEMENT_TYPES[kind], id, list[indexes[at]!]),
      )
      // Nobody can tell which of them is meant: neither is taken, until one of them takes the place of all.
      if (indexes.length > 1)
        problems.unshift(
          ...itemFailure(kind, id, [`'id' must be unique: '${id}' stands in '${kind}' more than once.`])
            .problems,
        )
      if (taken.has(`${kind} ${id}`))
        problems.unshift(
          ...itemFailure(kind, id, [
            `'id' must be unique within the account: '${id}' was migrated by an earlier migration.`,
          ]).problems,
        )
      if (problems.length > 0) failures.push({ kind, originalId: id, problems })
      return problems.length > 0 ? [] : reads.map(read => read.data)
    })
  }
  if (own.length > 0) failures.unshift(itemFailure('account', originalId, own))
  const blocked = blockedBy(value, failures, done)
  const kept = LISTED_KINDS.map(kind => [
    kind,
    items[kind]!.filter(item => !blocked.has(`${kind} ${(item as { id: string }).id}`)),
  ])
  return {
    request: {
      ...(frame ?? EMPTY),
      ...Object.fromEntries(kept),
      ...(data && { accountData: data }),
    } as ReadAccount,
    failures: [...failures, ...blocked.values()],
  }
}

/** What of the items, by their ids, does not fit by itself. */
export const misshapen = (kind: ListedKind, items: Readonly<Record<string, unknown>>): ItemFailure[] =>
  Object.entries(items).flatMap(([id, item]) => {
    const read = ITEM_SCHEMAS[kind].safeParse(item)
    if (read.success) return []
    return [{ kind, originalId: id, problems: placedProblems(read.error, ELEMENT_TYPES[kind], id, item) }]
  })

/** Items linked to those that do not fit, by kind and id: policies, invoices and payments stand or fall together. */
function blockedBy(
  value: Readonly<Record<string, unknown>>,
  failures: readonly ItemFailure[],
  done: ReadonlySet<string>,
): ReadonlyMap<string, ItemFailure> {
  const failed = new Set(failures.map(({ kind, originalId }) => `${kind} ${originalId}`))
  const blocked = new Map<string, ItemFailure>()
  if (failed.size === 0) return blocked
  const invoices = new Set(itemsOf(value, 'invoices').map((item, index) => itemId('invoices', item, index)))
  const links = new InvoiceLinks()
  for (const kind of ['policies', 'payments'] as const)
    for (const [index, item] of itemsOf(value, kind).entries()) {
      const id = itemId(kind, item, index)
      if (done.has(`${kind} ${id}`)) continue
      for (const invoice of invoiceIdsIn(item))
        if (invoices.has(invoice) && !done.has(`invoices ${invoice}`)) links.add({ kind, id, invoice })
    }
  links.block(
    [...failed],
    (kind, id) => failed.has(`${kind} ${id}`),
    (kind, id, by) => {
      failed.add(`${kind} ${id}`)
      blocked.set(`${kind} ${id}`, itemFailure(kind, id, [`blocked by ${by}`]))
    },
  )
  return blocked
}

/** Every `invoiceId` in the item, however deep. */
function invoiceIdsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, inner]) =>
    name === 'invoiceId' && (typeof inner === 'string' || typeof inner === 'number')
      ? [String(inner)]
      : invoiceIdsIn(inner),
  )
}

const EMPTY = { policies: [], invoices: [], payments: [], disbursements: [] }

/** What a schema makes of a value; its problems as sentences, each with its path. */
export function parsed<S extends z.ZodType>(
  schema: S,
  value: unknown,
  problems: string[],
  within?: string,
): z.output<S> | undefined {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const { message } = contractRefusal(result.error, 'invalidRequest')
  problems.push(within === undefined ? message : `In '${within}': ${message}`)
  return undefined
}

// What does not fit the contract within an item, told at the path of original ids where it is (resources brief 9.4).
/** Lists within a policy whose entries are places of their own, by the property that they stand in. */
const PLACES: Readonly<Record<string, string>> = {
  terms: 'term',
  transactions: 'transaction',
  installments: 'installment',
  elements: 'element',
  charges: 'charge',
}

/** Sentences that one item may have; the rest is counted. */
const MOST_SENTENCES = 100

export type Place = { readonly elementType: string; readonly locator: string }

/** The innermost place on the way; an element, like an installment, is called by its id where it has one. */
export function placeOf(whole: Place, item: unknown, path: readonly PropertyKey[]): Place {
  let { elementType, locator } = whole
  /** Elements stand below their transaction, however deep they lie in each other. */
  let transaction = locator
  let part = item
  for (const [at, key] of path.entries()) {
    part = (part as Record<PropertyKey, unknown> | null | undefined)?.[key]
    const list = path[at - 1]
    const kind =
      key === 'rootElement' ? 'element' : typeof key === 'number' ? PLACES[String(list)] : undefined
    if (kind === undefined) continue
    const { id } = (part ?? {}) as { id?: unknown }
    const isCalled = (kind === 'element' || kind === 'installment') && typeof id === 'string' && id !== ''
    const byPlace = typeof key === 'number' ? `${String(list)}[${key}]` : String(key)
    locator = `${kind === 'element' ? transaction : locator}/${isCalled ? id : byPlace}`
    if (kind === 'transaction') transaction = locator
    elementType = kind
  }
  return { elementType, locator }
}

/** Every problem at its place; its sentence names the property as it lies in the item. */
export function placedProblems(
  error: z.ZodError,
  elementType: string,
  id: string,
  item: unknown,
): StoredProblem[] {
  const places = new Map<string, { elementType: string; locator: string; errors: string[] }>()
  for (const { path, message } of error.issues.slice(0, MOST_SENTENCES)) {
    const place = placeOf({ elementType, locator: id }, item, path)
    const key = `${place.elementType} ${place.locator}`
    const known = places.get(key) ?? { ...place, errors: [] }
    // What is wrong with the item as a whole is told of the request as a whole by its schema.
    known.errors.push(path.length === 0 ? message.replace(/^The request/, `The ${elementType}`) : message)
    places.set(key, known)
  }
  const more = error.issues.length - MOST_SENTENCES
  if (more > 0) [...places.values()][0]!.errors.push(`And ${more} problems more.`)
  return [...places.values()]
}
