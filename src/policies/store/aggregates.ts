// The rows of policies: read whole in one batch, written by what differs.
import { eq, type SQL, sql } from 'drizzle-orm'
import { type Database, deleteRows, putRows, type Query } from '../../platform/database.ts'
import type { PolicyLocator, QuoteLocator, Uuid } from '../../platform/locators.ts'
import type { CurrencyCode } from '../../platform/money.ts'
import type { Policy, PolicyAggregate } from '../aggregate.ts'
import { policies, quotes } from '../tables.ts'
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName, policyRow, readPolicy } from './rows.ts'

/** Which policies to read. */
export type PolicySelection =
  | { locator: PolicyLocator }
  | { quoteLocator: QuoteLocator }
  | { policyholderLocator: Uuid }

/**
 * Queries that read the policies with everything in them; `readAggregates` takes their results. They are part
 * of the caller's one batch.
 */
export function aggregateQueries(database: Database, selection: PolicySelection): [Query, ...Query[]] {
  const { build } = database
  const which = chosen(selection)
  return [
    build.select().from(policies).where(sql`${policies.locator} ${which}`).orderBy(policies.locator),
    ...COLLECTION_NAMES.map(name => {
      const { table, order } = COLLECTIONS[name]
      return build.select().from(table).where(sql`policy_locator ${which}`).orderBy(sql.raw(order))
    }),
  ]
}

/** The condition on a policy's locator, to stand after the column. */
export function chosen(selection: PolicySelection): SQL {
  if ('locator' in selection) return sql`= ${selection.locator}`
  if ('quoteLocator' in selection)
    return sql`= (select policy_locator from ${quotes} where locator = ${selection.quoteLocator})`
  return sql`in (select locator from ${policies} where ${policies.policyholderLocator} = ${selection.policyholderLocator})`
}

/** Which policy a quote is of. */
export const policyOfQuoteQuery = (database: Database, quote: QuoteLocator) =>
  database.build.select({ policy: quotes.policyLocator }).from(quotes).where(eq(quotes.locator, quote))

/** How many results `aggregateQueries` has in a batch. */
export const AGGREGATE_QUERIES = 1 + COLLECTION_NAMES.length

/** The policies of a batch's results, as many as there are. */
export function readAggregates(results: readonly unknown[]): PolicyAggregate[] {
  const [policyRows, ...collectionRows] = results as [(typeof policies.$inferSelect)[], ...Row[][]]
  const building = new Map<number, Building>()
  for (const row of policyRows) {
    const policy = readPolicy(row)
    building.set(policy.locator, { policy, ...emptyCollections() })
  }
  for (const [index, name] of COLLECTION_NAMES.entries()) {
    const { fromRow } = COLLECTIONS[name]
    for (const row of collectionRows[index] ?? []) {
      const aggregate = building.get(row.policyLocator)
      if (!aggregate) continue
      const record = fromRow(row as never, aggregate.policy.currency as CurrencyCode)
      aggregate[name].set(record.locator, record)
    }
  }
  return [...building.values()] as unknown as PolicyAggregate[]
}

type Row = { policyLocator: number }

type Building = { policy: Policy } & Record<CollectionName, Map<string | number, unknown>>

const emptyCollections = (): Record<CollectionName, Map<string | number, unknown>> =>
  Object.fromEntries(COLLECTION_NAMES.map(name => [name, new Map()])) as never

/**
 * Queries that make the stored policy what `after` is. Records that `after` shares with `before` are not
 * touched: work grows with the change, not with the policy.
 */
export function differenceQueries(
  database: Database,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
): Query[] {
  const queries = putRows(database, policies, [policyRow(after.policy)])
  for (const name of COLLECTION_NAMES) {
    const { table, toRow } = COLLECTIONS[name]
    const old = before?.[name] as ReadonlyMap<string | number, unknown> | undefined
    const current = after[name] as ReadonlyMap<string | number, unknown>
    if (old === current) continue
    const changed: Record<string, unknown>[] = []
    for (const [locator, record] of current)
      if (old?.get(locator) !== record)
        changed.push({ ...toRow(record as never), policyLocator: after.policy.locator })
    const gone = old ? [...old.keys()].filter(locator => !current.has(locator)) : []
    queries.push(...putRows(database, table, changed as never), ...deleteRows(database, table, gone))
  }
  return queries
}

/** The locator of the policy that bears the displayId, which is its locator or that of one of its quotes. */
export const displayIdQuery = (database: Database, displayId: number) =>
  database.build
    .select({ locator: policies.locator })
    .from(policies)
    .where(
      sql`${policies.locator} in (${displayId}, (select policy_locator from quote where locator = ${displayId}))`,
    )
