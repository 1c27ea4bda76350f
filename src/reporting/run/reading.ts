// Reads the policies of a portion, as far as the report needs them.

import { type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { type Database, type Query, statement } from '../../platform/database.ts'
import { policyAsKnownAt as policyKnownAt } from '../../policy/projection/as-known.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { readJournalRow, rowsOfPoliciesQuery, rowsWithoutPolicyQuery } from '../../policy/store/journal.ts'
import { rowsWithinPerilLimit } from '../../policy/store/portions.ts'
import { readPolicy } from '../../policy/store/rows.ts'
import { policies, policySegments } from '../../policy/tables/policies.ts'
import { policyholders } from '../../policyholders/tables.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { ReportedPolicy, ReportNeeds, ReportParameters } from '../kind.ts'

/** Limits per portion. A policy whose records are read and that has more perils gets its own portion. */
const MOST_POLICIES = 40
const MOST_PERILS = 500

/**
 * Limits on what is read and held at a time. A portion is read in several batches, with a pause after each, because the database
 * and the isolate process a batch without interruption while all other requests wait. Reading the journals of 40 policies
 * together doubled the p99 of requests.
 */
const MOST_POLICIES_AT_ONCE = 8
const MOST_PERILS_AT_ONCE = 40

export type Needs = ReportNeeds & { readonly segments?: true }

type Row = typeof policies.$inferSelect

const jsonListSql = (locators: string): SQL => sql`(select value from json_each(${locators}))`

const SEGMENTS = statement(build =>
  build
    .select({
      locator: policySegments.locator,
      policy: policySegments.policyLocator,
      data: policySegments.data,
    })
    .from(policySegments)
    .where(
      sql`${policySegments.policyLocator} in (select value from json_each(${sql.placeholder('locators')}))`,
    ),
)

/** Counts the policies that a report covers in the shard. */
export const countQuery = ({ build }: Database, parameters: ReportParameters, knownAt: Instant) =>
  build.select({ count: sql<number>`count(*)` }).from(policies).where(isReported(parameters, knownAt))

const isReported = ({ products }: Pick<ReportParameters, 'products'>, knownAt: Instant): SQL =>
  sql`${policies.createdAt} <= ${knownAt}${
    products.length > 0
      ? sql` and ${policies.productName} in ${jsonListSql(JSON.stringify(products))}`
      : sql``
  }`

/**
 * Returns the policies of the next portion, in the order of locators, without the data that the report reads of them. One batch.
 */
export async function nextPortion(
  database: Database,
  after: number,
  parameters: ReportParameters,
  needs: Needs,
  knownAt: Instant,
): Promise<readonly Row[]> {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(policies)
      .where(sql`${policies.locator} > ${after} and ${isReported(parameters, knownAt)}`)
      .orderBy(policies.locator)
      .limit(MOST_POLICIES),
  ])
  return needs.records ? rowsWithinPerilLimit(rows, MOST_PERILS) : rows
}

/**
 * Yields the policies of a portion with the data that the report needs, as many at a time as memory and other requests on the
 * thread permit. One batch for each.
 */
export async function* readPortion(
  database: Database,
  portion: readonly Row[],
  needs: Needs,
  knownAt: Instant,
): AsyncGenerator<readonly ReportedPolicy[]> {
  for (let at = 0; at < portion.length; ) {
    const left = portion.slice(at)
    const rows = needs.records
      ? rowsWithinPerilLimit(left, MOST_PERILS_AT_ONCE)
      : left.slice(0, MOST_POLICIES_AT_ONCE)
    yield await readPolicies(database, rows, needs, knownAt)
    at += rows.length
  }
}

async function readPolicies(
  database: Database,
  rows: readonly Row[],
  needs: Needs,
  knownAt: Instant,
): Promise<readonly ReportedPolicy[]> {
  const own = rows.map(readPolicy)
  const locators = own.map(({ locator }) => locator)
  const text = JSON.stringify(locators)
  const queries: Query[] = [
    ...(needs.journal ? [rowsOfPoliciesQuery(database, locators, knownAt)] : []),
    ...(needs.segments ? [database.bind(SEGMENTS, { locators: text })] : []),
    ...(needs.holder ? [holdersQuery(database, text)] : []),
    ...(needs.records ? aggregateQueries(database, { locators: text }) : []),
  ]
  const results =
    queries.length > 0 ? ((await database.batch(queries as [Query, ...Query[]])) as unknown[]) : []
  const journal = needs.journal ? (results.shift() as Parameters<typeof readJournalRow>[0][]) : []
  const segments = needs.segments
    ? (results.shift() as { locator: Uuid; policy: number; data: FieldData }[])
    : []
  const holders = needs.holder ? (results.shift() as Policyholder[]) : []
  const aggregates = needs.records ? readAggregates(results.slice(0, AGGREGATE_QUERIES)) : []
  const rowsOf = Map.groupBy(journal.map(readJournalRow), one => one.policyLocator)
  const segmentsOf = Map.groupBy(segments, one => one.policy)
  const aggregateOf = new Map(aggregates.map(one => [one.policy.locator, one]))
  const holderOf = new Map(holders.map(one => [one.locator, one]))
  return own.map((policy): ReportedPolicy => {
    const aggregate = aggregateOf.get(policy.locator)
    const records = aggregate && policyKnownAt(aggregate, knownAt)
    const holder = holderOf.get(policy.policyholderLocator)
    return {
      policy,
      journal: rowsOf.get(policy.locator) ?? [],
      segments: new Map((segmentsOf.get(policy.locator) ?? []).map(one => [one.locator, one.data])),
      ...(records && { records }),
      ...(holder && { holder }),
    }
  })
}

const holdersQuery = ({ build }: Database, locators: string): Query =>
  build
    .select()
    .from(policyholders)
    .where(
      sql`${policyholders.locator} in (select ${policies.policyholderLocator} from ${policies} where ${policies.locator} in ${jsonListSql(locators)})`,
    )

/** Returns money that belongs to no policy. */
export async function readDisbursements(database: Database, knownAt: Instant): Promise<ReportedPolicy> {
  const [rows] = await database.batch([rowsWithoutPolicyQuery(database, knownAt)])
  return { journal: rows.map(readJournalRow), segments: new Map() }
}
