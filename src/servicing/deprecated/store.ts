// Lists over all shards, and whole policies by locator.
import { sql } from 'drizzle-orm'
import { type PolicyLocator, shardOfDigits } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { shardDatabase, shardDatabases } from '../../platform/tenancy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { policies, quotes } from '../../policy/tables/policies.ts'
import { loadConfiguration } from '../../product/cache.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { configurationVersions } from '../../product/tables.ts'

const LISTS = {
  policies: sql`select locator, locator as policyLocator from ${policies}`,
  quotes: sql`select locator, policy_locator as policyLocator from ${quotes}`,
}

export type ListName = keyof typeof LISTS

type ListedRecord = { readonly locator: number; readonly policyLocator: PolicyLocator }

/** Lists records of all shards in the order of their locators, which is nearly the order of creation. */
export async function listRecords(
  context: RequestContext,
  list: ListName,
  offset: number,
  most: number,
): Promise<ListedRecord[]> {
  const shards = await Promise.all(
    shardDatabases(context).map(async database => {
      const [rows] = await database.batch([
        database.build.all<ListedRecord>(sql`${LISTS[list]} order by locator limit ${offset + most}`),
      ])
      return rows
    }),
  )
  return shards
    .flat()
    .sort((a, b) => a.locator - b.locator)
    .slice(offset, offset + most)
}

export type WholePolicy = { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition }

/** One round trip for each shard. */
export async function wholePolicies(
  { env, tenant, calls }: RequestContext,
  locators: ReadonlySet<PolicyLocator>,
): Promise<ReadonlyMap<PolicyLocator, WholePolicy>> {
  const found = new Map<PolicyLocator, WholePolicy>()
  await Promise.all(
    [...Map.groupBy(locators, shardOfDigits)].map(async ([shard, own]) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const results = (await database.batch([
        ...aggregateQueries(database, { locators: JSON.stringify(own) }),
        database.build.select().from(configurationVersions),
      ])) as unknown[]
      const versions = results[AGGREGATE_QUERIES] as (typeof configurationVersions.$inferSelect)[]
      const hashOf = new Map(versions.map(({ version, hash }) => [version, hash]))
      for (const aggregate of readAggregates(results.slice(0, AGGREGATE_QUERIES))) {
        const { configVersion, productName, locator } = aggregate.policy
        const { configuration } = await loadConfiguration(env, tenant, hashOf.get(configVersion)!, calls)
        found.set(locator, { aggregate, product: configuration.products[productName]! })
      }
    }),
  )
  return found
}
