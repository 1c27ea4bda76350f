// What every write of a tenant's database goes through: guards, the record of writes, timers.
import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** What a guard holds: a record that a write relies on is as it was read. */
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
 * Never holds a row. A batch inserts the name of a guard that does not hold; the CHECK of that name trips and
 * the whole batch fails (docs/design.md, section 5: an UPDATE that matches nothing would not).
 */
export const guards = sqliteTable('guard', { name: text().notNull() }, table =>
  GUARD_NAMES.map(name => check(name, sql`${table.name} <> ${sql.raw(`'${name}'`)}`)),
)

/** Whether a database serves its tenant: `suspended` for a while, `moved` for good. */
export type FenceState = 'serving' | 'suspended' | 'moved'

/**
 * Whose database this is: one row, none while it is free. Every batch that reads looks at it, and every batch that writes holds it as a
 * guard (platform/tenancy/fence.ts).
 */
export const fences = sqliteTable('fence', {
  /** Always 1. */
  id: integer().primaryKey(),
  tenantLocator: text().notNull(),
  generation: integer().notNull(),
  state: text().$type<FenceState>().notNull(),
  /** Requests of tokens of an earlier epoch are refused. */
  tokenEpoch: integer().notNull(),
  /** How often the tenant was restored. */
  restores: integer().notNull(),
})

/**
 * One row for each committed write, under the caller's Idempotency-Key or else the request's own id. It
 * answers a repeat, and tells whether a batch whose outcome is unknown was committed. Kept 30 days.
 */
export const writes = sqliteTable(
  'write',
  {
    key: text().primaryKey(),
    bodyHash: text().notNull(),
    status: integer().notNull(),
    /** The answer's JSON up to 64 KiB; null above, then `subject` is shown again. */
    answer: text(),
    subject: text().notNull(),
    /** In real time, whatever the tenant's clock says: repeats come from the outside world. */
    at: integer().notNull(),
  },
  table => [index('write_at').on(table.at), index('write_subject').on(table.subject)],
)

/** What a timer is for. `src/wiring.ts` names the function that is called when one of the kind is due. */
export type TimerKind =
  | 'account.revocation'
  | 'cancellation.effective'
  | 'document.file.gone'
  | 'event.schedule'
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
  | 'reinstatement.deadline'
  | 'resource.bootstrap'
  | 'resource.file.unrecorded'
  | 'resource.table.contents'
  | 'webhook.copy'

/** All that must happen later; fired by the dispatcher, done by the subject's owner, then removed. */
export const timers = sqliteTable(
  'timer',
  {
    locator: text().primaryKey(),
    /** In the tenant's time; a firing that is under way pushes it ahead as its lease. */
    dueAt: integer().notNull(),
    kind: text().$type<TimerKind>().notNull(),
    /** What it is about, e.g. the policy's locator as text. */
    subject: text().notNull(),
    payload: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  },
  table => [index('timer_due').on(table.dueAt), index('timer_subject').on(table.subject)],
)

/**
 * The number that the next digit locator gets: one row. The shard's dispatcher keeps the same number in its own storage, and a lease
 * takes the larger of the two, so that neither a restored database nor a lost object gives a number twice (tenancy/sequence.ts).
 */
export const numberSequences = sqliteTable('number_sequence', {
  id: integer().primaryKey(),
  next: integer().notNull(),
})
