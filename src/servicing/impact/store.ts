import { and, asc, desc, eq, gt, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Guard } from '../../platform/commit.ts'
import { insertRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import { policies } from '../../policy/tables/policies.ts'
import { policyholders } from '../../policyholders/tables.ts'
import { impacts } from './tables.ts'

export type Impact = Omit<typeof impacts.$inferSelect, 'locator'> & { locator: Uuid }

export const impactQuery = ({ build }: Database, locator: Uuid) =>
  build.select().from(impacts).where(eq(impacts.locator, locator))

/** Newest first. */
export const impactsQuery = ({ build }: Database) =>
  build.select().from(impacts).orderBy(desc(impacts.createdAt), asc(impacts.locator))

export const newImpactQueries = (database: Database, impact: Impact): Query[] =>
  insertRows(database, impacts, [impact])

/** Sets columns of the impact, without checking its state (`impactGuard` does). */
export const changeImpactQuery = (
  { build }: Database,
  locator: Uuid,
  changes: Partial<Omit<Impact, 'locator'>>,
): Query => build.update(impacts).set(changes).where(eq(impacts.locator, locator))

/** Deletes the impact's row, but not its files (`deleteFiles`). */
export const removeImpactQuery = ({ build }: Database, locator: Uuid): Query =>
  build.delete(impacts).where(eq(impacts.locator, locator))

// Also the guard of migrations. It checks that work in portions is where it was read.
const guard = (holds: SQL): Guard => ({ name: 'guard_migration_state', holds })

/** Fails if the impact has another state or has progressed in the meantime. */
export const impactGuard = ({
  locator,
  state,
  portions,
}: Pick<Impact, 'locator' | 'state' | 'portions'>): Guard =>
  guard(
    sql`exists (select 1 from ${impacts} where ${impacts.locator} = ${locator} and ${impacts.state} = ${state} and ${impacts.portions} = ${portions})`,
  )

/** Fails if the tenant already has this many impacts, or a running one. */
export const roomGuard = (most: number): Guard =>
  guard(
    sql`(select count(*) < ${most} and coalesce(sum(${impacts.state} = 'running'), 0) = 0 from ${impacts})`,
  )

/** Issued policies that end after the day. The others have no cover on it. */
const endsAfter = (day: Instant): SQL | undefined =>
  and(isNotNull(policies.issuedAt), gt(policies.effectiveEnd, day))

/** Counts the policies of the shard that `nextPoliciesQuery` selects. */
export const countQuery = ({ build }: Database, day: Instant) =>
  build.select({ count: sql<number>`count(*)` }).from(policies).where(endsAfter(day))

/** The next policies after the locator, in the order of locators. */
export const nextPoliciesQuery = ({ build }: Database, after: number, day: Instant, most: number) =>
  build
    .select({ locator: sql<PolicyLocator>`${policies.locator}`, perilCount: policies.perilCount })
    .from(policies)
    .where(and(gt(policies.locator, after as PolicyLocator), endsAfter(day)))
    .orderBy(asc(policies.locator))
    .limit(most)

/** The policyholders of the policies in the JSON list. */
export const holdersQuery = ({ build }: Database, locators: string) =>
  build
    .select()
    .from(policyholders)
    .where(
      sql`${policyholders.locator} in (select ${policies.policyholderLocator} from ${policies} where ${policies.locator} in (select value from json_each(${locators})))`,
    )
