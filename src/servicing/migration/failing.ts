// Reads items with a wrong shape again, with stand-ins for the wrong parts, so that the rest can be checked too.
import type { z } from '@hono/zod-openapi'
import * as contract from './contract-request.ts'
import { ELEMENT_TYPES, type ItemFailure, type ItemKind, LISTED_KINDS, type StoredProblem } from './item.ts'
import {
  ITEM_SCHEMAS,
  namedItems,
  type Place,
  placeOf,
  type ReadAccount,
  type SentAccount,
} from './request.ts'

const SOME_TIME = '2000-01-01T00:00:00Z'

/** Stand-ins by property name; any other property is removed. No amount is zero, since zero breaks rules. */
const STAND_INS: Readonly<Record<string, unknown>> = {
  startTime: SOME_TIME,
  endTime: SOME_TIME,
  issuedTime: SOME_TIME,
  dueTime: SOME_TIME,
  paymentTime: SOME_TIME,
  disbursementTime: SOME_TIME,
  amount: 1,
  installmentNumber: 1,
  segmentType: 'coverage',
  terms: [],
  transactions: [],
  paymentItems: [],
  sources: [],
  productName: '?',
  elementType: '?',
  transactionType: '?',
  chargeType: '?',
}

/** By kind of item: an invoice's start must come before its end, even if only one of them is a stand-in. */
const STAND_INS_OF: Partial<Readonly<Record<ItemKind, Readonly<Record<string, unknown>>>>> = {
  invoices: { startTime: '0001-01-01T00:00:00Z', endTime: '9999-12-31T00:00:00Z' },
}

/** Stand-ins that break no rule. */
const HARMLESS: ReadonlySet<string> = new Set(['amount', 'installmentNumber'])

/** Properties that identify parts of a policy. If one is wrong, rules about elements over time cannot be checked. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'id',
  'elementType',
  'segment',
  'segmentType',
  'rootElement',
  'elements',
  'terms',
  'transactions',
])

/** For each wrong property, the beginnings of sentences that its stand-in may cause anywhere in the item. */
const DOUBTS: readonly (readonly [properties: RegExp, sentences: RegExp])[] = [
  [/^(start|end|issued)Time$/, /^(startTime|issuedTime|segment\.startTime)\b/],
  [/^installments$/, /^installmentItems\b/],
  [/^rootElement$/, /^segment\.rootElement\b/],
  // A gap's data is not read.
  [/^(segment|segmentType)$/, /^(Field|\w+\[\d+\]: Field)\b/],
]

/** The number of attempts to read an item, because a stand-in may reveal further problems. */
const MOST_READINGS = 3

type StandInReading = { readonly item: unknown; readonly doubts: Doubts }

function readWithStandIns(
  kind: ItemKind,
  id: string,
  schema: z.ZodType,
  item: unknown,
): StandInReading | undefined {
  const doubts = new Doubts()
  let copy: unknown = item
  for (let reading = 0; reading < MOST_READINGS; reading += 1) {
    const read = schema.safeParse(copy)
    if (read.success) return { item: read.data, doubts }
    if (reading === 0) copy = structuredClone(item)
    for (const { path } of read.error.issues) {
      doubts.add(placeOf({ elementType: ELEMENT_TYPES[kind], locator: id }, item, path), path.map(String))
      if (!putStandIn(kind, copy, path.map(String))) return undefined
    }
  }
  return undefined
}

/** Returns the name of a part without an id; it matches `placeOf`. */
const placeName = (path: readonly string[]): string =>
  path.length > 1 && /^\d+$/.test(path.at(-1)!) ? `${path.at(-2)}[${path.at(-1)}]` : (path.at(-1) ?? '?')

/** Puts a stand-in at the path. Returns false if that is impossible. */
function putStandIn(kind: ItemKind, item: unknown, path: readonly string[]): boolean {
  const key = path.at(-1)
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], item)
  if (key === undefined || typeof holder !== 'object' || holder === null) return false
  const record = holder as Record<string, unknown>
  const own = STAND_INS_OF[kind] ?? {}
  if (Array.isArray(holder)) holder[Number(key)] = {}
  else if (key === 'id') record.id = placeName(path.slice(0, -1))
  else if (Object.hasOwn(own, key)) record[key] = own[key]
  else if (Object.hasOwn(STAND_INS, key)) record[key] = STAND_INS[key]
  else delete record[key]
  return true
}

