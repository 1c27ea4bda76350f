import { and, asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Guard } from '../../platform/commit.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { RecordPlace } from '../../platform/tenancy.ts'
import type { ItemFailure } from './item.ts'
import {
  ACCOUNT_STATES,
  type AccountState,
  type MigrationState,
  migratedAccounts,
  migrationAccounts,
  migrationFailures,
  migrationMappings,
  migrationSlots,
  migrations,
} from './tables.ts'

type BrandedRow<T> = Omit<T, 'locator' | 'accountLocator' | 'migrationLocator'> & {
  [K in Extract<keyof T, 'locator' | 'accountLocator' | 'migrationLocator'>]: Uuid
}

export type Migration = BrandedRow<typeof migrations.$inferSelect>
export type MigrationAccount = BrandedRow<typeof migrationAccounts.$inferSelect>
export type MappingRow = BrandedRow<Omit<typeof migrationMappings.$inferSelect, 'locator'>> & {
  locator: string
}
export type FailureRow = BrandedRow<typeof migrationFailures.$inferSelect>

export type AccountCounts = Readonly<Record<AccountState, number>>

export const migrationQuery = ({ build }: Database, locator: Uuid) =>
  build.select().from(migrations).where(eq(migrations.locator, locator))

/** Counts the migration's accounts by state. A state without accounts has no row; `readCounts` adds it. */
export const countsQuery = ({ build }: Database, locator: Uuid) =>
  build
    .select({ state: migrationAccounts.state, count: sql<number>`count(*)` })
    .from(migrationAccounts)
    .where(eq(migrationAccounts.migrationLocator, locator))
    .groupBy(migrationAccounts.state)

/** Returns a count for each state, from rows of `countsQuery`. A state without a row has 0. */
export function readCounts(rows: readonly { state: AccountState; count: number }[]): AccountCounts {
  const counts = Object.fromEntries(ACCOUNT_STATES.map(state => [state, 0])) as Record<AccountState, number>
  for (const { state, count } of rows) counts[state] = count
  return counts
}

export const newMigrationQueries = (
  database: Database,
  migration: Migration,
  accounts: readonly MigrationAccount[],
): Query[] => [
  ...putRows(database, migrations, [migration]),
  ...putRows(database, migrationAccounts, accounts),
]

/** Fails if the migration has left that state. */
export const migrationGuard = (locator: Uuid, state: MigrationState): Guard => ({
  name: 'guard_migration_state',
  holds: sql`exists (select 1 from ${migrations} where ${migrations.locator} = ${locator} and ${migrations.state} = ${state})`,
})

/** Fails if an account waits, because one may have been patched in the meantime. */
export const noneWaitingGuard = (locator: Uuid): Guard => ({
  name: 'guard_migration_state',
  holds: sql`not exists (select 1 from ${migrationAccounts} where ${migrationAccounts.migrationLocator} = ${locator} and state in ('pending', 'processing'))`,
})

/** Fails if an account has left that state or was corrected. */
export const accountsGuard = (
  migration: Uuid,
  accounts: readonly Pick<MigrationAccount, 'ordinal' | 'source'>[],
  state: AccountState,
): Guard => ({
  name: 'guard_migration_account',
  holds: sql`${accounts.length} = (
    select count(*) from json_each(${JSON.stringify(accounts.map(one => [one.ordinal, one.source]))}) j
    cross join ${migrationAccounts} a on a.migration_locator = ${migration} and a.ordinal = j.value ->> 0
    where a.state = ${state} and a.source = j.value ->> 1)`,
})

type Place = Pick<RecordPlace, 'database' | 'locator'>

/** `runs` is when the migration last started or resumed, and how many accounts were done by then. The rate counts from there. */
export const migrationStateQuery = (
  { database, locator }: Place,
  state: MigrationState,
  at: Instant,
  runs?: { readonly since: Instant; readonly done: number },
): Query =>
  database.build
    .update(migrations)
    .set({ state, updatedAt: at, runningSince: runs?.since ?? null, ...(runs && { doneBefore: runs.done }) })
    .where(eq(migrations.locator, locator))

/** Waiting accounts in order, those that have begun first. */
export const waitingQuery = ({ database, locator }: Place, most: number) =>
  database.build
    .select()
    .from(migrationAccounts)
    .where(sql`${migrationAccounts.migrationLocator} = ${locator} and state in ('pending', 'processing')`)
    .orderBy(sql`${migrationAccounts.state} = 'pending'`, asc(migrationAccounts.ordinal))
    .limit(most)

type Numbered = readonly Pick<MigrationAccount, 'ordinal'>[]

const isAmongAccounts = ({ locator }: Place, accounts: Numbered): SQL =>
  sql`${migrationAccounts.migrationLocator} = ${locator}
    and ${migrationAccounts.ordinal} in (select value from json_each(${JSON.stringify(accounts.map(one => one.ordinal))}))`

