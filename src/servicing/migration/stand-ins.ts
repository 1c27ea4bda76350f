// Reads items that do not fit their schema again, with stand-ins for what does not fit, so that the rest of them can be checked.

import type { z } from '@hono/zod-openapi'
import { AccountMigrationData } from './contract-request.ts'
import type { AccountRequest } from './convert/converted.ts'
import { ELEMENT_TYPES, type ItemFailure, type ItemKind, LISTED_KINDS, type StoredProblem } from './item.ts'
import { ITEM_SCHEMAS, itemId, itemsOf, type Place, placeOf, type ReadAccount } from './request.ts'

const SOME_TIME = '2000-01-01T00:00:00Z'

/** What stands in by the name of a property; any other is left out. An amount breaks no rule as long as it is not nothing. */
const STAND_INS: Readonly<Record<string, unknown>> = {
  ...{ startTime: SOME_TIME, endTime: SOME_TIME, issuedTime: SOME_TIME, dueTime: SOME_TIME },
  ...{ paymentTime: SOME_TIME, disbursementTime: SOME_TIME },
  ...{ amount: 1, installmentNumber: 1, segmentType: 'coverage' },
  ...{ terms: [], transactions: [], paymentItems: [], sources: [] },
  ...{ productName: '?', elementType: '?', transactionType: '?', chargeType: '?' },
}

/** Those of one kind of item: the ends of an invoice must be in order, whatever the other one is. */
const STAND_INS_OF: Partial<Readonly<Record<ItemKind, Readonly<Record<string, unknown>>>>> = {
  invoices: { startTime: '0001-01-01T00:00:00Z', endTime: '9999-12-31T00:00:00Z' },
}

/** Stand-ins that break no rule themselves, wherever they stand. */
const HARMLESS: ReadonlySet<string> = new Set(['amount', 'installmentNumber'])

/** Properties by which parts of a policy are told apart: where one does not fit, what holds over time cannot be checked. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...['id', 'elementType', 'segment', 'segmentType', 'rootElement', 'elements', 'terms', 'transactions'],
])

/** By a property that does not fit: how sentences begin that may be due to its stand-in, at whichever place of the item. */
const DOUBTS: readonly (readonly [properties: RegExp, sentences: RegExp])[] = [
  [/^(start|end|issued)Time$/, /^(startTime|issuedTime|segment\.startTime)\b/],
  [/^installments$/, /^installmentItems\b/],
  [/^rootElement$/, /^segment\.rootElement\b/],
  // Of a gap no data is read.
  [/^(segment|segmentType)$/, /^(Field|\w+\[\d+\]: Field)\b/],
]

/** How often an item is read again: what a stand-in lets through may have faults of its own. */
const MOST_READINGS = 3

type Mended = { readonly item: unknown; readonly doubts: Doubts }

function mended(kind: ItemKind, id: string, schema: z.ZodType, item: unknown): Mended | undefined {
  const doubts = new Doubts()
  let copy: unknown = item
  for (let reading = 0; reading < MOST_READINGS; reading += 1) {
    const read = schema.safeParse(copy)
    if (read.success) return { item: read.data, doubts }
    if (reading === 0) copy = structuredClone(item)
    for (const { path } of read.error.issues) {
      doubts.add(placeOf({ elementType: ELEMENT_TYPES[kind], locator: id }, item, path), path.map(String))
      if (!standIn(kind, copy, path.map(String))) return undefined
    }
  }
  return undefined
}

/** What a part without an id is called, as `placeOf` calls it. */
const calledByPlace = (path: readonly string[]): string =>
  path.length > 1 && /^\d+$/.test(path.at(-1)!) ? `${path.at(-2)}[${path.at(-1)}]` : (path.at(-1) ?? '?')

/** Whether something could be put there. */
function standIn(kind: ItemKind, item: unknown, path: readonly string[]): boolean {
  const key = path.at(-1)
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], item)
  if (key === undefined || typeof holder !== 'object' || holder === null) return false
  const record = holder as Record<string, unknown>
  const own = STAND_INS_OF[kind] ?? {}
  if (Array.isArray(holder)) holder[Number(key)] = {}
  else if (key === 'id') record.id = calledByPlace(path.slice(0, -1))
  else if (Object.hasOwn(own, key)) record[key] = own[key]
  else if (Object.hasOwn(STAND_INS, key)) record[key] = STAND_INS[key]
  else delete record[key]
  return true
}

/** Which problems of an item may be those of its stand-ins. */
class Doubts {
  /** What does not fit at each place, by the names of its properties. */
  readonly #names = new Map<string, Set<string>>()
  readonly #sentences = new Set<RegExp>()
  /** Places that are no objects, so that nothing of them is known. */
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

  /** The sentences that hold whatever the stand-ins are. */
  sure({ elementType, locator, errors }: StoredProblem): string[] {
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

/** Items that fail, read with stand-ins; `sure`: what of a problem is theirs and not a stand-in's. */
export type Failing = {
  readonly request: AccountRequest
  sure(kind: ItemKind, id: string, problem: StoredProblem): string[]
}

/** `read`: what of the account fits. Its invoices stand beside those that fail, since policies and payments name them. */
export function readFailing(
  value: Readonly<Record<string, unknown>>,
  originalId: string,
  isNew: boolean,
  read: ReadAccount,
  failures: readonly ItemFailure[],
): Failing {
  const failed = new Map(failures.map(one => [`${one.kind} ${one.originalId}`, one]))
  const doubts = new Map<string, Doubts>()
  const again = (kind: ItemKind, id: string, schema: z.ZodType, item: unknown): unknown[] => {
    const found = mended(kind, id, schema, item)
    if (!found) return []
    doubts.set(`${kind} ${id}`, found.doubts)
    return [found.item]
  }
  const items = LISTED_KINDS.map(kind => {
    const seen = new Set<string>()
    const listed = itemsOf(value, kind).flatMap((item, index) => {
      const id = itemId(kind, item, index)
      if (seen.has(id) || !failed.has(`${kind} ${id}`)) return []
      seen.add(id)
      return again(kind, id, ITEM_SCHEMAS[kind], typeof item === 'object' && item ? { ...item, id } : item)
    })
    return [kind, kind === 'invoices' ? [...read.invoices, ...listed] : listed]
  })
  const isAccountRead = !isNew || !failed.has(`account ${originalId}`)
  const [accountData] = isAccountRead
    ? []
    : again('account', originalId, AccountMigrationData, { ...(value.accountData as object), id: originalId })
  const { accounting: _, accountData: own, ...rest } = read
  return {
    request: {
      ...rest,
      ...Object.fromEntries(items),
      ...((accountData ?? own) ? { accountData: accountData ?? own } : {}),
    },
    sure: (kind, id, problem) => doubts.get(`${kind} ${id}`)?.sure(problem) ?? [],
  }
}
