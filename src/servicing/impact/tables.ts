import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { Question } from './risk.ts'
import type { Totals } from './totals.ts'

/** A comparison of all policies in force with another configuration. Home shard only. */
export const impacts = sqliteTable('impact_run', {
  locator: text().primaryKey(),
  state: text().$type<ImpactState>().notNull(),
  /** The name that its author gave the configuration. */
  name: text().notNull(),
  /** SHA-256 of the archive, in hex. Its files are among those of deployed versions. */
  hash: text().notNull(),
  question: text({ mode: 'json' }).$type<Question>().notNull(),
  /** What policies are compared with: the recorded price, or the price that their own version gives for the same term. */
  against: text().$type<Against>().notNull(),
  /** Ids of the fields by which policies are grouped. */
  fields: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
  /** The number of policies when the impact was created, for the progress. */
  expected: integer().notNull(),
  /** Where the work continues: in this shard, after this policy. */
  shard: integer().notNull(),
  after: integer().notNull(),
  /** The number of files of rows. Each portion writes one, and its guard checks this number. */
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

/** Throws 409 if the impact is in a state without that transition. */
export const assertImpactAllows = (locator: string, state: ImpactState, action: ImpactAction): void =>
  assertAllowed(IMPACT_TRANSITIONS, `Impact ${locator}`, state, action)