/** Knows which problems of an item its stand-ins may have caused. */
class Doubts {
  /** Names of the wrong properties at each place. */
  readonly #names = new Map<string, Set<string>>()
  readonly #sentences = new Set<RegExp>()
  /** Places that are not objects, about which nothing is known. */
  readonly #empty = new Set<string>()
  #isStructureDoubtful = false

  add({ elementType, locator }: Place, path: readonly string[]): void {
    const properties = path.filter(key => !/^\d+$/.test(key))
    const last = properties.at(-1) ?? ''
    if (HARMLESS.has(last)) return
    const place = `${elementType} ${locator}`
    if (path.at(-1) !== last) this.#empty.add(place)
    this.#names.set(place, new Set([...(this.#names.get(place) ?? []), ...properties]))
    for (const [property, sentences] of DOUBTS) if (property.test(last)) this.#sentences.add(sentences)
    if (STRUCTURE.has(last)) this.#isStructureDoubtful = true
  }

  /** Returns the sentences that no stand-in can have caused. */
  certainSentences({ elementType, locator, errors }: StoredProblem): string[] {
    const place = `${elementType} ${locator}`
    if (this.#empty.has(place)) return []
    const names = this.#names.get(place)
    const isData = names?.has('data') || names?.has('coverageTerms')
    return errors.filter(sentence => {
      const isField = /^(Field|\w+\[\d+\]: Field)\b/.test(sentence)
      if (isField && isData) return false
      if (names?.has(/^\w+/.exec(sentence)?.[0] ?? '')) return false
      if ([...this.#sentences].some(one => one.test(sentence))) return false
      return !this.#isStructureDoubtful || isField || !['element', 'charge'].includes(elementType)
    })
  }
}

/** Failing items, read with stand-ins. `sure` returns the sentences of a problem that no stand-in caused. */
export type Failing = {
  readonly request: ReadAccount
  sure(kind: ItemKind, id: string, problem: StoredProblem): string[]
}

/** Reads failing items. `read` is the valid part of the account. Its invoices are included: policies and payments name them. */
export function readFailingItems(
  value: SentAccount,
  originalId: string,
  isNew: boolean,
  read: ReadAccount,
  failures: readonly ItemFailure[],
): Failing {
  const failed = new Map(failures.map(failure => [`${failure.kind} ${failure.originalId}`, failure]))
  const doubts = new Map<string, Doubts>()
  const readItemAgain = (kind: ItemKind, id: string, schema: z.ZodType, item: unknown): unknown[] => {
    const found = readWithStandIns(kind, id, schema, item)
    if (!found) return []
    doubts.set(`${kind} ${id}`, found.doubts)
    return [found.item]
  }
  const items = LISTED_KINDS.map(kind => {
    const seen = new Set<string>()
    const listed = namedItems(value, kind).flatMap(({ id, item }) => {
      if (seen.has(id) || !failed.has(`${kind} ${id}`)) return []
      seen.add(id)
      return readItemAgain(
        kind,
        id,
        ITEM_SCHEMAS[kind],
        typeof item === 'object' && item ? { ...item, id } : item,
      )
    })
    return [kind, kind === 'invoices' ? [...read.invoices, ...listed] : listed]
  })
  const isAccountRead = !isNew || !failed.has(`account ${originalId}`)
  const [accountData] = isAccountRead
    ? []
    : readItemAgain('account', originalId, contract.AccountMigrationData, {
        ...(value.accountData as object),
        id: originalId,
      })
  const { accounting: _, accountData: own, ...rest } = read
  const data = accountData ?? own
  return {
    request: { ...rest, ...Object.fromEntries(items), ...(data ? { accountData: data } : {}) },
    sure: (kind, id, problem) => doubts.get(`${kind} ${id}`)?.certainSentences(problem) ?? [],
  }
}
