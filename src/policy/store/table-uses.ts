// Which contents of tables the transactions of a policy were rated with, so that a price can be explained years later.
import { asc, eq, sql } from 'drizzle-orm'
import type { PolicyLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { type Database, putRows, type Query } from '../../platform/database.ts'
import type { Candidate } from '../../reference/data-tables/cache.ts'
import { tableUses } from '../../reference/tables.ts'
import type { PolicyAggregate } from '../records/aggregate.ts'
import { policies } from '../tables/policies.ts'

/** Rows for the modifications that an operation priced: what it looked up was for them. */
export function tableUseRows(
  database: Database,
  used: readonly Candidate[],
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  at: Instant,
): Query[] {
  if (used.length === 0) return []
  const priced = [...after.modifications.values()].filter(
    one => one.premiumChange !== undefined && one !== before?.modifications.get(one.locator),
  )
  return putRows(
    database,
    tableUses,
    priced.flatMap(({ locator }) =>
      used.map(({ staticName, name, revision }) => ({
        policyLocator: after.policy.locator,
        modificationLocator: locator,
        staticName,
        name,
        revision,
        at,
      })),
    ),
  )
}

export type TableUse = typeof tableUses.$inferSelect

/** In the order in which they were recorded; undefined when there is no such policy. One round trip. */
export async function findTableUses(
  database: Database,
  policy: PolicyLocator,
): Promise<TableUse[] | undefined> {
  const [known, rows] = await database.batch([
    database.build.select({ locator: policies.locator }).from(policies).where(eq(policies.locator, policy)),
    database.build
      .select()
      .from(tableUses)
      .where(eq(tableUses.policyLocator, policy))
      .orderBy(asc(tableUses.at), sql`rowid`),
  ])
  return known.length === 0 ? undefined : rows
}
