import { and, asc, gt, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { type Database, statement } from '../../platform/database.ts'
import type { Instant } from '../../platform/time.ts'
import { events } from '../tables.ts'

export type StreamFilter = {
  /** Events from this time on. */
  start?: Instant
  /** Events before this time. */
  end?: Instant
  type?: string
}

const { sequence, locator, at, type, data, username } = events

/** The first event of that time or later. Time never goes back along the stream, so it bounds a span of it. */
const firstFrom = (time: Placeholder) =>
  sql`(select sequence from ${events} where at >= ${time} order by at, sequence limit 1)`

/** What each part of a filter asks of an event. */
const CONDITIONS: Readonly<Record<keyof StreamFilter, SQL>> = {
  type: sql`${type} = ${sql.placeholder('type')}`,
  start: sql`${sequence} >= ${firstFrom(sql.placeholder('start'))}`,
  end: sql`${sequence} < coalesce(${firstFrom(sql.placeholder('end'))}, ${Number.MAX_SAFE_INTEGER})`,
}

const eventsBy = (parts: readonly (keyof StreamFilter)[]) =>
  statement(build =>
    build
      .select({ sequence, locator, at, type, data, username })
      .from(events)
      .where(and(gt(sequence, sql.placeholder('position')), ...parts.map(part => CONDITIONS[part])))
      .orderBy(asc(sequence))
      .limit(sql.placeholder('most')),
  )

/** By the parts of the filter that are given: eight at most. */
const statements = new Map<string, ReturnType<typeof eventsBy>>()

/** Events of one shard after a position, in the order of their commits. */
export async function eventsAfter(database: Database, position: number, filter: StreamFilter, most: number) {
  const parts = (['type', 'start', 'end'] as const).filter(part => filter[part] !== undefined)
  const kept = statements.get(parts.join()) ?? eventsBy(parts)
  statements.set(parts.join(), kept)
  const [rows] = await database.batch([database.bind(kept, { ...filter, position, most })])
  return rows
}
