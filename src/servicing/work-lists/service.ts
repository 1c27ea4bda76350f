import { invalidParameter, notFound } from '../../kernel/errors.ts'
import { fromMinor, toNumber } from '../../kernel/money.ts'
import { DAY_MS, type Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { mergedPage, readPagingToken, type ShardRows, writePagingToken } from '../../platform/paging.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import {
  DEFAULT_DAYS,
  WORK_LISTS,
  type WorkItemResponse,
  type WorkListCountQuery,
  type WorkListCountResponse,
  type WorkListName,
  type WorkListQuery,
  type WorkListResponse,
} from './contract.ts'
import { isDigits, RECORD_FORM } from './position.ts'
import {
  countQuery,
  type Horizon,
  horizonQuery,
  recordTypesOf,
  type WorkRow,
  type WorkSelection,
  type WorkSpan,
  workQuery,
} from './store.ts'

/** Counting ends here, so that its cost is bounded. */
const MOST_COUNTED = 1_000

/** Returns a page of the list: one round trip for each shard. */
export async function listWork(
  context: RequestContext,
  listText: string,
  { days, productName, recordType, pageSize, pagingToken }: WorkListQuery,
): Promise<WorkListResponse> {
  const list = WORK_LISTS.find(name => name === listText)
  if (!list) throw notFound('work list', listText)
  if (days !== undefined && !hasSpan(list))
    throw invalidParameter(
      `'days' is only for the lists ${Object.keys(DEFAULT_DAYS).join(' and ')}. Leave it out for '${list}'.`,
    )
  const types = recordTypesOf(list)
  if (recordType !== undefined && !types.includes(recordType))
    throw invalidParameter(`'recordType' of the list '${list}' must be one of: ${types.join(', ')}.`)
  const positions = readPagingToken(pagingToken, RECORD_FORM)
  const selection: WorkSelection = { list, span: spanOf(context.now, list, days), productName, recordType }
  const shards = await Promise.all(
    databasesOf(context).map(async (database, shard) => {
      const of = [database, selection, positions[shard], pageSize + 1] as const
      const [rows, [horizon]] = await database.batch([workQuery(...of), horizonQuery(...of)])
      return rowsUpToHorizon(rows, rows.length > pageSize ? undefined : horizon)
    }),
  )
  const { rows, next } = mergedPage<Place>(shards, positions, pageSize)
  return {
    items: rows.flatMap(row => ('recordType' in row ? [itemResponse(row)] : [])),
    ...(next && { pagingToken: writePagingToken(next, RECORD_FORM) }),
    listCompleted: next === undefined,
  }
}

type Place = WorkRow | Horizon

/**
 * Returns the rows of a shard that may be on the page. If the shard has further candidates, the last one examined takes its place
 * in the order: records of other shards behind it wait for the next page, which continues from there.
 */
function rowsUpToHorizon(rows: readonly WorkRow[], horizon: Horizon | undefined): ShardRows<Place> {
  if (!horizon) return { rows, found: rows.length }
  const isWithin = (row: WorkRow): boolean =>
    row.createdAt < horizon.createdAt ||
    (row.createdAt === horizon.createdAt &&
      (row.rank < horizon.rank || (row.rank === horizon.rank && comesFirst(row.locator, horizon.locator))))
  const within = [...rows.filter(isWithin), horizon]
  return { rows: within, found: within.length + 1 }
}

/** Compares locators, digits by their number. Both must be of the same kind. */
const comesFirst = (a: string, b: string): boolean =>
  isDigits(a) && isDigits(b) ? Number(a) <= Number(b) : a <= b

/** Counts all lists with their default spans: one round trip for each shard. */
export async function countWork(
  context: RequestContext,
  { productName }: WorkListCountQuery,
): Promise<WorkListCountResponse[]> {
  const selections = WORK_LISTS.map(
    (list): WorkSelection => ({ list, span: spanOf(context.now, list), productName, recordType: undefined }),
  )
  const shards = await Promise.all(
    databasesOf(context).map(async database => {
      const [rows] = await database.batch([countQuery(database, selections, MOST_COUNTED + 1)])
      return rows[0]!
    }),
  )
  return WORK_LISTS.map(workList => {
    const count = shards.reduce((sum, counts) => sum + counts[workList]!, 0)
    const isCut = shards.some(counts => counts[`${workList}IsCut`] === 1)
    return { workList, count: Math.min(count, MOST_COUNTED), hasMore: isCut || count > MOST_COUNTED }
  })
}

const databasesOf = ({ env, tenant, calls }: RequestContext) =>
  tenant.shards.map((_, shard) => shardDatabase(env, tenant, shard, calls))

const hasSpan = (list: WorkListName): list is keyof typeof DEFAULT_DAYS => list in DEFAULT_DAYS

function spanOf(now: Instant, list: WorkListName, days?: number): WorkSpan {
  const length = (days ?? (hasSpan(list) ? DEFAULT_DAYS[list] : 0)) * DAY_MS
  return { now, until: (now + length) as Instant, since: (now - length) as Instant }
}

const itemResponse = (row: WorkRow): WorkItemResponse => ({
  recordType: row.recordType,
  locator: row.locator,
  ...(row.name !== null && { name: row.name }),
  state: row.state,
  timestamp: String(row.createdAt),
  notes: JSON.parse(row.notes) as string[],
  policyLocator: String(row.policyLocator),
  policyholderLocator: row.policyholderLocator,
  productName: row.productName,
  policyState: row.policyState,
  grossPremium: row.premium === null ? undefined : toNumber(fromMinor(row.premium, row.currency)),
  grossPremiumCurrency: row.currency,
})
