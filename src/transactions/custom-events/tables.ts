import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { CustomEventType } from '../../platform/events/types.ts'

/** A scheduled custom event of a policy. Its timer has the next time. */
export const eventSchedules = sqliteTable(
  'event_schedule',
  {
    /** Derived from policy and type. */
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    type: text().$type<CustomEventType>().notNull(),
    /** `failed`: all tries failed. `deleted`: ended for this policy. */
    state: text({ enum: ['active', 'failed', 'deleted'] }).notNull(),
    /** Failed tries of the next time. */
    failures: integer().notNull(),
    problem: text(),
    /** Set while `failed`. */
    failedTime: integer(),
    createdAt: integer().notNull(),
  },
  table => [
    index('event_schedule_created').on(table.createdAt, table.locator),
    index('event_schedule_policy').on(table.policyLocator),
  ],
)
