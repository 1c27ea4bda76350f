import { asc, getTableColumns, gt, inArray, sql } from 'drizzle-orm'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Database } from '../../platform/database.ts'
import { EVERY_EVENT } from '../../platform/events/rows.ts'
import { disbursements } from '../../policy/tables/billing.ts'
import { journalRows } from '../../policy/tables/journal.ts'
import { policies } from '../../policy/tables/policies.ts'
import { policyholders } from '../../policyholders/tables.ts'
import { notes } from '../../servicing/notes/tables.ts'
import type { Cursor } from './tokens.ts'

/**
 * Selects the ends of a shard's stream and journal, and the number of its records. `keepsNotes`: whether the database has the
 * table of notes.
 */
export const endQuery = (database: Database, keepsNotes: boolean) =>
  database.rawQuery(
    `select coalesce((select max(sequence) from event), 0) as event, coalesce((select max(id) from journal), 0) as journal,
      (select count(*) from policyholder) as policyholders, (select count(*) from policy) as policies,
      (select count(*) from disbursement) as disbursements, (select count(*) from journal) as journalRows,
      (select count(*) from aux_data) as auxData, (select count(*) from quick_quote) as quickQuotes,
      ${keepsNotes ? '(select count(*) from note)' : '0'} as notes`,
  )

export type End = Readonly<
  Record<
    | 'event'
    | 'journal'
    | 'policyholders'
    | 'policies'
    | 'disbursements'
    | 'journalRows'
    | 'auxData'
    | 'quickQuotes'
    | 'notes',
    number
  >
>

/** In the order of their locators, which is the order of creation, except for records from other systems. */
export const policyLocatorsQuery = ({ build }: Database, after: number, most: number) =>
  build
    .select({ locator: sql<PolicyLocator>`${policies.locator}`, perilCount: policies.perilCount })
    .from(policies)
    .where(gt(policies.locator, after as PolicyLocator))
    .orderBy(asc(policies.locator))
    .limit(most)

/** Selects policyholders after a locator, in the order of locators. */
export const policyholdersQuery = ({ build }: Database, after: string, most: number) =>
  build
    .select()
    .from(policyholders)
    .where(gt(policyholders.locator, after as Uuid))
    .orderBy(asc(policyholders.locator))
    .limit(most)

/** Selects policyholders by locator, in no particular order. Leaves out those that do not exist. */
export const namedPolicyholdersQuery = ({ build }: Database, locators: readonly string[]) =>
  build
    .select()
    .from(policyholders)
    .where(inArray(policyholders.locator, sql`(select value from json_each(${JSON.stringify(locators)}))`))

export type DisbursementRow = typeof disbursements.$inferSelect

/** Selects disbursements after a locator, in the order of locators. */
export const disbursementsQuery = ({ build }: Database, after: string, most: number) =>
  build
    .select()
    .from(disbursements)
    .where(gt(disbursements.locator, after))
    .orderBy(asc(disbursements.locator))
    .limit(most)

/**
 * Selects rows up to a total number of characters, and always the first. `ordered` is a select of at most one page, with `size`,
 * in `order`.
 */
const limitSizeSql = (ordered: string, order: string): string =>
  `select * from (select *, sum(size) over (order by ${order} rows unbounded preceding) as total,
      row_number() over (order by ${order}) as place from (${ordered}))
    where place = 1 or total <= ${MOST_READ} order by place`

const MOST_READ = 4_000_000

export type NoteRow = typeof notes.$inferSelect

/** In the order of policyholders. Notes of one policyholder are in the order of creation. */
export const notesQuery = ({ build }: Database, [holder, locator]: readonly string[], most: number) =>
  build
    .select()
    .from(notes)
    .where(sql`(${notes.policyholderLocator}, ${notes.locator}) > (${holder}, ${locator})`)
    .orderBy(asc(notes.policyholderLocator), asc(notes.locator))
    .limit(most)

export type AuxDataRow = {
  readonly locator: string
  readonly key: string
  readonly value: string
  readonly uiType: string
}

/** Selects auxiliary data after a locator and key, in their order. Ends early if the values exceed 4,000,000 characters. */
export const auxDataQuery = (database: Database, [locator, key]: readonly string[], most: number) =>
  database.rawQuery(
    limitSizeSql(
      `select locator, key, value, ui_type as uiType, length(value) as size from aux_data
        where (locator, key) > (?1, ?2) order by locator, key limit ?3`,
      'locator, key',
    ),
    locator,
    key,
    most,
  )

export type QuickQuoteRow = {
  readonly locator: string
  readonly policyholderLocator: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly request: string
  readonly answer: string
}

/**
 * Selects quick quotes after a locator, in the order of locators, including expired ones. Ends early if requests and responses
 * exceed 4,000,000 characters.
 */
export const quickQuotesQuery = (database: Database, after: string, most: number) =>
  database.rawQuery(
    limitSizeSql(
      `select locator, policyholder_locator as policyholderLocator, created_at as createdAt, expires_at as expiresAt,
          request, answer, length(request) + length(answer) as size
        from quick_quote where locator > ?1 order by locator limit ?2`,
      'locator',
    ),
    after,
    most,
  )

export type StoredEvent = {
  readonly sequence: number
  readonly locator: string
  readonly request_id: string
  readonly type: string
  readonly newer_type: string | null
  readonly at: number
  readonly username: string
  readonly policyholder_locator: string | null
  readonly policy_locator: number | null
  readonly data: string
}

/** Selects single events after a sequence number, in their order. */
export const eventsQuery = (database: Database, after: number, most: number) =>
  database.rawQuery(
    `select * from ${EVERY_EVENT} where sequence > ?1 order by sequence limit ?2`,
    after,
    most,
  )

/**
 * Selects rows of the journal after an id, in their order, each with the number of perils of its policy: null if it has no policy,
 * or the policy is gone.
 */
export const journalQuery = ({ build }: Database, after: number, most: number) =>
  build
    .select({ ...getTableColumns(journalRows), perils: perilsOf })
    .from(journalRows)
    .where(gt(journalRows.id, after))
    .orderBy(asc(journalRows.id))
    .limit(most)

const perilsOf = sql<
  number | null
>`(select peril_count from policy where policy.locator = journal.policy_locator)`

export type JournalPageRow = typeof journalRows.$inferSelect & { readonly perils: number | null }

/** No policy has a locator greater than this. */
const PAST_ALL = Number.MAX_SAFE_INTEGER

/**
 * Selects rows of events after a number, each with the records that its events concern (platform/events/rows.ts). A change of a
 * policyholder concerns each of its policies, because an erasure also removes values from their texts. `policy` continues within
 * the row of that number, after this policy.
 */
export const eventRowsQuery = (
  database: Database,
  [after, , policy = PAST_ALL]: Cursor[number],
  most: number,
) =>
  database.rawQuery(
    `select event.sequence, coalesce(event.policy_locator, own.locator) as policy, own.locator as own,
      event.policyholder_locator as holder,
      (select peril_count from policy where policy.locator = coalesce(event.policy_locator, own.locator)) as perils
    from event left join policy own
      on event.type = 'policyholder.update' and own.policyholder_locator = event.policyholder_locator
    where event.sequence >= ?1 and (event.sequence > ?1 or own.locator > ?2)
    order by event.sequence, own.locator limit ?3`,
    after,
    policy,
    most,
  )

export type EventRow = {
  readonly sequence: number
  readonly policy: number | null
  /** A policy of the policyholder whose change the row records. */
  readonly own: number | null
  readonly holder: string | null
  readonly perils: number | null
}
