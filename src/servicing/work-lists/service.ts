import { invalidParameter, notFound } from '../../kernel/errors.ts'
import { fromMinor, toNumber } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { mergedPage, readPagingToken, writePagingToken } from '../../platform/paging.ts'
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
import { RECORD_FORM } from './position.ts'
import {
  countQuery,
  recordTypesOf,
  type WorkRow,
  type WorkSelection,
  type WorkSpan,
  workQuery,
} from './store.ts'

/** Counting ends here, so that its cost has a bound. */
const MOST_COUNTED = 1_000

const DAY_MS = 86_400_000

/** A page of the list: one round trip for each shard. */
export async function listWork(
  context: RequestContext,
  listText: string,
  { days, productName, recordType, pageSize, pagingToken }: WorkListQuery,
): Promise<WorkListResponse> {
  const list = WORK_LISTS.find(name => name === listText)
  if (!list) throw notFound('work list', listText)
  if (days !== undefined && !hasSpan(list))
    throw invalidParameter(
      `'days' is of the lists ${Object.keys(DEFAULT_DAYS).join(' and ')}; leave it out of '${list}'.`,
    )
  const types = recordTypesOf(list)
  if (recordType !== undefined && !types.includes(recordType))
    throw invalidParameter(`'recordType' of the list '${list}' is one of: ${types.join(', ')}.`)
  const positions = readPagingToken(pagingToken, RECORD_FORM)
  const selection: WorkSelection = { list, span: spanOf(context.now, list, days), productName, recordType }
  const shards = await Promise.all(
    databasesOf(context).map(async (database, shard) => {
      const [rows] = await database.batch([workQuery(database, selection, positions[shard], pageSize + 1)])
      return { rows, found: rows.length }
    }),
  )
  const { rows, next } = mergedPage<WorkRow>(shards, positions, pageSize)
  return {
    items: rows.map(itemResponse),
    ...(next && { pagingToken: writePagingToken(next, RECORD_FORM) }),
    listCompleted: next === undefined,
  }
}

/** All lists with their default spans: one round trip for each shard. */
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
    const count = shards.reduce((sum, counts) => sum + counts[workList], 0)
    return { workList, count: Math.min(count, MOST_COUNTED), hasMore: count > MOST_COUNTED }
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
