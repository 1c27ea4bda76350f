// Deliveries of a webhook as they are shown, with their attempts.
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/database.ts'
import { type AttemptMade, deliveries, events } from '../../../platform/events/tables.ts'

export type DeliveryFilter = {
  readonly state?: string | undefined
  readonly eventLocator?: string | undefined
  /** Events from this time on, and before that one. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** A delivery and its event. `at` is the event's time. */
export type DeliveryShown = {
  readonly sequence: number
  readonly locator: string
  readonly requestId: string
  readonly type: string
  readonly newerType: string | null
  readonly at: number
  readonly state: (typeof deliveries.$inferSelect)['state']
  readonly outcome: string | null
  readonly dueAt: number
  readonly finishedAt: number | null
  readonly log: readonly AttemptMade[]
}

function conditions({ state, eventLocator, from, to }: DeliveryFilter): SQL[] {
  const all: SQL[] = []
  if (state !== undefined) all.push(sql`d.state = ${state}`)
  if (eventLocator !== undefined) all.push(sql`e.locator = ${eventLocator}`)
  if (from !== undefined) all.push(sql`e.at >= ${from}`)
  if (to !== undefined) all.push(sql`e.at < ${to}`)
  return all
}

/** At most `most` deliveries of one shard after the event of that sequence, in the order of the events. */
export async function deliveriesAfter(
  database: Database,
  webhookLocator: string,
  position: number,
  filter: DeliveryFilter,
  most: number,
): Promise<DeliveryShown[]> {
  const [rows] = await database.batch([
    database.build.all<Omit<DeliveryShown, 'log'> & { log: string }>(sql`
      select e.sequence, e.locator, e.request_id as requestId, e.type, e.newer_type as newerType, e.at,
        d.state, d.outcome, d.due_at as dueAt, d.finished_at as finishedAt, d.log
      from ${deliveries} d join ${events} e on e.sequence = d.event_sequence
      where ${sql.join(
        [
          sql`d.webhook_locator = ${webhookLocator}`,
          sql`d.event_sequence > ${position}`,
          ...conditions(filter),
        ],
        sql` and `,
      )}
      order by d.event_sequence limit ${most}`),
  ])
  return rows.map(({ log, ...row }) => ({ ...row, log: JSON.parse(log) as AttemptMade[] }))
}
