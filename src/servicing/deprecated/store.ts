// Lists over all shards, and whole policies by locator.
import { type SQL, sql } from 'drizzle-orm'
import { type PolicyLocator, shardOfDigits } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
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

/** The number of keys of each shard that are read to find where a page begins. */
const SAMPLES = 1_000

/**
 * Lists records of all shards in the order of their locators, which is nearly the order of creation. One round trip for each shard,
 * or two if several shards have records before the page. What is read does not grow with the offset, except inside the databases.
 */
export async function listRecords(
  context: RequestContext,
  list: ListName,
  offset: number,
  most: number,
): Promise<ListedRecord[]> {
  const databases = shardDatabases(context)
  const read = (condition: SQL, first: number, count: number) =>
    Promise.all(
      databases.map(async database => {
        const page = sql`${LISTS[list]} where ${condition} order by locator limit ${count} offset ${first}`
        const [rows] = await database.batch([database.build.all<ListedRecord>(page)])
        return rows
      }),
    )
  if (databases.length === 1) return (await read(sql`true`, offset, most)).flat()
  const inOrder = (shards: ListedRecord[][]) => shards.flat().sort((a, b) => a.locator - b.locator)
  const end = offset + most
  if (end <= SAMPLES) return inOrder(await read(sql`true`, 0, end)).slice(offset, end)
  const step = Math.ceil(end / SAMPLES)
  const samples = await Promise.all(databases.map(database => sampleKeys(database, list, step, end)))
  const { after, upTo } = spanAround(samples, step, offset, end)
  const [before, found] = await Promise.all([
    Promise.all(databases.map(database => countKeys(database, list, after))),
    read(sql`locator > ${after} and locator <= ${upTo}`, 0, end),
  ])
  const first = offset - before.reduce((sum, count) => sum + count, 0)
  return inOrder(found).slice(first, first + most)
}

/** Returns each `step`-th locator of the first `most`. */
async function sampleKeys(database: Database, list: ListName, step: number, most: number): Promise<number[]> {
  const [rows] = await database.sharedBatch([
    database.build.all<{ locator: number }>(sql`select locator from (
      select locator, row_number() over (order by locator) as place from (${LISTS[list]} order by locator limit ${most}))
      where place % ${step} = 0`),
  ])
  return rows.map(({ locator }) => locator)
}

async function countKeys(database: Database, list: ListName, upTo: number): Promise<number> {
  const [rows] = await database.sharedBatch([
    database.build.all<{ count: number }>(
      sql`select count(*) as count from (${LISTS[list]} where locator <= ${upTo})`,
    ),
  ])
  return rows[0]!.count
}

/**
 * Returns keys between which the records from `offset` to `end` are: after the first, and up to the second. `samples` are each
 * `step`-th key of each shard, in order. At most 2 × `step` keys of each shard are between them, and `step` more.
 */
export function spanAround(
  samples: readonly (readonly number[])[],
  step: number,
  offset: number,
  end: number,
): { after: number; upTo: number } {
  // Of the keys up to the n-th sample of all, each shard may have `step - 1` after its last sample.
  const keys = samples.flat().sort((a, b) => a - b)
  const sure = Math.floor((offset - samples.length * (step - 1)) / step)
  return { after: keys[sure - 1] ?? 0, upTo: keys[Math.ceil(end / step) - 1] ?? Number.MAX_SAFE_INTEGER }
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
