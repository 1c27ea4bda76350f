import { asc, gt, inArray, sql } from 'drizzle-orm'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Database } from '../../platform/database.ts'
import { disbursements } from '../../policy/tables/billing.ts'
import { journalRows } from '../../policy/tables/journal.ts'
import { policies } from '../../policy/tables/policies.ts'
import { policyholders } from '../../policyholders/tables.ts'

/** How far a shard's stream and journal are. */
export const endQuery = (database: Database) =>
  database.effect(
    `select coalesce((select max(sequence) from event), 0) as event, coalesce((select max(id) from journal), 0) as journal,
      (select count(*) from policyholder) as policyholders, (select count(*) from policy) as policies,
      (select count(*) from disbursement) as disbursements, (select count(*) from journal) as journalRows`,
  )

export type End = {
  readonly event: number
  readonly journal: number
  readonly policyholders: number
  readonly policies: number
  readonly disbursements: number
  readonly journalRows: number
}

/** In the order of their locators: that of their making, but for records of other systems. */
export const policyLocatorsQuery = ({ build }: Database, after: number, most: number) =>
  build
    .select({ locator: sql<PolicyLocator>`${policies.locator}`, perils: policies.perilCount })
    .from(policies)
    .where(gt(policies.locator, after as PolicyLocator))
    .orderBy(asc(policies.locator))
    .limit(most)

export const policyholdersQuery = ({ build }: Database, after: string, most: number) =>
  build
    .select()
    .from(policyholders)
    .where(gt(policyholders.locator, after as Uuid))
    .orderBy(asc(policyholders.locator))
    .limit(most)

export const namedPolicyholdersQuery = ({ build }: Database, locators: readonly string[]) =>
  build
    .select()
    .from(policyholders)
    .where(inArray(policyholders.locator, sql`(select value from json_each(${JSON.stringify(locators)}))`))
    .orderBy(asc(policyholders.locator))

export const disbursementsQuery = ({ build }: Database, after: string, most: number) =>
  build
    .select()
    .from(disbursements)
    .where(gt(disbursements.locator, after))
    .orderBy(asc(disbursements.locator))
    .limit(most)

export const journalQuery = ({ build }: Database, after: number, most: number) =>
  build.select().from(journalRows).where(gt(journalRows.id, after)).orderBy(asc(journalRows.id)).limit(most)

/** Rows of events after a number, each with whom its events concern (platform/events/rows.ts). */
export const eventRowsQuery = (database: Database, after: number, most: number) =>
  database.effect(
    `select sequence, policy_locator as policy, policyholder_locator as holder from event where sequence > ?1 order by sequence limit ?2`,
    after,
    most,
  )

export type EventRow = {
  readonly sequence: number
  readonly policy: number | null
  readonly holder: string | null
}
