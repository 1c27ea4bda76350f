import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { Database } from '../../platform/database.ts'
import type { Instant } from '../../platform/time.ts'
import { events } from '../tables.ts'

export type StreamFilter = {
  /** Events from this time on. */
  start?: Instant
  /** Events before this time. */
  end?: Instant
  type?: string
}

const { sequence } = events

/** The first event of that time or later. Time never goes back along the stream, so it bounds a span of it. */
const firstFrom = (at: Instant) =>
  sql`(select sequence from ${events} where at >= ${at} order by at, sequence limit 1)`

/** Events of one shard after a position, in the order of their commits. */
export async function eventsAfter(
  database: Database,
  position: number,
  { start, end, type }: StreamFilter,
  most: number,
) {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(events)
      .where(
        and(
          gt(sequence, position),
          type === undefined ? undefined : eq(events.type, type),
          start === undefined ? undefined : sql`${sequence} >= ${firstFrom(start)}`,
          end === undefined
            ? undefined
            : sql`${sequence} < coalesce(${firstFrom(end)}, ${Number.MAX_SAFE_INTEGER})`,
        ),
      )
      .orderBy(asc(sequence))
      .limit(most),
  ])
  return rows
}
