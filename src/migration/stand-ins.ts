// What fails of an account by its shape, read once more with stand-ins in the place of what does not fit, so that the rest of it can
// be checked as well (convert/diagnosis.ts).
import type { z } from '@hono/zod-openapi'
import { AccountMigrationData } from './contract-request.ts'
import type { AccountRequest } from './convert/account/work.ts'
import { type ItemFailure, type ItemKind, LISTED_KINDS, type StoredProblem } from './item.ts'
import { ITEM_SCHEMAS, itemId, itemsOf, type ReadAccount } from './request.ts'

const SOME_TIME = '2000-01-01T00:00:00Z'

/** What stands in by the name of a property; any other is left out. */
const STAND_INS: Readonly<Record<string, unknown>> = {
  ...{ startTime: SOME_TIME, endTime: SOME_TIME, issuedTime: SOME_TIME, dueTime: SOME_TIME },
  ...{ paymentTime: SOME_TIME, disbursementTime: SOME_TIME },
  ...{ amount: 0, installmentNumber: 1, segmentType: 'coverage' },
  ...{ terms: [], transactions: [], paymentItems: [], sources: [] },
  ...{ id: '?', productName: '?', elementType: '?', transactionType: '?', chargeType: '?' },
}

/** Properties by which parts of a policy are told apart: where one is missing, little can be said of the others. */
const STRUCTURE: ReadonlySet<string> = new Set([
  ...['id', 'elementType', 'segment', 'segmentType', 'rootElement', 'elements', 'terms', 'transactions'],
])
const AMOUNTS: ReadonlySet<string> = new Set([
  'amount',
  'installmentNumber',
  'installments',
  'installmentItems',
])

/** Kinds of places whose problems may be those of a stand-in. */
const doubtfulKinds = (key: string): readonly string[] => {
  if (key === 'productName') return ['policy']
  if (key === 'paymentItems') return ['payment']
  if (key === 'sources') return ['disbursement']
  if (STRUCTURE.has(key)) return ['term', 'transaction', 'element', 'charge', 'installment']
  if (AMOUNTS.has(key)) return ['transaction', 'charge', 'installment', 'payment', 'disbursement']
  return key.endsWith('Time') ? ['term', 'transaction', 'installment', 'invoice'] : []
}

/** How often an item is read again: what a stand-in lets through may have faults of its own. */
const MOST_READINGS = 3

type Mended = { readonly item: unknown; readonly doubtful: ReadonlySet<string> }

function mended(schema: z.ZodType, item: unknown): Mended | undefined {
  const doubtful = new Set<string>()
  let copy: unknown = item
  for (let reading = 0; reading < MOST_READINGS; reading += 1) {
    const read = schema.safeParse(copy)
    if (read.success) return { item: read.data, doubtful }
    if (reading === 0) copy = structuredClone(item)
    for (const { path } of read.error.issues) {
      const keys = path.map(String)
      for (const kind of doubtfulKinds(keys.findLast(key => !/^\d+$/.test(key)) ?? '')) doubtful.add(kind)
      if (!standIn(copy, keys)) return undefined
    }
  }
  return undefined
}

/** Whether something could be put there. */
function standIn(item: unknown, path: readonly string[]): boolean {
  const key = path.at(-1)
  const holder = path
    .slice(0, -1)
    .reduce<unknown>((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], item)
  if (key === undefined || typeof holder !== 'object' || holder === null) return false
  const record = holder as Record<string, unknown>
  if (Array.isArray(holder)) holder[Number(key)] = {}
  else if (Object.hasOwn(STAND_INS, key)) record[key] = STAND_INS[key]
  else delete record[key]
  return true
}

/** Items that fail, read with stand-ins; `isSure`: whether a problem of them is theirs and not a stand-in's. */
export type Failing = {
  readonly request: AccountRequest
  isSure(kind: ItemKind, id: string, problem: StoredProblem): boolean
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
  const doubts = new Map<string, ReadonlySet<string>>()
  const again = (kind: ItemKind, id: string, schema: z.ZodType, item: unknown): unknown[] => {
    const found = mended(schema, item)
    if (!found) return []
    doubts.set(`${kind} ${id}`, found.doubtful)
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
    isSure(kind, id, { elementType, locator }) {
      const key = `${kind} ${id}`
      const isWholeItem = locator === id
      const isMended = failed
        .get(key)!
        .problems.some(one => one.elementType === elementType && one.locator === locator)
      return doubts.has(key) && !doubts.get(key)!.has(elementType) && (isWholeItem || !isMended)
    },
  }
}
