// Reads an account's JSON item by item, so that an item with a wrong shape fails alone.
import type { z } from '@hono/zod-openapi'
import type { Uuid } from '../../kernel/locators.ts'
import { countText } from '../../kernel/text.ts'
import { contractRefusal, issuesOf } from '../../platform/wire-problem.ts'
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

/** An account, or (without `accountData`) further items of an existing one. */
export type ReadAccount = contract.MigrationRequest & { readonly accountData?: contract.AccountMigrationData }

export type SentAccount = Readonly<Record<string, unknown>>

export const ITEM_SCHEMAS = {
  policies: contract.PolicyMigrationRequest,
  invoices: contract.InvoiceMigrationRequest,
  payments: contract.PaymentMigrationRequest,
  disbursements: contract.DisbursementMigrationRequest,
} as const satisfies Record<ListedKind, z.ZodType>

/** Returns a failure of the item as a whole. */
export const itemFailure = (kind: ItemKind, originalId: string, errors: readonly string[]): ItemFailure => ({
  kind,
  originalId,
  problems: [{ elementType: ELEMENT_TYPES[kind], locator: originalId, errors }],
})

/** Returns the id of an item as it was sent, or undefined if it is not a valid id. */
export const ownId = (item: unknown): string | undefined => {
  const id = typeof item === 'object' && item !== null ? (item as { id?: unknown }).id : undefined
  if (typeof id === 'number') return String(id)
  return typeof id === 'string' && id !== '' && id.length <= contract.LONGEST_ID ? id : undefined
}

/** Returns the item's id, or its place if it has none. */
const itemId = (kind: ListedKind, item: unknown, index: number): string => ownId(item) ?? `${kind}[${index}]`

/** Returns the items as they were sent; none if the value is not a list, for which `readAccount` adds a failure. */
export const itemsOf = (value: SentAccount, kind: ListedKind): readonly unknown[] => {
  const items = value[kind]
  return Array.isArray(items) ? items : []
}

/** Returns the items with their ids. An item without a valid id has its place, such as `policies[0]`. */
export const namedItems = (value: SentAccount, kind: ListedKind): { id: string; item: unknown }[] =>
  itemsOf(value, kind).map((item, index) => ({ id: itemId(kind, item, index), item }))

/** Earlier migrated items of an account, as `kind id`. */
export type MigratedItems = {
  /** Migrated by this migration. They are skipped. */
  readonly done: ReadonlySet<string>
  /** Migrated by other migrations. Ids within an account are never reused. */
  readonly taken: ReadonlySet<string>
}

/** `mappings` are those of the account from all migrations. */
export function migratedItems(
  mappings: readonly { kind: ItemKind; originalId: string; migrationLocator: string }[],
  migration: Uuid,
): MigratedItems {
  const items = Map.groupBy(mappings, one => one.migrationLocator === migration)
  const keys = (isOurs: boolean): ReadonlySet<string> =>
    new Set(items.get(isOurs)?.map(({ kind, originalId }) => `${kind} ${originalId}`))
  return { done: keys(true), taken: keys(false) }
}

/** Reads an account. Valid items go to the request, the others to the failures. `isNew`: the account is created. */
export function readAccount(
  value: SentAccount,
  originalId: string,
  isNew: boolean,
  migrated: MigratedItems = { done: new Set(), taken: new Set() },
): { readonly request: ReadAccount; readonly failures: readonly ItemFailure[] } {
  const failures: ItemFailure[] = []
  const { frame, accountData, problems } = readFrame(value, isNew)
  if (problems.length > 0) failures.push(itemFailure('account', originalId, problems))
  const items = LISTED_KINDS.map(kind => ({ kind, valid: validItems(value, kind, migrated, failures) }))
  const blocked = blockedBy(value, failures, migrated.done)
  const kept = items.map(({ kind, valid }) => [
    kind,
    valid.filter(({ id }) => !blocked.has(`${kind} ${id}`)).map(({ item }) => item),
  ])
  const request = { ...(frame ?? EMPTY), ...Object.fromEntries(kept), ...(accountData && { accountData }) }
  return { request: request as ReadAccount, failures: [...failures, ...blocked.values()] }
}

/** Reads what belongs to the account as a whole. Its data is read only if the account is created. */
function readFrame(value: SentAccount, isNew: boolean) {
  const { policies: _1, invoices: _2, payments: _3, disbursements: _4, accountData, ...rest } = value
  const problems: string[] = []
  const frame = parseWith(contract.MigrationRequest, rest, problems)
  const isObject = accountData === undefined || accountData === null || typeof accountData === 'object'
  if (isNew && !isObject) problems.push(`'accountData' must be an object.`)
  const data =
    isNew && isObject
      ? parseWith(contract.AccountMigrationData, accountData ?? {}, problems, 'accountData')
      : undefined
  for (const kind of LISTED_KINDS)
    if (value[kind] !== undefined && value[kind] !== null && !Array.isArray(value[kind]))
      problems.push(`'${kind}' must be a list.`)
  return { frame, accountData: data, problems }
}

