import { getTableColumns, inArray, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { boundsOfEvents, type Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { snakeCase } from '../../../platform/database/rows.ts'
import { type Database, statement } from '../../../platform/database.ts'
import { eventsOfRow, FIRST_TYPE, IS_LIST, nextRows, rowLocators } from '../../../platform/events/rows.ts'
import { events, NOT_BY_REQUEST, type StoredEvent } from '../../../platform/events/tables.ts'
import { typesNamed, unstreamedTypes } from '../../../platform/events/types.ts'

export type StreamFilter = {
  /** Inclusive. */
  start?: Instant
  /** Exclusive. */
  end?: Instant
  type?: string
  /** An older or a newer name. */
  name?: string
}

/** The stream, or the events interface, which also has types that the stream does not show. */
export type View = 'stream' | 'events'

const { sequence } = events

/** The columns of the rows of a query that is named `e`. */
const COLUMNS = Object.fromEntries(
  Object.entries(getTableColumns(events)).map(([key, column]) => [
    key,
    sql`${sql.raw(`e.${snakeCase(key)}`)}`.mapWith(column).as(snakeCase(key)),
  ]),
) as { [Key in keyof StoredEvent]: SQL.Aliased<StoredEvent[Key]> }

/**
 * SQL for the first sequence at or after a time: no event from that time on has a smaller sequence, and none from this sequence on
 * is earlier. Time never goes backwards along the stream, so a binary search over sequences needs no index of times.
 */
export function firstSequenceFrom(time: Placeholder | number): SQL {
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

/** Conditions on a row. Its events have one time. There is one lower bound, because of two SQLite may read from either. */
function conditionsOf(view: View, parts: readonly Part[]): SQL {
  const from = parts.includes('start')
    ? sql`max(${position}, ${firstSequenceFrom(sql.placeholder('start'))} - 1)`
    : sql`${position}`
  const conditions = [
    sql`sequence > ${from}`,
    ...(parts.includes('end') ? [sql`sequence < ${firstSequenceFrom(sql.placeholder('end'))}`] : []),
    ...(skipsTypes(view, parts) ? [IS_STREAMED] : []),
  ]
  return sql.join(conditions, sql` and `)
}

/** Excludes types that the stream does not show. A reader passes each such row once, since its position moves past it. */
const IS_STREAMED = sql`${FIRST_TYPE} not in (${sql.raw(unstreamedTypes.map(one => `'${one}'`).join(', '))})`

const skipsTypes = (view: View, parts: readonly Part[]): boolean =>
  view === 'stream' && !parts.includes('type')

/** Each distinct list of types, found by one step in the index of types per list. */
const LISTS = sql`with recursive list (type) as (
  select (select type from ${events} where ${IS_LIST} order by type limit 1)
  union all
  select (select type from ${events} where type > list.type and ${IS_LIST} order by type limit 1) from list where list.type is not null)`

/**
 * SQL for the next rows with events of a name, which may be an older or a newer name: `newer` older types may have it as their
 * newer name. Each type has an index in order, and so has each list of types; an `or` would sort all events. It reads one row more
 * than the number of events, because in the first row all events may be before the position.
 */
function nextRowsOf(conditions: SQL, newer: number): SQL {
  const name = sql.placeholder('name')
  const types = Array.from({ length: newer }, (_, at) => sql.placeholder(`type${at}`))
  const nextSequences = (which: SQL): SQL =>
    sql`select sequence from ${events} where ${which} and ${conditions} order by sequence limit ${most} + 1`
  const rowsOf = [sql`type = ${name}`, ...types.map(one => sql`type = ${one} and newer_type = ${name}`)]
  const isNamed = sql.join(
    [sql`t.value = ${name}`, ...types.map(one => sql`(t.value = ${one} and newer_type ->> t.key = ${name})`)],
    sql` or `,
  )
  const isListed = newer > 0 ? sql`and exists (select 1 from json_each(list.type) t where ${isNamed})` : sql``
  const rows = rowsOf.map(which => sql`select sequence from (${nextSequences(which)})`)
  return sql`(select * from ${events} where sequence in (
    select sequence from (${sql.join(rows, sql` union `)}
      union select found.value from (${LISTS}
        select type from list where exists (
          select 1 from json_each(list.type) t where t.value in (${sql.join([name, ...types], sql`, `)}))) list
        cross join json_each((select json_group_array(sequence) from (${nextSequences(sql`type = list.type ${isListed}`)}))) found)
    order by sequence limit ${most} + 1))`
}

/** The rows with the next events. `newer`: how many older types may have the name as their newer one; undefined without a name. */
function rowsBy(view: View, parts: readonly Part[], newer: number | undefined) {
  const conditions = conditionsOf(view, parts)
  const found =
    newer === undefined
      ? nextRows(
          sql`(select * from ${events} where ${conditions} order by sequence limit ${most})`,
          sql`${position}`,
          sql`${most}`,
        )
      : nextRowsOf(conditions, newer)
  return statement(build => build.select(COLUMNS).from(sql`${found} e`).orderBy(sql`e.sequence`))
}

/** Prepared statements by view, parts of the filter and number of types: fewer than a hundred. */
const statements = new Map<string, ReturnType<typeof rowsBy>>()

const lastSequence = statement(build =>
  build.select({ last: sql<number>`coalesce(max(${sequence}), 0)` }).from(events),
)

/**
 * Returns the events of one shard after a position, in order of commit. `reached` is how far the shard was read: to the last event
 * of a full page, or to the end of the shard.
 */
export async function eventsAfter(
  database: Database,
  view: View,
  position: number,
  filter: StreamFilter,
  most: number,
): Promise<{ rows: StoredEvent[]; reached: number }> {
  const parts = (['type', 'start', 'end'] as const).filter(part => filter[part] !== undefined)
  const name = filter.name ?? filter.type
  const newer = filter.name === undefined ? [] : typesNamed(filter.name)
  const types = name === undefined ? undefined : newer.filter(one => one !== name)
  const key = [view, ...parts, types?.length].join()
  const kept = statements.get(key) ?? rowsBy(view, parts, types?.length)
  statements.set(key, kept)
  const byType = Object.fromEntries(types?.map((one, at) => [`type${at}`, one]) ?? [])
  const page = database.bind(kept, { ...filter, ...byType, name, position, most })
  const isWanted = ({ sequence, type, newerType }: StoredEvent): boolean =>
    sequence > position &&
    (types === undefined ||
      type === name ||
      (newerType === name && (types as readonly string[]).includes(type)))
  const eventsIn = (found: readonly StoredEvent[]): StoredEvent[] =>
    found.flatMap(eventsOfRow).filter(isWanted).slice(0, most)
  if (!skipsTypes(view, parts)) {
    const [found] = await database.batch([page])
    const rows = eventsIn(found)
    return { rows, reached: rows.at(-1)?.sequence ?? position }
  }
  const [found, [end]] = await database.batch([page, database.bind(lastSequence, {})])
  const rows = eventsIn(found)
  return { rows, reached: rows.length < most ? end!.last : rows.at(-1)!.sequence }
}

/** Returns the time of the first event after the position, if there is one, and of the last event; 0 for none. */
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

/** Far more than an operation on the largest policy causes. */
const MOST_OF_REQUEST = 20_000

/** Returns one event, although it may share its row with others; undefined if the shard does not have it. */
export async function findEvent(database: Database, event: Uuid): Promise<StoredEvent | undefined> {
  const [found] = await database.batch([
    database.build
      .select()
      .from(events)
      .where(inArray(events.locator, rowLocators(event))),
  ])
  return found.flatMap(eventsOfRow).find(({ locator }) => locator === event)
}

/** Returns the events of one shard, in the order of the stream. */
export async function eventsOfRequest(database: Database, request: Uuid): Promise<StoredEvent[]> {
  const { from, to } = boundsOfEvents(request)
  const [found] = await database.batch([
    database.build
      .select()
      .from(events)
      .where(
        sql`request_id = ${request} and sequence in (
          select sequence from ${events} where locator between ${from} and ${to}
          union select sequence from ${events} where request_id = ${request} and ${NOT_BY_REQUEST})`,
      )
      .orderBy(sequence)
      .limit(MOST_OF_REQUEST),
  ])
  return found.flatMap(eventsOfRow).slice(0, MOST_OF_REQUEST)
}
