// Policies of an export, limited to how many may be read together.
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { allVersionsQuery, loadConfiguration } from '../../product/cache.ts'
import { type PolicyToExport, policyRecord } from './policy-record.ts'

export type Place = { readonly context: RequestContext; readonly shard: number; readonly database: Database }

/** Limits on the policies of a page and on their perils. A policy with more perils gets its own page. */
export const MOST_POLICIES = 50
export const MOST_PERILS = 500

/**
 * Reads policies with all their records, in the order of the list. The generator builds them one by one. `more` is read in the
 * same batch, and its results come first.
 */
export async function readPolicies(
  { context, database }: Place,
  locators: readonly number[],
  more: readonly Query[] = [],
): Promise<{ results: unknown[]; policies: () => AsyncGenerator<PolicyToExport> }> {
  const own: readonly Query[] =
    locators.length === 0
      ? []
      : [...aggregateQueries(database, { locators: JSON.stringify(locators) }), allVersionsQuery(database)]
  const queries = [...more, ...own]
  const all =
    queries.length === 0 ? [] : ((await database.batch(queries as [Query, ...Query[]])) as unknown[])
  const read = all.slice(more.length)
  return {
    results: all.slice(0, more.length),
    async *policies() {
      if (read.length === 0) return
      const versions = new Map(
        (read[AGGREGATE_QUERIES] as { version: number; hash: string }[]).map(one => [one.version, one.hash]),
      )
      const { env, tenant, calls } = context
      const aggregates = new Map(
        readAggregates(read.slice(0, AGGREGATE_QUERIES)).map(one => [Number(one.policy.locator), one]),
      )
      for (const locator of locators) {
        const aggregate = aggregates.get(locator)
        if (!aggregate) continue
        const { configVersion, productName } = aggregate.policy
        const { configuration } = await loadConfiguration(env, tenant, versions.get(configVersion)!, calls)
        yield policyRecord(aggregate, configuration.products[productName]!)
      }
    },
  }
}