/** Returns the valid items that this migration has not migrated yet. Adds the others to the failures. */
function validItems(
  value: SentAccount,
  kind: ListedKind,
  { done, taken }: MigratedItems,
  failures: ItemFailure[],
) {
  const byId = Map.groupBy(namedItems(value, kind), ({ id }) => id)
  return [...byId].flatMap(([id, sent]) => {
    if (done.has(`${kind} ${id}`)) return []
    const reads = sent.map(({ item }) => ITEM_SCHEMAS[kind].safeParse(item))
    const sentences = [
      ...(taken.has(`${kind} ${id}`)
        ? [`'id' must be unique within the account: '${id}' was migrated by an earlier migration.`]
        : []),
      // It is unknown which one is meant, so none is used until a correction replaces them all.
      ...(sent.length > 1 ? [`'id' must be unique: '${id}' is in '${kind}' more than once.`] : []),
    ]
    const problems = [
      ...sentences.flatMap(sentence => itemFailure(kind, id, [sentence]).problems),
      ...reads.flatMap((read, at) =>
        read.success ? [] : placedProblems(read.error, ELEMENT_TYPES[kind], id, sent[at]!.item),
      ),
    ]
    if (problems.length === 0) return reads.map(read => ({ id, item: read.data }))
    failures.push({ kind, originalId: id, problems })
    return []
  })
}

/** Returns failures of items that do not match their schema. */
export const shapeFailures = (kind: ListedKind, items: Readonly<Record<string, unknown>>): ItemFailure[] =>
  Object.entries(items).flatMap(([id, item]) => {
    const read = ITEM_SCHEMAS[kind].safeParse(item)
    if (read.success) return []
    return [{ kind, originalId: id, problems: placedProblems(read.error, ELEMENT_TYPES[kind], id, item) }]
  })

/** Returns the items linked to failing ones, as `kind id`: linked policies, invoices and payments fail together. */
function blockedBy(
  value: SentAccount,
  failures: readonly ItemFailure[],
  done: ReadonlySet<string>,
): ReadonlyMap<string, ItemFailure> {
  const failed = new Set(failures.map(({ kind, originalId }) => `${kind} ${originalId}`))
  const blocked = new Map<string, ItemFailure>()
  if (failed.size === 0) return blocked
  const invoices = new Set(namedItems(value, 'invoices').map(({ id }) => id))
  const links = new InvoiceLinks()
  for (const kind of ['policies', 'payments'] as const)
    for (const { id, item } of namedItems(value, kind)) {
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

/** Returns every `invoiceId` in the item, at any depth. */
function invoiceIdsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, inner]) =>
    name === 'invoiceId' && (typeof inner === 'string' || typeof inner === 'number')
      ? [String(inner)]
      : invoiceIdsIn(inner),
  )
}

const EMPTY = { policies: [], invoices: [], payments: [], disbursements: [] }

/** Returns the parsed value. Adds problems as sentences with their path. */
export function parseWith<S extends z.ZodType>(
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

// Problems within an item, each at its path of original ids (resources brief 9.4).
/** Lists whose entries are separate places. */
const PLACES: Readonly<Record<string, string>> = {
  terms: 'term',
  transactions: 'transaction',
  installments: 'installment',
  elements: 'element',
  charges: 'charge',
}

/** The number of sentences that an item keeps. Further ones are only counted. */
const MOST_SENTENCES = 100

export type Place = { readonly elementType: string; readonly locator: string }

/** Returns the innermost place on the path. Elements and installments are named by id if they have one. */
export function placeOf(whole: Place, item: unknown, path: readonly PropertyKey[]): Place {
  let { elementType, locator } = whole
  /** Paths of elements start at their transaction, however deeply they are nested. */
  let transaction = locator
  let part = item
  for (const [at, key] of path.entries()) {
    part = (part as Record<PropertyKey, unknown> | null | undefined)?.[key]
    const list = path[at - 1]
    const kind = kindAt(key, list)
    if (kind === undefined) continue
    const { id } = (part ?? {}) as { id?: unknown }
    const hasOwnName = (kind === 'element' || kind === 'installment') && typeof id === 'string' && id !== ''
    const byPlace = typeof key === 'number' ? `${String(list)}[${key}]` : String(key)
    locator = `${kind === 'element' ? transaction : locator}/${hasOwnName ? id : byPlace}`
    if (kind === 'transaction') transaction = locator
    elementType = kind
  }
  return { elementType, locator }
}

/** Returns the type of the element at the key, or undefined if it is not a separate place. */
function kindAt(key: PropertyKey, list: PropertyKey | undefined): string | undefined {
  if (key === 'rootElement') return 'element'
  return typeof key === 'number' ? PLACES[String(list)] : undefined
}

function placedProblems(error: z.ZodError, elementType: string, id: string, item: unknown): StoredProblem[] {
  const places = new Map<string, { elementType: string; locator: string; errors: string[] }>()
  const issues = issuesOf(error)
  for (const { path, message } of issues.slice(0, MOST_SENTENCES)) {
    const place = placeOf({ elementType, locator: id }, item, path)
    const key = `${place.elementType} ${place.locator}`
    const known = places.get(key) ?? { ...place, errors: [] }
    // The schema calls the whole item "the request".
    known.errors.push(path.length === 0 ? message.replace(/^The request/, `The ${elementType}`) : message)
    places.set(key, known)
  }
  const more = issues.length - MOST_SENTENCES
  if (more > 0) [...places.values()][0]!.errors.push(`And ${countText(more, 'more problem')}.`)
  return [...places.values()]
}