/** Begins the accounts unless the migration is paused. The attempt counts now: an isolate that dies could not count it later. */
export const beginQuery = (place: Place, accounts: Numbered, at: Instant): Query =>
  place.database.build
    .update(migrationAccounts)
    .set({ state: 'processing', updatedAt: at, tries: sql`${migrationAccounts.tries} + 1` })
    .where(
      sql`${isAmongAccounts(place, accounts)} and ${migrationAccounts.state} in ('pending', 'processing')
        and exists (select 1 from ${migrations} where ${migrations.locator} = ${place.locator} and ${migrations.state} = 'processing')`,
    )

/** Puts back accounts that have begun. `counts`: the attempt counts, because the isolate that began them was cut off. */
export const requeueQuery = (place: Place, accounts: Numbered, counts: boolean): Query =>
  place.database.build
    .update(migrationAccounts)
    .set({ state: 'pending', ...(!counts && { tries: sql`${migrationAccounts.tries} - 1` }) })
    .where(sql`${isAmongAccounts(place, accounts)} and ${migrationAccounts.state} = 'processing'`)

/** Selects an account of the migration by its locator, which it keeps in later migrations of further items. */
export const accountQuery = ({ database, locator }: Place, account: Uuid) =>
  database.build
    .select()
    .from(migrationAccounts)
    .where(
      and(eq(migrationAccounts.migrationLocator, locator), eq(migrationAccounts.accountLocator, account)),
    )

/** Selects the rows of an account in all migrations that are not finished, with the type of each. */
export const unfinishedOfQuery = ({ build }: Database, account: Uuid) =>
  build
    .select({ ...getTableColumns(migrationAccounts), type: migrations.type })
    .from(migrations)
    .innerJoin(migrationAccounts, eq(migrationAccounts.migrationLocator, migrations.locator))
    .where(sql`${migrations.state} <> 'finished' and ${migrationAccounts.accountLocator} = ${account}`)

const isAccount = ({ migrationLocator, ordinal }: MigrationAccount) =>
  and(eq(migrationAccounts.migrationLocator, migrationLocator), eq(migrationAccounts.ordinal, ordinal))

/** Moves the account's text, if it is still where the row says. Work in progress on the account then conflicts. */
export const changeSourceQuery = (
  { build }: Database,
  account: MigrationAccount,
  place: Pick<MigrationAccount, 'source' | 'start' | 'length'>,
): Query =>
  build
    .update(migrationAccounts)
    .set(place)
    .where(and(isAccount(account), eq(migrationAccounts.source, account.source)))

/** Sets columns of the account, without checking its state (`accountsGuard` does). */
export const changeAccountQuery = (
  { build }: Database,
  account: MigrationAccount,
  changes: Partial<typeof migrationAccounts.$inferInsert>,
): Query => build.update(migrationAccounts).set(changes).where(isAccount(account))

/** Lets accounts that a system error stopped start over. */
export const recoverQuery = ({ database, locator }: Place, at: Instant): Query =>
  database.build
    .update(migrationAccounts)
    .set({ state: 'pending', tries: 0, errorItems: 0, updatedAt: at })
    .where(and(eq(migrationAccounts.migrationLocator, locator), eq(migrationAccounts.state, 'error')))

export type AccountOutcome = Pick<
  MigrationAccount,
  'ordinal' | 'state' | 'processedItems' | 'errorItems' | 'warnings'
>

/** Stores the results of the accounts in one statement, without checking their states (`accountsGuard` does). */
export const outcomesQuery = (place: Place, outcomes: readonly AccountOutcome[], at: Instant): Query => {
  // An object by ordinal finds each account by key. With a joined list, SQLite would read all accounts of the migration.
  const byOrdinal = Object.fromEntries(
    outcomes.map(({ ordinal, state, processedItems, errorItems, warnings }) => [
      ordinal,
      [state, processedItems, errorItems, JSON.stringify(warnings)],
    ]),
  )
  const outcome = (position: number): SQL => sql`outcome ->> ('$."' || ordinal || ${`"[${position}]`})`
  return place.database.build.run(sql`
    update ${migrationAccounts} set updated_at = ${at}, state = ${outcome(0)}, processed_items = ${outcome(1)},
      error_items = ${outcome(2)}, warnings = ${outcome(3)}
    from (select ${JSON.stringify(byOrdinal)} as outcome)
    where ${isAmongAccounts(place, outcomes)}`)
}

/** Deletes the failures that the accounts had in this migration. */
export const forgetFailuresQuery = ({ build }: Database, migration: Uuid, accounts: readonly Uuid[]): Query =>
  build.delete(migrationFailures).where(
    sql`${migrationFailures.migrationLocator} = ${migration}
        and ${migrationFailures.accountLocator} in (select value from json_each(${JSON.stringify(accounts)}))`,
  )

