import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { ItemKind, MappingNode, StoredProblem } from './item.ts'

/** Migrations, each in one shard with its records and mappings, so that an account is one batch. Its accounts' states show its progress. */
export const migrations = sqliteTable('migration_run', {
  locator: text().primaryKey(),
  state: text().$type<MigrationState>().notNull(),
  type: text().$type<'fullMigration' | 'addAccountItems'>().notNull(),
  /** Everything is checked, and no record is written. */
  validateOnly: integer({ mode: 'boolean' }).notNull(),
  totalAccounts: integer().notNull(),
  createdAt: integer().notNull(),
  createdBy: text().notNull(),
  username: text().notNull(),
  /** When the state last changed. */
  updatedAt: integer().notNull(),
  /** When it last went on, in real time, and how many accounts were done by then: the rate is counted from here. */
  runningSince: integer(),
  doneBefore: integer().notNull(),
})

/** The accounts of a migration in the order in which they were sent. */
export const migrationAccounts = sqliteTable(
  'migration_account',
  {
    migrationLocator: text().notNull(),
    ordinal: integer().notNull(),
    /** Of the policyholder that it becomes, or of the one that gets further items. */
    accountLocator: text().notNull(),
    originalId: text().notNull(),
    state: text().$type<AccountState>().notNull(),
    /** Where its text lies in the file `source`, in bytes. */
    source: text().notNull(),
    start: integer().notNull(),
    length: integer().notNull(),
    totalItems: integer().notNull(),
    processedItems: integer().notNull(),
    errorItems: integer().notNull(),
    /** What is odd about it and was taken all the same. */
    warnings: text({ mode: 'json' }).$type<readonly StoredProblem[]>().notNull(),
    /** Attempts begun since it was last queued; a recorded attempt is the last. */
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

/** What an item of an account became, with what is in it. */
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
    primaryKey({ columns: [table.accountLocator, table.kind, table.originalId] }),
    index('migration_mapping_migration').on(table.migrationLocator, table.accountLocator),
  ],
)

/** Why an item of an account could not be migrated, as the last attempt found. */
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

/** Ids of accounts that were migrated, of all shards; in the home shard. */
export const migratedAccounts = sqliteTable('migrated_account', {
  originalId: text().primaryKey(),
  accountLocator: text().notNull(),
})

/** Who runs at the moment, of all shards; in the home shard. */
export const migrationSlots = sqliteTable(
  'migration_slot',
  { number: integer().primaryKey(), migrationLocator: text().notNull() },
  table => [uniqueIndex('migration_slot_migration').on(table.migrationLocator)],
)

// The states of a migration and of each of its accounts, as tables (resources brief 9.2).
export const MIGRATION_STATES = ['submitted', 'processing', 'paused', 'finished', 'failed', 'error'] as const
export type MigrationState = (typeof MIGRATION_STATES)[number]

export type MigrationAction = 'start' | 'pause' | 'resume' | 'recover' | 'patch' | 'finish' | 'fail' | 'stop'

/** A patch of one account does not wait until those that were patched before it are done. */
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

export const assertMigrationAllows = (locator: string, state: MigrationState, action: MigrationAction) =>
  assertAllowed(MIGRATION_TRANSITIONS, `Migration ${locator}`, state, action)

export const assertAccountAllows = (locator: string, state: AccountState, action: AccountAction) =>
  assertAllowed(ACCOUNT_TRANSITIONS, `Account ${locator}`, state, action)

/** What a run comes to once no account waits any more: system errors first, then failures on data. */
export function outcomeOf(counts: Readonly<Record<AccountState, number>>): 'finish' | 'fail' | 'stop' {
  if (counts.error > 0) return 'stop'
  return counts.failed > 0 ? 'fail' : 'finish'
}
