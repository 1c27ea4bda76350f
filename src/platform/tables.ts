// Tables in the write path of a tenant's database: guards, writes, timers.
import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Names of the guards. Each asserts that a record has not changed since the writer read it. */
export const GUARD_NAMES = [
  'guard_policy_version',
  'guard_policyholder_version',
  'guard_policyholder_completed',
  'guard_policyholder_credit',
  'guard_configuration_hash',
  'guard_configuration_version',
  'guard_aux_data',
  'guard_resource',
  'guard_webhook_version',
  'guard_account',
  'guard_migration_state',
  'guard_migration_account',
] as const

/**
 * Never contains a row. A batch inserts the name of a failed guard, and the CHECK of that name fails the whole batch
 * (docs/design.md, section 5: an UPDATE that matches no row would not).
 */
export const guards = sqliteTable('guard', { name: text().notNull() }, table =>
  GUARD_NAMES.map(name => check(name, sql`${table.name} <> ${sql.raw(`'${name}'`)}`)),
)

/** `suspended` is temporary, `moved` is final. */
export type FenceState = 'serving' | 'suspended' | 'moved'

/** The database's tenant: one row, or none while it is free. Every batch reads or guards it (platform/tenancy/fence.ts). */
export const fences = sqliteTable('fence', {
  /** Always 1. */
  id: integer().primaryKey(),
  tenantLocator: text().notNull(),
  generation: integer().notNull(),
  state: text().$type<FenceState>().notNull(),
  /** Tokens of an earlier epoch are rejected. */
  tokenEpoch: integer().notNull(),
  restores: integer().notNull(),
})

/** Accounts whose tokens of an earlier epoch are rejected, kept as long as such a token can be valid (access/revocation.ts). */
export const revokedAccounts = sqliteTable(
  'revoked_account',
  {
    accountLocator: text().notNull(),
    epoch: integer().notNull(),
    /** Real time. */
    at: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.accountLocator, table.epoch] })],
)

/**
 * One row for each committed write, by the caller's Idempotency-Key or the id of the request. It answers repeats and shows whether
 * a batch with an unknown outcome was committed. Kept for 30 days.
 */
export const writes = sqliteTable(
  'write',
  {
    key: text().primaryKey(),
    bodyHash: text().notNull(),
    status: integer().notNull(),
    /** JSON up to 64 KiB. Null for a longer response: `subject` is then shown again. */
    answer: text(),
    subject: text().notNull(),
    /** Real time, because repeats come from outside. */
    at: integer().notNull(),
  },
  // Row ids rise with the time.
  table => [index('write_subject').on(table.subject)],
)

/** The kinds of timers. `src/wiring.ts` names the function for each. */
export type TimerKind =
  | 'account.revocation'
  | 'account.revocations'
  | 'agent.preview.expiry'
  | 'cancellation.effective'
  | 'document.file.gone'
  | 'event.schedule'
  | 'impact.run'
  | 'invoice.pastDue'
  | 'medium.file.unrecorded'
  | 'migration.file.unrecorded'
  | 'migration.run'
  | 'policy.end'
  | 'policy.end.reminder'
  | 'policy.gracePeriod.end'
  | 'policy.invoice'
  | 'policy.reinstatement.periodEnd'
  | 'policyholder.erasure'
  | 'quickQuote.expiry'
  | 'report.run'
  | 'report.schedule'
  | 'reinstatement.deadline'
  | 'resource.bootstrap'
  | 'resource.file.unrecorded'
  | 'resource.table.contents'
  | 'webhook.copy'

/** Future work: the dispatcher fires each timer, the owner of the subject does the work, and the row is removed. */
export const timers = sqliteTable(
  'timer',
  {
    locator: text().notNull(),
    /** In the time of the tenant. A running timer moves it forward as its lease. */
    dueAt: integer().notNull(),
    kind: text().$type<TimerKind>().notNull(),
    /** E.g. the policy's locator. */
    subject: text().notNull(),
    payload: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  },
  // WITHOUT ROWID, which drizzle cannot express (migrations/tenant/0007_keys_of_policies.sql).
  table => [primaryKey({ columns: [table.subject, table.locator] }), index('timer_due_at').on(table.dueAt)],
)

/** The next number for integer locators, in one row. The dispatcher's storage has it too; tenancy/sequence.ts explains why. */
export const numberSequences = sqliteTable('number_sequence', {
  id: integer().primaryKey(),
  next: integer().notNull(),
})
