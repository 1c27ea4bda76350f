// The states of a migration and of each of its accounts, as tables (resources brief 9.2).
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'

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
