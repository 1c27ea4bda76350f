import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import type { ItemKind, MappingNode, StoredProblem } from './item.ts'
import type { AccountState, MigrationState } from './states.ts'

/**
 * Migrations, each in one shard with all that it brings, so that an account's records, its state and its mappings are one
 * batch. How far it is follows from the states of its accounts.
 */
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
    /** Attempts that were begun since it was last told to begin; one that is recorded is the last. */
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
