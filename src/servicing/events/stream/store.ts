import { and, asc, eq, gt, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { unionAll } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { type Database, statement } from '../../../platform/database.ts'
import { events } from '../../../platform/events/tables.ts'
import { unstreamedTypes } from '../../../platform/events/types.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import type { EventRow } from './response.ts'

/** The tenant's databases, by shard. */
export const shardDatabases = ({
  env,
  tenant,
  calls,
}: Pick<RequestContext, 'env' | 'tenant' | 'calls'>): Database[] =>
  tenant.shards.map((_, shard) => shardDatabase(env, tenant, shard, calls))

export type StreamFilter = {
  /** Events from this time on. */
  start?: Instant
  /** Events before this time. */
  end?: Instant
  type?: string
  /** A type by its older name or by its newer. */
  name?: string
}

const { sequence, locator, at, type, newerType, data, username, accountLocator, requestId } = events

/** An Event of the contract as JSON: `data` is stored as such, and to parse and write it again would be most of a page's work. */
const json = (more: SQL) =>
  sql<string>`'{"id":"' || ${locator} || '","timestamp":"' || ${at} || '","type":' || json_quote(${type}) || ',"data":' || ${data} || ${more} || '}'`.as(
    'json',
  )

/** What each form of a page shows of an event: nothing else is read, and each column more costs as much as the text in it. */
const COLUMNS = {
  stream: { sequence, at, json: json(sql`''`) },
  attributed: { sequence, at, json: json(sql`',"username":' || json_quote(${username})`) },
  events: { sequence, at, locator, type, data, username, newerType, accountLocator, requestId },
}

/** A form of a page: of the stream there are two. */
export type Form = keyof typeof COLUMNS

/** The first event of that time or later. Time never goes back along the stream, so it bounds a span of it. */
const firstFrom = (time: Placeholder) =>
  sql`(select sequence from ${events} where at >= ${time} order by at, sequence limit 1)`

type Part = Exclude<keyof StreamFilter, 'name'>

/** What each part of a filter asks of an event. */
const CONDITIONS: Readonly<Record<Part, SQL>> = {
  type: sql`${type} = ${sql.placeholder('type')}`,
  start: sql`${sequence} >= ${firstFrom(sql.placeholder('start'))}`,
  end: sql`${sequence} < coalesce(${firstFrom(sql.placeholder('end'))}, ${Number.MAX_SAFE_INTEGER})`,
}

/** Without a type, the stream skips types that it does not show. A reader skips each such row once, since page tokens go past it. */
const IS_STREAMED = sql`${type} not in (${sql.raw(unstreamedTypes.map(one => `'${one}'`).join(', '))})`

const passesOver = (form: Form, parts: readonly Part[]): boolean =>
  form !== 'events' && !parts.includes('type')

function eventsBy(form: Form, parts: readonly Part[], isByName: boolean) {
  const after = [
    gt(sequence, sql.placeholder('position')),
    ...parts.map(part => CONDITIONS[part]),
    ...(passesOver(form, parts) ? [IS_STREAMED] : []),
  ]
  const matching = (build: DrizzleD1Database, ...more: SQL[]) =>
    build
      .select(COLUMNS[form] as (typeof COLUMNS)['events'])
      .from(events)
      .where(and(...after, ...more))
  // An index for each name gives its events in order, and the two are merged: an `or` would sort all that there are.
  return statement(build =>
    isByName
      ? unionAll(
          matching(build, eq(type, sql.placeholder('name'))),
          matching(build, eq(newerType, sql.placeholder('name'))),
        )
          .orderBy(asc(sequence))
          .limit(sql.placeholder('most'))
      : matching(build).orderBy(asc(sequence)).limit(sql.placeholder('most')),
  )
}

/** By form and the parts of the filter that are given: thirty-six at most. */
const statements = new Map<string, ReturnType<typeof eventsBy>>()

const lastSequence = statement(build =>
  build.select({ last: sql<number>`coalesce(max(${sequence}), 0)` }).from(events),
)

/** Events of one shard after a position, in order of commit, and how far the shard was read: to the last event, or to its end. */
export async function eventsAfter<F extends Form>(
  database: Database,
  form: F,
  position: number,
  filter: StreamFilter,
  most: number,
): Promise<{ rows: StreamRow<F>[]; reached: number }> {
  const parts = (['type', 'start', 'end'] as const).filter(part => filter[part] !== undefined)
  const isByName = filter.name !== undefined
  const key = [form, ...parts, isByName].join()
  const kept = statements.get(key) ?? eventsBy(form, parts, isByName)
  statements.set(key, kept)
  const page = database.bind(kept, { ...filter, position, most })
  if (!passesOver(form, parts)) {
    const [rows] = await database.batch([page])
    return { rows: rowsOf<F>(rows), reached: rows.at(-1)?.sequence ?? position }
  }
  const [rows, [end]] = await database.batch([page, database.bind(lastSequence, {})])
  return { rows: rowsOf<F>(rows), reached: rows.length < most ? end!.last : rows.at(-1)!.sequence }
}

/** The time of the first event after a position, if there is one, and of the last event of all; 0 for none. */
export async function timesAround(
  database: Database,
  position: number,
): Promise<{ next: number | null; last: number }> {
  const [[row]] = await database.batch([
    database.build.all<{ next: number | null; last: number }>(
      sql`select (select ${at} from ${events} where ${sequence} > ${position} order by ${sequence} limit 1) as next,
        (select coalesce(max(${at}), 0) from ${events}) as last`,
    ),
  ])
  return row!
}

/** Typed as those of the widest form; a row has the columns of its own. */
const rowsOf = <F extends Form>(rows: readonly object[]): StreamRow<F>[] => rows as StreamRow<F>[]

type AllColumns = typeof events.$inferSelect

export type StreamRow<F extends Form> = F extends 'events'
  ? Pick<AllColumns, keyof (typeof COLUMNS)['events']>
  : Pick<AllColumns, 'sequence' | 'at'> & { readonly json: string }

const EVENT_COLUMNS = { locator, requestId, type, newerType, at, data, accountLocator }

/** Events of one request that are shown: far above what an operation on a policy of the largest size causes. */
const MOST_OF_REQUEST = 20_000

export async function findEvent(database: Database, event: Uuid): Promise<EventRow | undefined> {
  const [rows] = await database.batch([
    database.build.select(EVENT_COLUMNS).from(events).where(eq(locator, event)),
  ])
  return rows[0]
}

/** What a request caused in one shard, in the order of the stream. */
export async function eventsOfRequest(database: Database, request: Uuid): Promise<EventRow[]> {
  const [rows] = await database.batch([
    database.build
      .select(EVENT_COLUMNS)
      .from(events)
      .where(eq(requestId, request))
      .orderBy(asc(events.sequence))
      .limit(MOST_OF_REQUEST),
  ])
  return rows
}