/** Fails if the account no longer has exactly that number of migrated items. */
export const mappingsGuard = (account: Uuid, count: number): Guard => ({
  name: 'guard_migration_account',
  holds: sql`(select count(*) from ${migrationMappings} where ${migrationMappings.accountLocator} = ${account}) = ${count}`,
})

/** Replaces the failures of the account in its migration. */
export const replacedFailures = (
  database: Database,
  { migrationLocator, accountLocator }: Pick<MigrationAccount, 'migrationLocator' | 'accountLocator'>,
  failures: readonly ItemFailure[],
): Query[] => [
  forgetFailuresQuery(database, migrationLocator, [accountLocator]),
  ...putRows(
    database,
    migrationFailures,
    failures.map(({ kind, originalId, problems }) => ({
      kind,
      originalId,
      problems,
      migrationLocator,
      accountLocator,
    })),
  ),
]

/** Selects the failures that the account had in this migration, in no order. */
export const failuresOfQuery = ({ build }: Database, migration: Uuid, account: Uuid) =>
  build
    .select()
    .from(migrationFailures)
    .where(
      and(eq(migrationFailures.migrationLocator, migration), eq(migrationFailures.accountLocator, account)),
    )

/** The account's id in the other system, if it was migrated. */
export const originalIdQuery = ({ build }: Database, account: Uuid) =>
  build
    .select({ originalId: migrationMappings.originalId })
    .from(migrationMappings)
    .where(and(eq(migrationMappings.accountLocator, account), eq(migrationMappings.kind, 'account')))

/** Mappings of the account from all migrations. */
export const mappingsOfQuery = ({ build }: Database, account: Uuid) =>
  build
    .select()
    .from(migrationMappings)
    .where(eq(migrationMappings.accountLocator, account))
    .orderBy(migrationMappings.kind, migrationMappings.locator)

/** The accounts that own these ids. Home shard only. */
export const claimsQuery = ({ build }: Database, originalIds: readonly string[]) =>
  build
    .select()
    .from(migratedAccounts)
    .where(
      sql`${migratedAccounts.originalId} in (select value from json_each(${JSON.stringify(originalIds)}))`,
    )

/** Ids that a run with `validateOnly` has checked so far. Such a run claims none. */
export const checkedQuery = ({ build }: Database, { locator, validateOnly, type }: Migration) =>
  build
    .select({ originalId: migrationAccounts.originalId, accountLocator: migrationAccounts.accountLocator })
    .from(migrationAccounts)
    .where(
      sql`${validateOnly && type === 'fullMigration'} and ${migrationAccounts.migrationLocator} = ${locator}
        and ${migrationAccounts.state} = 'completed'`,
    )

type Claim = Pick<MigrationAccount, 'originalId' | 'accountLocator'>

const claimsJson = (claims: readonly Claim[]): string =>
  JSON.stringify(claims.map(({ originalId, accountLocator }) => [originalId, accountLocator]))

/** Claims the ids for the accounts. Ids of other accounts stay theirs. Home shard only. */
export const claimQuery = ({ build }: Database, claims: readonly Claim[]): Query =>
  build.run(sql`
    insert into ${migratedAccounts} (original_id, account_locator)
    select value ->> 0, value ->> 1 from json_each(${claimsJson(claims)}) where true
    on conflict do nothing`)

/** Fails if another account owns one of the ids. */
export const claimGuard = (claims: readonly Claim[]): Guard => ({
  name: 'guard_migration_account',
  holds: sql`not exists (
    select 1 from json_each(${claimsJson(claims)}) j
    cross join ${migratedAccounts} m on m.original_id = j.value ->> 0 where m.account_locator <> j.value ->> 1)`,
})

/** The number of migrations of one tenant that run at the same time. Others wait. */
export const MOST_RUNNING = 4

/** Takes a free slot unless the migration has one; `slotQuery` shows the result. Home shard only. */
export const takeSlotQuery = ({ build }: Database, locator: Uuid): Query =>
  build.run(sql`
    insert into ${migrationSlots} (number, migration_locator)
    select value, ${locator} from json_each(${JSON.stringify(Array.from({ length: MOST_RUNNING }, (_, at) => at))})
    where value not in (select number from ${migrationSlots})
      and not exists (select 1 from ${migrationSlots} where migration_locator = ${locator})
    limit 1`)

/** Returns the migration's slot, or no row while it waits for one. Home shard only. */
export const slotQuery = ({ build }: Database, locator: Uuid) =>
  build.select().from(migrationSlots).where(eq(migrationSlots.migrationLocator, locator))

/** Frees the migration's slot, if it has one. Home shard only. */
export const leaveSlotQuery = ({ build }: Database, locator: Uuid): Query =>
  build.delete(migrationSlots).where(eq(migrationSlots.migrationLocator, locator))
