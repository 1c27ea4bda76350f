// Pages of whole policies, by their locators and those of quotes.
import { sql } from 'drizzle-orm'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { policies, quotes } from '../../policy/tables/policies.ts'
import { loadConfiguration } from '../../product/cache.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { configurationVersions } from '../../product/tables.ts'

/** A record of a list, and the policy that it is in. */
type Listed = { readonly locator: number; readonly policyLocator: number }

type Page = { readonly offset: number; readonly count: number }

/** Records of all shards in the order of their locators, about that of creation; one more than the page has shows that more follow. */
async function pageOf(
  { env, tenant, calls }: RequestContext,
  { offset, count }: Page,
  query: (database: Database, most: number) => ReturnType<typeof policyLocators>,
): Promise<Listed[]> {
  const shards = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [rows] = await database.batch([query(database, offset + count + 1)])
      return rows
    }),
  )
  const all = shards.flat().sort((a, b) => a.locator - b.locator)
  return all.slice(offset, offset + count + 1)
}

const policyLocators = ({ build }: Database, most: number) =>
  build.all<Listed>(
    sql`select locator, locator as policyLocator from ${policies} order by locator limit ${most}`,
  )

const quoteLocators = ({ build }: Database, most: number) =>
  build.all<Listed>(
    sql`select locator, policy_locator as policyLocator from ${quotes} order by locator limit ${most}`,
  )

export const pageOfPolicies = (context: RequestContext, page: Page): Promise<Listed[]> =>
  pageOf(context, page, policyLocators)

export const pageOfQuotes = (context: RequestContext, page: Page): Promise<Listed[]> =>
  pageOf(context, page, quoteLocators)

export type Whole = { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition }

/** The policies, whole, by their locators: one round trip for each shard. */
export async function wholePolicies(
  { env, tenant, calls }: RequestContext,
  locators: readonly number[],
  shardOf: (locator: number) => number,
): Promise<ReadonlyMap<number, Whole>> {
  const found = new Map<number, Whole>()
  await Promise.all(
    [...Map.groupBy(new Set(locators), shardOf)].map(async ([shard, own]) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const results = (await database.batch([
        ...aggregateQueries(database, { locators: JSON.stringify(own) }),
        database.build.select().from(configurationVersions),
      ])) as unknown[]
      const versions = results[AGGREGATE_QUERIES] as (typeof configurationVersions.$inferSelect)[]
      const hashOf = new Map(versions.map(one => [one.version, one.hash]))
      for (const aggregate of readAggregates(results.slice(0, AGGREGATE_QUERIES))) {
        const { configVersion, productName, locator } = aggregate.policy
        const { configuration } = await loadConfiguration(env, tenant, hashOf.get(configVersion)!, calls)
        found.set(locator, { aggregate, product: configuration.products[productName]! })
      }
    }),
  )
  return found
}
