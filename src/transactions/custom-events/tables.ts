import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { CustomEventType } from '../../platform/events/types.ts'

/** A custom event of a policy that comes by the calendar. When it comes next is the due time of its timer. */
export const eventSchedules = sqliteTable(
  'event_schedule',
  {
    /** Derived from policy and type. */
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    type: text().$type<CustomEventType>().notNull(),
    /** `failed`: telling it has failed as often as it is tried. `deleted`: it comes no more for this policy. */
    state: text({ enum: ['active', 'failed', 'deleted'] }).notNull(),
    /** Tries of its next time that failed. */
    failures: integer().notNull(),
    problem: text(),
    /** While it is `failed`: the time that was not told. */
    failedTime: integer(),
    createdAt: integer().notNull(),
  },
  table => [index('event_schedule_created').on(table.createdAt, table.locator)],
)
