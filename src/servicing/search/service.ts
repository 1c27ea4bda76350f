import { type PolicyLocator, readUuid, type Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Query } from '../../platform/database.ts'
import { hasPermission } from '../../platform/http/permissions.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { type PolicySummary, policySummaryResponse, readSummary } from '../../policy/list/store.ts'
import { type Policyholder, policyholderResponse } from '../../policyholders/values.ts'
import type { SearchQuery, SearchResponse } from './contract.ts'
import {
  holdersFoundQuery,
  holdersQuery,
  ownerQueries,
  policiesFoundQuery,
  readFound,
  summariesQuery,
  type Words,
  wordsOf,
} from './store.ts'

/** Searches with at most two round trips to each shard: the first finds the matches, the second reads the records. */
export async function search(context: RequestContext, { text, count }: SearchQuery): Promise<SearchResponse> {
  const words = wordsOf(text)
  const shards = await Promise.all(
    context.tenant.shards.map((_, shard) => searchShard(context, shard, text, words, count)),
  )
  const policyholders = sortNewestFirst(shards.flatMap(one => one.holders))
  const own = new Set(shards.flatMap(one => [...one.own]))
  const policies = sortNewestFirst(shards.flatMap(one => one.policies))
  const byRank = [
    ...policies.filter(one => own.has(one.locator)),
    ...policies.filter(one => !own.has(one.locator)),
  ]
  return {
    policyholders: policyholders.slice(0, count).map(policyholderResponse),
    policies: byRank.slice(0, count).map(policySummaryResponse),
    hasMore: policyholders.length > count || byRank.length > count || shards.some(one => one.isCut),
  }
}

const sortNewestFirst = <R extends { createdAt: number; locator: string | number }>(records: R[]): R[] =>
  records.sort((a, b) => b.createdAt - a.createdAt || (b.locator > a.locator ? 1 : -1))

type ShardFound = {
  readonly holders: Policyholder[]
  readonly policies: PolicySummary[]
  /** The policies that were found themselves, not through their policyholder. */
  readonly own: ReadonlySet<PolicyLocator>
  /** Whether there may be more matches than were examined. */
  readonly isCut: boolean
}

const NOTHING: ShardFound = { holders: [], policies: [], own: new Set(), isCut: false }

async function searchShard(
  { env, tenant, calls, caller, now }: RequestContext,
  shard: number,
  text: string,
  words: Words,
  count: number,
): Promise<ShardFound> {
  const database = shardDatabase(env, tenant, shard, calls)
  const seesHolders = hasPermission(caller, 'policyholders.list')
  const seesPolicies = hasPermission(caller, 'policies.list')
  // One more of each than is shown, to find out whether there are more.
  const most = count + 1
  const owners = seesPolicies ? ownerQueries(database, text, tenant.indexesInvoiceNumbers === true) : []
  const [holderHits, policyHits, ...owned] = await database.batch([
    holdersFoundQuery(database, words, seesHolders ? most : 0),
    policiesFoundQuery(database, words, seesPolicies ? most : 0),
    ...(owners as Query[]),
  ])
  const [byHolder, byPolicy] = [readFound(holderHits), readFound(policyHits)]
  const named = readUuid(text)
  const holders: Uuid[] = [...byHolder.locators, ...(named && seesHolders ? [named] : [])]
  const ofRecords = (owned as { policy: PolicyLocator }[][]).flat().map(one => one.policy)
  const own = new Set([...byPolicy.locators, ...ofRecords])
  const isCut = (seesHolders && byHolder.isCut) || (seesPolicies && byPolicy.isCut)
  if (holders.length === 0 && own.size === 0) return { ...NOTHING, isCut }
  const [holderRows, policyRows] = await database.batch([
    holdersQuery(database, holders),
    summariesQuery(database, { locators: [...own], holders: seesPolicies ? holders : [] }, now, most),
  ])
  return {
    holders: holderRows.map(row => row.policyholder),
    policies: policyRows.map(readSummary),
    own,
    isCut: isCut || holderRows.length < byHolder.locators.length,
  }
}
