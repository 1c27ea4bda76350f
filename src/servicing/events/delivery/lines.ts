// Deliveries in their order: of a webhook's deliveries in a line (tables.ts) the earliest unfinished one is `pending`,
// all behind it are `waiting`. Whatever adds or ends deliveries leaves them so.
import { type SQL, sql } from 'drizzle-orm'
import type { Instant } from '../../../kernel/time.ts'
import { type Database, type Query, statement } from '../../../platform/database.ts'
import { deliveries } from '../../../platform/events/tables.ts'

/** Whether an unfinished delivery of the same webhook and line is before the row `d`. */
const isBehind = sql`exists (select 1 from ${deliveries} e
  where e.webhook_locator = d.webhook_locator and e.line = d.line and e.finished_at is null
    and e.event_sequence < d.event_sequence)`

/** Queries that put all unfinished deliveries of the webhook into order again. */
export const relinked = (database: Database, webhookLocator: string): Query[] => [
  database.build.run(sql`
    update ${deliveries} as d set state = 'waiting'
    where webhook_locator = ${webhookLocator} and finished_at is null and state = 'pending'
      and line is not null and ${isBehind}`),
  database.build.run(sql`
    update ${deliveries} as d set state = 'pending'
    where webhook_locator = ${webhookLocator} and finished_at is null and state = 'waiting' and not ${isBehind}`),
]

const NEXT_UP = statement(build =>
  build.run(sql`
    update ${deliveries} set state = 'pending'
    where webhook_locator = ${sql.placeholder('webhook')} and state = 'waiting' and event_sequence in (
      select min(event_sequence) from ${deliveries}
      where webhook_locator = ${sql.placeholder('webhook')} and finished_at is null
        and line in (select value from json_each(${sql.placeholder('lines')}))
      group by line)`),
)

/** A query that lets the next of each of the lines come up, after those before it have ended. */
export const nextUp = (database: Database, webhook: string, lines: readonly string[]): Query =>
  database.bind(NEXT_UP, { webhook, lines: JSON.stringify(lines) })

/** A query that lets everything that was put aside wait again, where `holds` is true; `relinked` must follow. */
export const replayed = (database: Database, webhookLocator: string, at: Instant, holds: SQL): Query =>
  database.build.run(sql`
    update ${deliveries} set state = 'waiting', attempts = 0, due_at = ${at}, finished_at = null
    where webhook_locator = ${webhookLocator} and state in ('skipped', 'diverted') and ${holds}`)
