import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { GracePeriodState, LapseReinstatement } from '../records/transactions.ts'

export const gracePeriods = sqliteTable(
  'grace_period',
  {
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    invoiceLocator: text().notNull(),
    state: text().$type<GracePeriodState>().notNull(),
    startAt: integer().notNull(),
    endAt: integer().notNull(),
    cancelEffectiveAt: integer(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    settledAt: integer(),
    cancellationLocator: integer(),
  },
  table => [index('grace_period_policy').on(table.policyLocator)],
)

export const lapses = sqliteTable(
  'lapse',
  {
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    gracePeriodLocator: text().notNull(),
    modificationLocator: text().notNull(),
    lapsedAt: integer().notNull(),
    reinstatementPeriodEndAt: integer().notNull(),
    createdAt: integer().notNull(),
  },
  table => [index('lapse_policy').on(table.policyLocator)],
)

export const lapseReinstatements = sqliteTable(
  'lapse_reinstatement',
  {
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    lapseLocator: text().notNull(),
    statuses: text({ mode: 'json' }).$type<LapseReinstatement['statuses']>().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    effectiveAt: integer(),
    modificationLocator: text(),
  },
  table => [index('lapse_reinstatement_policy').on(table.policyLocator)],
)
