import { and, asc, eq, gt, type SQL, sql } from 'drizzle-orm'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { Guard } from '../../platform/commit.ts'
import { insertRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import { endorsements, policies, quotes } from '../../policy/tables/policies.ts'
import { policyholders } from '../../policyholders/tables.ts'
import { MOST_NOTES, type NotedRecord, notes } from './tables.ts'

export type Note = Omit<typeof notes.$inferSelect, 'locator' | 'policyholderLocator'> & {
  locator: Uuid
  policyholderLocator: Uuid
}

/** Reads the owner of a record; no row if it does not exist. `recordLocator` is digits, or the UUID of a policyholder. */
export function ownerQuery({ build }: Database, recordType: NotedRecord, recordLocator: string) {
  const ofPolicy = (locator: SQL) =>
    build.all<{ holder: Uuid; policy: PolicyLocator | null }>(sql`
      select ${policies.policyholderLocator} as holder, ${policies.locator} as policy from ${policies}
      where ${policies.locator} = ${locator}`)
  const digits = Number(recordLocator)
  switch (recordType) {
    case 'policyholder':
      return build.all<{ holder: Uuid; policy: PolicyLocator | null }>(sql`
        select ${policyholders.locator} as holder, null as policy from ${policyholders}
        where ${policyholders.locator} = ${recordLocator}`)
    case 'policy':
      return ofPolicy(sql`${digits}`)
    case 'quote':
      return ofPolicy(
        sql`(select ${quotes.policyLocator} from ${quotes} where ${quotes.locator} = ${digits})`,
      )
    default:
      return ofPolicy(sql`(select ${endorsements.policyLocator} from ${endorsements}
        where ${endorsements.locator} = ${digits} and ${endorsements.kind} = ${recordType})`)
  }
}

export const newNoteQueries = (database: Database, note: Note): Query[] => insertRows(database, notes, [note])

/** Fails when the policyholder has the maximum number of notes. */
export const roomGuard = (policyholder: Uuid): Guard => ({
  name: 'guard_policyholder_version',
  holds: sql`(select count(*) from ${notes} where ${notes.policyholderLocator} = ${policyholder}) < ${MOST_NOTES}`,
})

/** Fails if the note was deleted since it was read. */
export const isThereGuard = ({ policyholderLocator, locator }: Note): Guard => ({
  name: 'guard_policyholder_version',
  holds: sql`exists (select 1 from ${notes} where ${notes.policyholderLocator} = ${policyholderLocator} and ${notes.locator} = ${locator})`,
})

/** Oldest first, because locators rise with time. */
export const notesQuery = (
  { build }: Database,
  {
    policyholder,
    policy,
    recordType,
    recordLocator,
    after,
  }: {
    readonly policyholder: SQL
    readonly policy?: PolicyLocator | undefined
    readonly recordType?: NotedRecord | undefined
    readonly recordLocator?: string | undefined
    readonly after?: Uuid | undefined
  },
  most: number,
) =>
  build
    .select()
    .from(notes)
    .where(
      and(
        sql`${notes.policyholderLocator} = ${policyholder}`,
        after && gt(notes.locator, after),
        policy && eq(notes.policyLocator, policy),
        recordType && eq(notes.recordType, recordType),
        recordLocator === undefined ? undefined : eq(notes.recordLocator, recordLocator),
      ),
    )
    .orderBy(asc(notes.locator))
    .limit(most)

/** SQL for one value: the policy's policyholder, or null if there is no such policy. */
export const holderOfPolicy = (policy: PolicyLocator): SQL =>
  sql`(select ${policies.policyholderLocator} from ${policies} where ${policies.locator} = ${policy})`

export const noteQuery = ({ build }: Database, locator: Uuid) =>
  build.select().from(notes).where(eq(notes.locator, locator))

export const deleteNoteQuery = ({ build }: Database, { policyholderLocator, locator }: Note): Query =>
  build
    .delete(notes)
    .where(and(eq(notes.policyholderLocator, policyholderLocator), eq(notes.locator, locator)))

/** Deletes all notes of the policyholder, including those of its policies. */
export const deleteNotesOf = ({ build }: Pick<Database, 'build'>, policyholder: Uuid): Query =>
  build.delete(notes).where(eq(notes.policyholderLocator, policyholder))
