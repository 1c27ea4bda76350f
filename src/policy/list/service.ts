import { notFound } from '../../kernel/errors.ts'
import type { RequestContext } from '../../platform/context.ts'
import { mergedPage, POLICY_FORM, readPagingToken, writePagingToken } from '../../platform/paging.ts'
import { shardDatabase, shardOfRecord } from '../../platform/tenancy.ts'
import { readLocator } from '../../policyholders/store.ts'
import { loadConfiguration, versionQuery } from '../../product/cache.ts'
import { assertSearchable, searchOf } from '../../product/fields/values.ts'
import type { PolicyListQuery, PolicyListResponse } from './contract.ts'
import type { PageSelection } from './store.ts'
import { knownQuery, pageQuery, policySummaryResponse, readSummary, searchableNames } from './store.ts'

/** A page of policies in creation order. One round trip per shard; all policies of one policyholder are in one shard. */
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
  const found = shards.map(({ rows }) => ({ rows, found: rows.length }))
  const { rows, next } = mergedPage(found, positions, query.pageSize)
  return {
    policies: rows.map(policySummaryResponse),
    ...(next && { pagingToken: writePagingToken(next, POLICY_FORM) }),
    listCompleted: next === undefined,
  }
}

type Shard = Awaited<ReturnType<typeof readShard>>

/** Result for a shard that need not be read. */
const NOTHING: Shard = { rows: [], version: undefined, isIndexed: false }

/** The shard's rows, the newest configuration, and whether policies were indexed by the field. */
async function readShard({ env, tenant, calls }: RequestContext, shard: number, selection: PageSelection) {
  const database = shardDatabase(env, tenant, shard, calls)
  const { policyholder, search } = selection
  const [rows, versions, known] = await database.batch([
    pageQuery(database, selection),
    versionQuery(database, undefined),
    knownQuery(database, policyholder, search?.field),
  ])
  if (policyholder && !known[0]!.policyholder) throw notFound('policyholder', policyholder)
  return { rows: rows.map(readSummary), version: versions[0], isIndexed: known[0]!.field === 1 }
}

/** Names of fields by which policies of any product can be found. */
async function searchableFieldsOf({ env, tenant, calls }: RequestContext, hash: string): Promise<string[]> {
  const { configuration } = await loadConfiguration(env, tenant, hash, calls)
  return [...new Set(Object.values(configuration.products).flatMap(searchableNames))]
}
