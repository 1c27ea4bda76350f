import { notFound } from '../../kernel/errors.ts'
import type { PolicyLocator } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import {
  mergedPage,
  POLICY_FORM,
  type Position,
  readPagingToken,
  type ShardRows,
  writePagingToken,
} from '../../platform/paging.ts'
import { shardDatabase, shardOfRecord } from '../../platform/tenancy.ts'
import { readLocator } from '../../policyholders/store.ts'
import { loadConfiguration, versionQuery } from '../../product/cache.ts'
import { assertSearchable, searchOf } from '../../product/fields/values.ts'
import type { PolicyListQuery, PolicyListResponse } from './contract.ts'
import type { PageSelection, PolicySummary } from './store.ts'
import {
  horizonQuery,
  knownQuery,
  pageQuery,
  policySummaryResponse,
  readSummary,
  searchableNames,
} from './store.ts'

/** Returns a page of policies in creation order. One round trip per shard; all policies of a policyholder are in one shard. */
export async function listPolicies(
  context: RequestContext,
  query: PolicyListQuery,
): Promise<PolicyListResponse> {
  const { tenant, now } = context
  const { policyholderLocator, pagingToken, ...filters } = query
  const policyholder = policyholderLocator === undefined ? undefined : readLocator(policyholderLocator)
  const positions = readPagingToken(pagingToken, POLICY_FORM)
  const search = searchOf(query)
  const only = policyholder && shardOfRecord(tenant, policyholder, 'policyholder')
  const shards = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      if (only !== undefined && only !== shard) return NOTHING
      const selection = { ...filters, policyholder, search, position: positions[shard], now }
      return await readShard(context, shard, selection)
    }),
  )
  if (search && !shards.some(shard => shard.isIndexed)) {
    const version = shards.find(shard => shard.version)?.version
    assertSearchable(search.field, version ? await searchableFieldsOf(context, version.hash) : [])
  }
  const found = shards.map(({ rows, horizon }) =>
    withHorizon(rows, rows.length > query.pageSize ? undefined : horizon),
  )
  const { rows, next } = mergedPage<PolicySummary | Horizon>(found, positions, query.pageSize)
  return {
    policies: rows.flatMap(row => ('state' in row ? [policySummaryResponse(row)] : [])),
    ...(next && { pagingToken: writePagingToken(next, POLICY_FORM) }),
    listCompleted: next === undefined,
  }
}

type Horizon = Position<PolicyLocator>

/**
 * Returns the rows of a shard that may be on the page. If the shard has policies that were not examined, the last one that was
 * examined (the horizon) is added in its place in the order, and the next page continues from there.
 */
const withHorizon = (
  rows: readonly PolicySummary[],
  horizon: Horizon | undefined,
): ShardRows<PolicySummary | Horizon> =>
  horizon === undefined ? { rows, found: rows.length } : { rows: [...rows, horizon], found: rows.length + 2 }

type Shard = Awaited<ReturnType<typeof readShard>>

/** The result for a shard that need not be read. */
const NOTHING: Shard = { rows: [], horizon: undefined, version: undefined, isIndexed: false }

/** Reads the shard's rows, the newest configuration, and whether policies were indexed by the field. */
async function readShard({ env, tenant, calls }: RequestContext, shard: number, selection: PageSelection) {
  const database = shardDatabase(env, tenant, shard, calls)
  const { policyholder, search } = selection
  const [rows, [horizon], versions, known] = await database.batch([
    pageQuery(database, selection),
    horizonQuery(database, selection),
    versionQuery(database, undefined),
    knownQuery(database, policyholder, search?.field),
  ])
  if (policyholder && !known[0]!.policyholder) throw notFound('policyholder', policyholder)
  return { rows: rows.map(readSummary), horizon, version: versions[0], isIndexed: known[0]!.field === 1 }
}

/** Returns the names of the fields by which policies of any product can be found. */
async function searchableFieldsOf({ env, tenant, calls }: RequestContext, hash: string): Promise<string[]> {
  const { configuration } = await loadConfiguration(env, tenant, hash, calls)
  return [...new Set(Object.values(configuration.products).flatMap(searchableNames))]
}
