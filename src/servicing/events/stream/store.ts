import { and, asc, eq, gt, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { unionAll } from 'drizzle-orm/sqlite-core'
import { boundsOfEvents, type Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { type Database, statement } from '../../../platform/database.ts'
import { events, NOT_BY_REQUEST } from '../../../platform/events/tables.ts'
import { typesNamed, unstreamedTypes } from '../../../platform/events/types.ts'
import type { EventRow } from './response.ts'

export type StreamFilter = {
  /** Inclusive. */
  start?: Instant
  /** Exclusive. */
  end?: Instant
  type?: string
  /** An older or a newer name. */
  name?: string
}

const { sequence, locator, at, type, newerType, data, username, accountLocator, requestId } = events

/** An Event of the contract. `data` is stored as JSON: parsing and writing it again would be most of a page's work. */
const json = (more: SQL) =>
  sql<string>`'{"id":"' || ${locator} || '","timestamp":"' || ${at} || '","type":' || json_quote(${type}) || ',"data":' || ${data} || ${more} || '}'`.as(
    'json',
  )

/** Only what each form of a page shows: every further column costs as much time as the text in it. */
const COLUMNS = {
  stream: { sequence, at, json: json(sql`''`) },
  attributed: { sequence, at, json: json(sql`',"username":' || json_quote(${username})`) },
  events: { sequence, at, locator, type, data, username, newerType, accountLocator, requestId },
}

export type Form = keyof typeof COLUMNS

/**
 * SQL: no event from that time on has a smaller sequence, and all from this sequence on are not earlier. Time never goes back along
 * the stream, so the span of sequences is halved until one is left: no index of times is needed.
 */
export function firstFrom(time: Placeholder | number): SQL {
  const isBefore = sql`coalesce((
    select at < ${time} from ${events} where sequence >= (low + high) / 2 order by sequence limit 1), 0)`
  return sql`(
    with recursive span (low, high) as (
      select coalesce((select min(sequence) from ${events}), 0), coalesce((select max(sequence) from ${events}), 0) + 1
      union all
      select iif(${isBefore}, (low + high) / 2 + 1, low), iif(${isBefore}, high, (low + high) / 2)
      from span where low < high)
    select low from span where low >= high)`
}

type Part = Exclude<keyof StreamFilter, 'name'>

const CONDITIONS: Readonly<Record<Part, SQL>> = {
  type: sql`${type} = ${sql.placeholder('type')}`,
  start: sql`${sequence} >= ${firstFrom(sql.placeholder('start'))}`,
  end: sql`${sequence} < ${firstFrom(sql.placeholder('end'))}`,
}

/** Types that the stream does not show. A reader passes each such row once, since its position moves past it. */
const IS_STREAMED = sql`${type} not in (${sql.raw(unstreamedTypes.map(one => `'${one}'`).join(', '))})`

const skipsTypes = (form: Form, parts: readonly Part[]): boolean =>
  form !== 'events' && !parts.includes('type')

/** By a name that is older or newer: `newer` older types may have it as their newer name. */
function eventsBy(form: Form, parts: readonly Part[], newer: number | undefined) {
  const after = [
    gt(sequence, sql.placeholder('position')),
    ...parts.map(part => CONDITIONS[part]),
    ...(skipsTypes(form, parts) ? [IS_STREAMED] : []),
  ]
  const matching = (build: DrizzleD1Database, ...more: SQL[]) =>
    build
      .select(COLUMNS[form] as (typeof COLUMNS)['events'])
      .from(events)
      .where(and(...after, ...more))
  const name = sql.placeholder('name')
  // Each type has an index in order, and they are merged; an `or` would sort all events.
  const ofType = (build: DrizzleD1Database, at: number) =>
    matching(build, eq(type, sql.placeholder(`type${at}`)), eq(newerType, name))
  return statement(build => {
    if (newer === undefined) return matching(build).orderBy(asc(sequence)).limit(sql.placeholder('most'))
    const byName = matching(build, eq(type, name))
    const [first, ...rest] = Array.from({ length: newer }, (_, at) => ofType(build, at))
    return (first ? unionAll(byName, first, ...rest) : byName)
      .orderBy(asc(sequence))
      .limit(sql.placeholder('most'))
  })
}

/** By form, parts of the filter and number of types: less than a hundred. */
const statements = new Map<string, ReturnType<typeof eventsBy>>()

const lastSequence = statement(build =>
  build.select({ last: sql<number>`coalesce(max(${sequence}), 0)` }).from(events),
)

/**
 * Events of one shard after a position, in order of commit. `reached` says how far the shard was read: to the last event of a full page,
 * or to the end of the shard.
 */
export async function eventsAfter<F extends Form>(
  database: Database,
  form: F,
  position: number,
  filter: StreamFilter,
  most: number,
): Promise<{ rows: StreamRow<F>[]; reached: number }> {
  const parts = (['type', 'start', 'end'] as const).filter(part => filter[part] !== undefined)
  const types = filter.name === undefined ? undefined : typesNamed(filter.name)
  const key = [form, ...parts, types?.length].join()
  const kept = statements.get(key) ?? eventsBy(form, parts, types?.length)
  statements.set(key, kept)
  const byType = Object.fromEntries(types?.map((one, at) => [`type${at}`, one]) ?? [])
  const page = database.bind(kept, { ...filter, ...byType, position, most })
  if (!skipsTypes(form, parts)) {
    const [rows] = await database.batch([page])
    return { rows: rowsOf<F>(rows), reached: rows.at(-1)?.sequence ?? position }
  }
  const [rows, [end]] = await database.batch([page, database.bind(lastSequence, {})])
  return { rows: rowsOf<F>(rows), reached: rows.length < most ? end!.last : rows.at(-1)!.sequence }
}

/** Times of the first event after the position, if there is one, and of the last event; 0 for none. */
export async function timesAround(
  database: Database,
  position: number,
): Promise<{ next: number | null; last: number }> {
  const [[row]] = await database.batch([
    database.build.all<{ next: number | null; last: number }>(
      sql`select (select ${at} from ${events} where ${sequence} > ${position} order by ${sequence} limit 1) as next,
        coalesce((select ${at} from ${events} order by ${sequence} desc limit 1), 0) as last`,
    ),
  ])
  return row!
}

/** Statements have the type of the widest form. */
const rowsOf = <F extends Form>(rows: readonly object[]): StreamRow<F>[] => rows as StreamRow<F>[]

type AllColumns = typeof events.$inferSelect

export type StreamRow<F extends Form> = F extends 'events'
  ? Pick<AllColumns, keyof (typeof COLUMNS)['events']>
  : Pick<AllColumns, 'sequence' | 'at'> & { readonly json: string }

const EVENT_COLUMNS = { locator, requestId, type, newerType, at, data, accountLocator }

/** Far more than an operation on the largest policy causes. */
const MOST_OF_REQUEST = 20_000

export async function findEvent(database: Database, event: Uuid): Promise<EventRow | undefined> {
  const [rows] = await database.batch([
    database.build.select(EVENT_COLUMNS).from(events).where(eq(locator, event)),
  ])
  return rows[0]
}

/** Events of one shard, in the order of the stream. */
export async function eventsOfRequest(database: Database, request: Uuid): Promise<EventRow[]> {
  const { from, to } = boundsOfEvents(request)
  const [rows] = await database.batch([
    database.build
      .select(EVENT_COLUMNS)
      .from(events)
      .where(
        sql`${requestId} = ${request} and ${sequence} in (
          select ${sequence} from ${events} where ${locator} between ${from} and ${to}
          union select ${sequence} from ${events} where ${requestId} = ${request} and ${NOT_BY_REQUEST})`,
      )
      .orderBy(asc(events.sequence))
      .limit(MOST_OF_REQUEST),
  ])
  return rows
}
