import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { Question } from './risk.ts'
import type { Totals } from './totals.ts'

/** A comparison of all policies in force with another configuration. Home shard only. */
export const impacts = sqliteTable('impact_run', {
  locator: text().primaryKey(),
  state: text().$type<ImpactState>().notNull(),
  /** As its maker calls the configuration. */
  name: text().notNull(),
  /** SHA-256 of the archive, hex: its files are among those of deployed versions. */
  hash: text().notNull(),
  question: text({ mode: 'json' }).$type<Question>().notNull(),
  /** What policies are compared with: what was recorded, or what their own version gives for the same term. */
  against: text().$type<Against>().notNull(),
  /** Ids of the fields that policies are grouped by. */
  fields: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** Policies that there were when it was made, for the progress. */
  expected: integer().notNull(),
  /** Where it goes on: in this shard, after this policy. */
  shard: integer().notNull(),
  after: integer().notNull(),
  /** Files of rows that are written. A portion is one, and guards this number. */
  portions: integer().notNull(),
  totals: text({ mode: 'json' }).$type<Totals>().notNull(),
  /** Attempts at the next portion that ended in a fault of the service. */
  tries: integer().notNull(),
  createdAt: integer().notNull(),
  username: text().notNull(),
  /** When the state last changed. */
  updatedAt: integer().notNull(),
})

export const AGAINST = ['recorded', 'version'] as const
export type Against = (typeof AGAINST)[number]

export const IMPACT_STATES = ['running', 'paused', 'finished', 'error'] as const
export type ImpactState = (typeof IMPACT_STATES)[number]

export type ImpactAction = 'pause' | 'resume' | 'finish' | 'stop'

export const IMPACT_TRANSITIONS: TransitionTable<ImpactAction, ImpactState> = {
  pause: { from: ['running'], to: 'paused', past: 'paused' },
  resume: { from: ['paused', 'error'], to: 'running', past: 'resumed' },
  finish: { from: ['running'], to: 'finished', past: 'finished' },
  stop: { from: ['running'], to: 'error', past: 'stopped by an error' },
}

export const assertImpactAllows = (locator: string, state: ImpactState, action: ImpactAction): void =>
  assertAllowed(IMPACT_TRANSITIONS, `Impact ${locator}`, state, action)
