import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { ItemKind, MappingNode, StoredProblem } from './item.ts'

/** All rows of a migration are in one shard, so that an account is one batch. Progress follows from the states of its accounts. */
export const migrations = sqliteTable(
  'migration_run',
  {
    locator: text().primaryKey(),
    state: text().$type<MigrationState>().notNull(),
    type: text().$type<'fullMigration' | 'addAccountItems'>().notNull(),
    /** Checks everything and writes no record. */
    validateOnly: integer({ mode: 'boolean' }).notNull(),
    totalAccounts: integer().notNull(),
    createdAt: integer().notNull(),
    createdBy: text().notNull(),
    username: text().notNull(),
    /** When the state last changed. */
    updatedAt: integer().notNull(),
    /** When it last started or resumed, in real time, and the number of accounts done by then. The rate counts from there. */
    runningSince: integer(),
    doneBefore: integer().notNull(),
  },
  table => [
    index('migration_created').on(table.createdAt, table.locator),
    index('migration_open').on(table.createdAt, table.locator).where(sql`state <> 'finished'`),
  ],
)

/** In the order in which they were sent. */
export const migrationAccounts = sqliteTable(
  'migration_account',
  {
    migrationLocator: text().notNull(),
    ordinal: integer().notNull(),
    /** The policyholder that it becomes, or that gets the items. */
    accountLocator: text().notNull(),
    originalId: text().notNull(),
    state: text().$type<AccountState>().notNull(),
    /** The account's JSON: bytes `start` to `start + length` of the file `source`. */
    source: text().notNull(),
    start: integer().notNull(),
    length: integer().notNull(),
    totalItems: integer().notNull(),
    processedItems: integer().notNull(),
    errorItems: integer().notNull(),
    warnings: text({ mode: 'json' }).$type<readonly StoredProblem[]>().notNull(),
    /** The number of attempts begun since it was last queued. A recorded attempt is the last. */
    tries: integer().notNull(),
    updatedAt: integer().notNull(),
  },
  table => [
    primaryKey({ columns: [table.migrationLocator, table.ordinal] }),
    uniqueIndex('migration_account_locator').on(table.migrationLocator, table.accountLocator),
    index('migration_account_waiting')
      .on(table.migrationLocator, table.ordinal)
      .where(sql`state in ('pending', 'processing')`),
  ],
)

/** The record that each item became, with the records of its parts. */
export const migrationMappings = sqliteTable(
  'migration_mapping',
  {
    accountLocator: text().notNull(),
    kind: text().$type<ItemKind>().notNull(),
    originalId: text().notNull(),
    migrationLocator: text().notNull(),
    locator: text().notNull(),
    children: text({ mode: 'json' }).$type<readonly MappingNode[]>().notNull(),
    migratedAt: integer().notNull(),
  },
  table => [
    // The table has no row ids, which drizzle cannot express (migrations/tenant/0007_keys_of_policies.sql).
    primaryKey({ columns: [table.accountLocator, table.kind, table.originalId] }),
  ],
)

/** Failures of items in the last attempt. */
export const migrationFailures = sqliteTable(
  'migration_failure',
  {
    migrationLocator: text().notNull(),
    accountLocator: text().notNull(),
    kind: text().$type<ItemKind>().notNull(),
    originalId: text().notNull(),
    problems: text({ mode: 'json' }).$type<readonly StoredProblem[]>().notNull(),
  },
  table => [
    primaryKey({ columns: [table.migrationLocator, table.accountLocator, table.kind, table.originalId] }),
  ],
)

/** Owners of migrated ids, for all shards. Home shard only. */
export const migratedAccounts = sqliteTable('migrated_account', {
  originalId: text().primaryKey(),
  accountLocator: text().notNull(),
})

/** Running migrations of all shards. Home shard only. */
export const migrationSlots = sqliteTable(
  'migration_slot',
  { number: integer().primaryKey(), migrationLocator: text().notNull() },
  table => [uniqueIndex('migration_slot_migration').on(table.migrationLocator)],
)

// States and transitions (resources brief 9.2).
export const MIGRATION_STATES = ['submitted', 'processing', 'paused', 'finished', 'failed', 'error'] as const
export type MigrationState = (typeof MIGRATION_STATES)[number]

export type MigrationAction = 'start' | 'pause' | 'resume' | 'recover' | 'patch' | 'finish' | 'fail' | 'stop'

/** `patch` from `processing`: a patch does not wait for accounts that were patched before it. */
export const MIGRATION_TRANSITIONS: TransitionTable<MigrationAction, MigrationState> = {
  start: { from: ['submitted'], to: 'processing', event: 'migration.start', past: 'started' },
  pause: { from: ['submitted', 'processing'], to: 'paused', event: 'migration.pause', past: 'paused' },
  resume: { from: ['paused'], to: 'processing', event: 'migration.resume', past: 'resumed' },
  recover: { from: ['error'], to: 'processing', event: 'migration.recover', past: 'recovered' },
  patch: { from: ['processing', 'failed'], to: 'processing', event: 'migration.patch', past: 'patched' },
  finish: { from: ['processing'], to: 'finished', event: 'migration.finish', past: 'finished' },
  fail: { from: ['processing'], to: 'failed', event: 'migration.fail', past: 'failed' },
  stop: { from: ['processing'], to: 'error', event: 'migration.error', past: 'stopped by an error' },
}

export const ACCOUNT_STATES = ['pending', 'processing', 'completed', 'failed', 'error'] as const
export type AccountState = (typeof ACCOUNT_STATES)[number]

export type AccountAction = 'begin' | 'complete' | 'fail' | 'stop' | 'patch' | 'recover'

export const ACCOUNT_TRANSITIONS: TransitionTable<AccountAction, AccountState> = {
  begin: { from: ['pending'], to: 'processing', past: 'begun' },
  complete: { from: ['processing'], to: 'completed', past: 'completed' },
  fail: { from: ['processing'], to: 'failed', past: 'failed' },
  stop: { from: ['processing'], to: 'error', past: 'stopped by an error' },
  patch: { from: ['failed'], to: 'pending', past: 'patched' },
  recover: { from: ['error'], to: 'pending', past: 'recovered' },
}

/** Throws 409 if the migration is in a state without that transition. */
export const assertMigrationAllows = (locator: string, state: MigrationState, action: MigrationAction) =>
  assertAllowed(MIGRATION_TRANSITIONS, `Migration ${locator}`, state, action)

/** Throws 409 if the account is in a state without that transition. */
export const assertAccountAllows = (locator: string, state: AccountState, action: AccountAction) =>
  assertAllowed(ACCOUNT_TRANSITIONS, `Account ${locator}`, state, action)

/** How a run ends once no account waits: system errors take precedence over failures on data. */
export function outcomeOf(counts: Readonly<Record<AccountState, number>>): 'finish' | 'fail' | 'stop' {
  if (counts.error > 0) return 'stop'
  return counts.failed > 0 ? 'fail' : 'finish'
}
