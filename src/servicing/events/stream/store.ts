import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { boundsOfEvents, type Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { type Database, statement } from '../../../platform/database.ts'
import { eachEvent, FIRST_TYPE, IS_LIST, nextEvents, rowLocators } from '../../../platform/events/rows.ts'
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

const { sequence, type } = events

/** A column of an event `e`. */
const column = <T>(name: string, decoder: { mapFromDriverValue(value: never): unknown }) =>
  sql<T>`${sql.raw(`e.${name}`)}`
    .mapWith(decoder as Parameters<SQL<T>['mapWith']>[0])
    .as(name) as SQL.Aliased<T>

/** An Event of the contract. `data` is stored as JSON: parsing and writing it again would be most of a page's work. */
const json = (more: SQL) =>
  sql<string>`'{"id":"' || e.locator || '","timestamp":"' || e.at || '","type":' || json_quote(e.type) || ',"data":' || e.data || ${more} || '}'`.as(
    'json',
  )

const place = { sequence: column<number>('sequence', sequence), at: column<number>('at', events.at) }

const EVENT_COLUMNS = {
  locator: column<string>('locator', events.locator),
  requestId: column<string>('request_id', events.requestId),
  type: column<string>('type', type),
  newerType: column<string | null>('newer_type', events.newerType),
  at: place.at,
  data: column<Record<string, string>>('data', events.data),
  accountLocator: column<string>('account_locator', events.accountLocator),
}

/** Only what each form of a page shows: every further column costs as much time as the text in it. */
const COLUMNS = {
  stream: { ...place, json: json(sql`''`) },
  attributed: { ...place, json: json(sql`',"username":' || json_quote(e.username)`) },
  events: { ...place, ...EVENT_COLUMNS },
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
      select 0, coalesce((select max(sequence) from ${events}), 0) + 1
      union all
      select iif(${isBefore}, (low + high) / 2 + 1, low), iif(${isBefore}, high, (low + high) / 2)
      from span where low < high)
    select low from span where low >= high)`
}

type Part = Exclude<keyof StreamFilter, 'name'>

const position = sql.placeholder('position')
const most = sql.placeholder('most')

/** Conditions on a row: all its events have one time. Of two lower bounds SQLite would read on from either. */
function conditionsOf(form: Form, parts: readonly Part[]): SQL {
  const from = parts.includes('start')
    ? sql`max(${position}, ${firstFrom(sql.placeholder('start'))} - 1)`
    : sql`${position}`
  const conditions = [
    sql`sequence > ${from}`,
    ...(parts.includes('end') ? [sql`sequence < ${firstFrom(sql.placeholder('end'))}`] : []),
    ...(skipsTypes(form, parts) ? [IS_STREAMED] : []),
  ]
  return sql.join(conditions, sql` and `)
}

/** Types that the stream does not show. A reader passes each such row once, since its position moves past it. */
const IS_STREAMED = sql`${FIRST_TYPE} not in (${sql.raw(unstreamedTypes.map(one => `'${one}'`).join(', '))})`

const skipsTypes = (form: Form, parts: readonly Part[]): boolean =>
  form !== 'events' && !parts.includes('type')

/** Each list of types, by one step into the index of types for each. */
const LISTS = sql`with recursive list (type) as (
  select (select type from ${events} where ${IS_LIST} order by type limit 1)
  union all
  select (select type from ${events} where type > list.type and ${IS_LIST} order by type limit 1) from list where list.type is not null)`

/**
 * The next rows with events of a name that is older or newer: `newer` older types may have it as their newer name. Each type has an index in
 * order, and so has each list of types; an `or` would sort all events. One row more than events: of the first, all may be before the
 * position.
 */
function nextRowsOf(conditions: SQL, newer: number): SQL {
  const name = sql.placeholder('name')
  const types = Array.from({ length: newer }, (_, at) => sql.placeholder(`type${at}`))
  const next = (which: SQL): SQL =>
    sql`select sequence from ${events} where ${which} and ${conditions} order by sequence limit ${most} + 1`
  const rowsOf = [sql`type = ${name}`, ...types.map(one => sql`type = ${one} and newer_type = ${name}`)]
  const isNamed = sql.join(
    [sql`t.value = ${name}`, ...types.map(one => sql`(t.value = ${one} and newer_type ->> t.key = ${name})`)],
    sql` or `,
  )
  const isListed = newer > 0 ? sql`and exists (select 1 from json_each(list.type) t where ${isNamed})` : sql``
  const rows = rowsOf.map(which => sql`select sequence from (${next(which)})`)
  return sql`(select * from ${events} where sequence in (
    select sequence from (${sql.join(rows, sql` union `)}
      union select found.value from (${LISTS}
        select type from list where exists (
          select 1 from json_each(list.type) t where t.value in (${sql.join([name, ...types], sql`, `)}))) list
        cross join json_each((select json_group_array(sequence) from (${next(sql`type = list.type ${isListed}`)}))) found)
    order by sequence limit ${most} + 1))`
}

/** `newer`: how many older types may have the name as their newer one; undefined without a name. */
function eventsBy(form: Form, parts: readonly Part[], newer: number | undefined) {
  const name = sql.placeholder('name')
  const types = Array.from({ length: newer ?? 0 }, (_, at) => sql.placeholder(`type${at}`))
  const conditions = conditionsOf(form, parts)
  const isNamed = sql.join(
    [sql`e.type = ${name}`, ...types.map(one => sql`(e.type = ${one} and e.newer_type = ${name})`)],
    sql` or `,
  )
  const found =
    newer === undefined
      ? nextEvents(
          sql`(select * from ${events} where ${conditions} order by sequence limit ${most})`,
          sql`${position}`,
          sql`${most}`,
        )
      : eachEvent(nextRowsOf(conditions, newer))
  return statement(build =>
    build
      .select(COLUMNS[form] as (typeof COLUMNS)['events'])
      .from(sql`${found} e`)
      .where(sql`e.sequence > ${position} ${newer === undefined ? sql`` : sql`and (${isNamed})`}`)
      .orderBy(sql`e.sequence`)
      .limit(most),
  )
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
  const name = filter.name ?? filter.type
  const newer = filter.name === undefined ? [] : typesNamed(filter.name)
  const types = name === undefined ? undefined : newer.filter(one => one !== name)
  const key = [form, ...parts, types?.length].join()
  const kept = statements.get(key) ?? eventsBy(form, parts, types?.length)
  statements.set(key, kept)
  const byType = Object.fromEntries(types?.map((one, at) => [`type${at}`, one]) ?? [])
  const page = database.bind(kept, { ...filter, ...byType, name, position, most })
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
      sql`select (select at from ${events} where ${sequence} > ${position} order by ${sequence} limit 1) as next,
        coalesce((select at from ${events} order by ${sequence} desc limit 1), 0) as last`,
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

/** Far more than an operation on the largest policy causes. */
const MOST_OF_REQUEST = 20_000

export async function findEvent(database: Database, event: Uuid): Promise<EventRow | undefined> {
  const [here, shared] = rowLocators(event)
  const rows = sql`(select * from ${events} where locator in (${here}, ${shared}))`
  const [found] = await database.batch([
    database.build
      .select(EVENT_COLUMNS)
      .from(sql`${eachEvent(rows)} e`)
      .where(sql`e.locator = ${event}`),
  ])
  return found[0]
}

/** Events of one shard, in the order of the stream. */
export async function eventsOfRequest(database: Database, request: Uuid): Promise<EventRow[]> {
  const { from, to } = boundsOfEvents(request)
  const rows = sql`(select * from ${events} where request_id = ${request} and sequence in (
    select sequence from ${events} where locator between ${from} and ${to}
    union select sequence from ${events} where request_id = ${request} and ${NOT_BY_REQUEST}))`
  const [found] = await database.batch([
    database.build
      .select(EVENT_COLUMNS)
      .from(sql`${eachEvent(rows)} e`)
      .orderBy(sql`e.sequence`)
      .limit(MOST_OF_REQUEST),
  ])
  return found
}
