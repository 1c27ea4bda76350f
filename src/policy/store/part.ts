// The rows of a part of a policy: of a large one only the exposures that an operation touches, found by index, so that
// the rows read do not grow with the policy.
import { type SQL, sql } from 'drizzle-orm'
import type { PolicyLocator } from '../../kernel/locators.ts'
import { type Database, type Query, statement } from '../../platform/database.ts'
import { type Part, READ_WHOLE_PERILS, type Unread } from '../part.ts'
import type { PolicyAggregate } from '../records/aggregate.ts'
import { endorsements, perils, policies } from '../tables/policies.ts'
import { AGGREGATE_QUERIES, aggregateQueries } from './aggregates.ts'
import { COLLECTION_NAMES, COLLECTIONS, type CollectionName } from './rows.ts'

const policy = sql.placeholder('policy')
const endorsement = sql.placeholder('endorsement')

/** The exposures of the part. */
const named = sql`(select value from json_each(${sql.placeholder('exposures')})
  union select value from ${endorsements}, json_each(${endorsements.touches})
    where ${endorsements.locator} = ${endorsement})`

/** Whether the policy is small, or the endorsement touches all of it: then it is read whole. */
const isReadWhole = sql`(${policies.perilCount} <= ${READ_WHOLE_PERILS} or exists (
  select 1 from ${endorsements} where ${endorsements.locator} = ${endorsement} and ${endorsements.touches} is null))`

/** The policy's locator if it is read whole, or if it is not; else null, which no row belongs to. */
const whole = sql`(select ${policies.locator} from ${policies} where ${policies.locator} = ${policy} and ${isReadWhole})`
const large = sql`(select ${policies.locator} from ${policies} where ${policies.locator} = ${policy} and not ${isReadWhole})`

/**
 * Collections that a part has less of, each with the condition of its rows. The plus keeps SQLite from going over all
 * exposures of the policy to find those with the locators.
 */
const PARTED: readonly (readonly [CollectionName, SQL])[] = [
  ['exposures', sql`locator in ${named} and +policy_locator = ${large}`],
  ['exposureRuns', sql`policy_locator = ${large} and exposure_locator in ${named}`],
  ['perils', sql`policy_locator = ${large} and exposure_locator in ${named}`],
  [
    'perilRuns',
    sql`policy_locator = ${large} and peril_locator in (
      select locator from ${perils} where policy_locator = ${large} and exposure_locator in ${named})`,
  ],
]

const ROWS = PARTED.map(([name, ofPart]) => {
  const { table, order } = COLLECTIONS[name]
  const rowsWhere = (condition: SQL) =>
    statement(build => build.select().from(table).where(condition).orderBy(sql.raw(order)))
  return {
    at: 1 + COLLECTION_NAMES.indexOf(name),
    all: rowsWhere(sql`policy_locator = ${whole}`),
    part: rowsWhere(ofPart),
  }
})

/** As `aggregateQueries`, of one policy; what they read of a part is behind those, for `joinedParts`. */
export function partQueries(
  database: Database,
  locator: PolicyLocator,
  { exposures, endorsement }: Part,
): [Query, ...Query[]] {
  const values = {
    policy: locator,
    exposures: JSON.stringify(exposures),
    endorsement: endorsement ?? null,
  }
  const queries = aggregateQueries(database, { locator })
  for (const { at, all } of ROWS) queries[at] = database.bind(all, values)
  return [...queries, ...ROWS.map(({ part }) => database.bind(part, values))]
}

/** Results of `partQueries` as those of `aggregateQueries`: a collection is read whole or in part, never both. */
export function joinedParts(results: readonly unknown[]): unknown[] {
  const joined = results.slice(0, AGGREGATE_QUERIES)
  const parts = results.slice(AGGREGATE_QUERIES) as object[][]
  for (const [index, { at }] of ROWS.entries()) joined[at] = [...(joined[at] as object[]), ...parts[index]!]
  return joined
}

/** How much of the policy of these results was not read; undefined when all was. */
export function unreadOf(
  results: readonly unknown[],
  { exposures, perils }: PolicyAggregate,
): Unread | undefined {
  const [{ exposureCount, perilCount }] = results[0] as [typeof policies.$inferSelect]
  if (exposureCount === exposures.size) return undefined
  return { exposures: exposureCount - exposures.size, perils: perilCount - perils.size }
}
