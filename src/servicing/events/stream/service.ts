import { createHmac, timingSafeEqual } from 'node:crypto'
import { notFound, Refusal } from '../../../kernel/errors.ts'
import { readUuid, shardOfUuid } from '../../../kernel/locators.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { isEventType } from '../../../platform/events/catalogue.ts'
import { isAnyEventType, isCustomEventType, isStreamed } from '../../../platform/events/types.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { shardDatabase, type Tenant } from '../../../platform/tenancy.ts'
import type { EventListQuery, EventResponse, EventStreamQuery, EventStreamResponse } from './contract.ts'
import { eventResponse } from './response.ts'
import {
  eventsAfter,
  eventsOfRequest,
  type Form,
  findEvent,
  type StreamFilter,
  type StreamRow,
  timesAround,
} from './store.ts'

const DEFAULT_PAGE_SIZE = 100

const FILTERS = ['startTimestamp', 'endTimestamp', 'eventType'] as const

/** A page of the stream, oldest first; `attributed`: with who caused each event. One round trip for each shard. */
export async function readStream(
  query: EventStreamQuery,
  context: RequestContext,
  attributed: boolean,
): Promise<JsonText> {
  const form = attributed ? 'attributed' : 'stream'
  const { rows, pagingToken } = await readPage(form, readingOf(query, context), context, query.pageSize)
  const events = rows.map(({ json }) => json)
  const text = `{"events":[${events.join(',')}],"pagingToken":${JSON.stringify(pagingToken)}}`
  return jsonText({ status: 200, text }, { events, pagingToken })
}

/**
 * Where to read from, and what. The first call names a filter; later ones name none, since the token has it (brief 9). `pageSize`
 * may accompany a token: it says how much to read.
 */
function readingOf(query: EventStreamQuery, { env, tenant }: RequestContext): Reading {
  const named = FILTERS.filter(filter => query[filter] !== undefined)
  if (query.pagingToken !== undefined) {
    if (named.length > 0)
      throw new Refusal(
        'invalidParameter',
        `With 'pagingToken' leave out ${named.map(name => `'${name}'`).join(' and ')}: the token has the filters of the first call.`,
      )
    const reading = readToken(env.SEALING_KEY, 'stream', tenant, query.pagingToken)
    if (reading.filter.type !== undefined) checkType(reading.filter.type, 'pagingToken')
    return reading
  }
  if (named.length === 0)
    throw new Refusal(
      'invalidParameter',
      "Name at least one of 'startTimestamp', 'endTimestamp' and 'eventType', or send the 'pagingToken' of the answer before; startTimestamp=0 begins with the first event.",
    )
  const { startTimestamp, endTimestamp, eventType } = query
  if (eventType !== undefined) checkType(eventType, 'eventType')
  return {
    filter: { start: startTimestamp, end: endTimestamp, type: eventType },
    pageSize: query.pageSize ?? DEFAULT_PAGE_SIZE,
    positions: [],
    restores: restoresOf(tenant),
  }
}

/** A type that is never written would read as one of which nothing has happened yet. */
function checkType(type: string, parameter: 'eventType' | 'pagingToken'): void {
  if (!isStreamed(type))
    throw new Refusal(
      'invalidParameter',
      `'${parameter}' asks for events of type '${type}', which the event stream does not have; read them with GET /event/{tenantLocator}/events/list?type=${type}, or with a webhook.`,
    )
  if (isEventType(type) || isCustomEventType(type)) return
  throw new Refusal(
    'invalidParameter',
    `'${parameter}' names '${type}', which is no type of event; name one in full, as 'policy.issue'. GET /event/events lists them.`,
  )
}

export async function readEvent(
  text: string,
  { env, tenant, calls }: RequestContext,
): Promise<EventResponse> {
  const locator = readUuid(text)
  const shard = locator && shardOfUuid(locator)
  const row =
    locator !== undefined && shard !== undefined && shard < tenant.shards.length
      ? await findEvent(shardDatabase(env, tenant, shard, calls), locator)
      : undefined
  if (!row) throw notFound('event', text)
  return eventResponse(row)
}

/** All events that one call caused, in order. 404 if there are none: calls that caused none are not recorded. */
export async function readEventsOfRequest(
  text: string,
  { env, tenant, calls }: RequestContext,
): Promise<EventResponse[]> {
  const request = readUuid(text)
  if (!request) throw noneOf(text)
  const shards = await Promise.all(
    tenant.shards.map((_, shard) => eventsOfRequest(shardDatabase(env, tenant, shard, calls), request)),
  )
  const rows = shards.flat()
  if (rows.length === 0) throw noneOf(text)
  return rows.map(eventResponse)
}

const noneOf = (request: string): Refusal =>
  new Refusal(
    'notFound',
    `There are no events of a request '${request}': it caused none, or there was no such request. Name the X-Request-Id of an answer.`,
  )

/** A page of the stream for the events interface, oldest first. A token may not be combined with anything (resources brief 8.1). */
export async function listEvents(
  query: EventListQuery,
  context: RequestContext,
): Promise<EventStreamResponse> {
  const { pagingToken, ...first } = query
  const named = Object.entries(first).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (pagingToken !== undefined && named.length > 0)
    throw new Refusal(
      'invalidParameter',
      `With 'pagingToken' leave out ${named.map(name => `'${name}'`).join(' and ')}: the token has what the first call asked for.`,
    )
  const { type, startTimestamp, endTimestamp, pageSize = DEFAULT_PAGE_SIZE } = first
  if (type !== undefined && !isAnyEventType(type))
    throw new Refusal(
      'invalidParameter',
      `'type' names '${type}', which is no type of event; name one in full, as 'policy.change.create' or 'endorsement.create'. GET /event/events lists them.`,
    )
  const reading = {
    filter: { start: startTimestamp, end: endTimestamp, name: type },
    pageSize,
    positions: [],
    restores: restoresOf(context.tenant),
  }
  const page = await readPage('events', pagingToken ?? reading, context)
  return { pagingToken: page.pagingToken, events: page.rows.map(eventResponse) }
}

// A page of the stream over all shards, for either of its views.
export type StreamPage<F extends Form> = {
  readonly rows: readonly StreamRow<F>[]
  readonly pagingToken: string
}

/** The next page: after a token of this view, or as a first call asks. Its token continues after it. One round trip per shard. */
export async function readPage<F extends Form>(
  form: F,
  from: string | Reading,
  context: RequestContext,
  pageSizeAsked?: number,
): Promise<StreamPage<F>> {
  const { env, tenant, calls } = context
  const view = form === 'events' ? 'events' : 'stream'
  const reading = typeof from === 'string' ? readToken(env.SEALING_KEY, view, tenant, from) : from
  const { filter, positions } = reading
  if (reading.restores < restoresOf(tenant)) throw await restoredSince(reading, context)
  const pageSize = pageSizeAsked ?? reading.pageSize
  const read = await Promise.all(
    tenant.shards.map((_, shard) =>
      eventsAfter(shardDatabase(env, tenant, shard, calls), form, positions[shard] ?? 0, filter, pageSize),
    ),
  )
  const rows = read.map(one => one.rows)
  const reached = read.map(one => one.reached)
  const page = mergeShards(rows, positions, pageSize, reached)
  return {
    rows: page.events,
    pagingToken: writeToken(env.SEALING_KEY, view, tenant, {
      filter,
      pageSize,
      positions: page.positions,
      restores: restoresOf(tenant),
    }),
  }
}

const restoresOf = ({ restores = [] }: Tenant): number => restores.length

/**
 * Refuses (409 `streamRestored`) a token of before a restore, since events that its reader has may be undone. The time to read from is
 * that of the first event that the reader has not had: sequences are never used again, so its position tells.
 */
async function restoredSince(
  { positions }: Reading,
  { env, tenant, calls }: RequestContext,
): Promise<Refusal> {
  const shards = await Promise.all(
    tenant.shards.map((_, shard) =>
      timesAround(shardDatabase(env, tenant, shard, calls), positions[shard] ?? 0),
    ),
  )
  const next = shards.flatMap(({ next }) => next ?? [])
  const timestamp = String(next.length > 0 ? Math.min(...next) : Math.max(...shards.map(({ last }) => last)))
  return new Refusal(
    'streamRestored',
    `The tenant was restored to an earlier time since this 'pagingToken' was given out: what happened after that time is undone, and other events have taken its place. Begin again with startTimestamp=${timestamp}.`,
    { timestamp },
  )
}

// One stream from many shards. Each shard orders its events by commit. The page merges them by time and remembers its position in
// each shard, so that none is skipped or repeated when a shard commits an earlier time later.

/** How far a reader came: for each shard the sequence of the last event taken, 0 before the first. */
export type Positions = readonly number[]

/**
 * At most `most` events, and the positions after them. Each list is in order and begins at its position. `reached`: how far each
 * shard was read. A list taken whole moves its position there, past events that the view leaves out.
 */
export function mergeShards<E extends { sequence: number; at: number }>(
  shards: readonly (readonly E[])[],
  positions: Positions,
  most: number,
  reached: Positions = [],
): { events: E[]; positions: Positions } {
  const position = (shard: number, taken: number): number => {
    const waiting = shards[shard]!
    const last = waiting[taken - 1]?.sequence ?? positions[shard] ?? 0
    return taken === waiting.length ? Math.max(last, reached[shard] ?? 0) : last
  }
  const [only] = shards
  if (only && shards.length === 1) {
    const events = only.slice(0, most)
    return { events, positions: [position(0, events.length)] }
  }
  const taken = shards.map(() => 0)
  const events: E[] = []
  while (events.length < most) {
    let earliest = -1
    for (const [shard, waiting] of shards.entries()) {
      const head = waiting[taken[shard]!]
      if (head && (earliest < 0 || head.at < shards[earliest]![taken[earliest]!]!.at)) earliest = shard
    }
    if (earliest < 0) break
    events.push(shards[earliest]![taken[earliest]!]!)
    taken[earliest]! += 1
  }
  return { events, positions: shards.map((_, shard) => position(shard, taken[shard]!)) }
}

// Paging tokens: a reader's position and filter, sealed against changes. They never expire, so the keys of SEALING_KEY are kept
// for good: the first seals, each of them opens what it sealed.
/** Whose token it is: one of the stream says nothing to the events interface. */
export type View = 'stream' | 'events'

/** All that the next call needs; the token never expires. */
export type Reading = {
  filter: StreamFilter
  pageSize: number
  positions: Positions
  /** How often the tenant had been restored when the reading began. */
  restores: number
}

/** Start, end, and type of the filter (the older name, or either), rows of a page, positions, restores. */
type Sealed = [
  start: number | null,
  end: number | null,
  type: string | null,
  size: number,
  at: number[],
  /** Missing in the oldest tokens: none. */
  restores?: number,
]

/** Over the tenant too: another's token does not fit. */
const sealOf = (key: string, view: View, tenant: Tenant, text: string): Buffer =>
  createHmac('sha256', key)
    .update(`paging of ${view}\n${tenant.locator}/${tenant.generation}\n${text}`)
    .digest()

function keysOf(keys: string | undefined): string[] {
  if (!keys) throw new Error('SEALING_KEY must be set.')
  return keys.split(',').map(key => key.trim())
}

/** `keys`: as in SEALING_KEY, several with commas in between. */
export function writeToken(
  keys: string,
  view: View,
  tenant: Tenant,
  { filter, pageSize, positions, restores }: Reading,
): string {
  const { start, end, type, name } = filter
  const sealed: Sealed = [
    start ?? null,
    end ?? null,
    type ?? name ?? null,
    pageSize,
    [...positions],
    restores,
  ]
  const text = Buffer.from(JSON.stringify(sealed)).toString('base64url')
  return `${text}.${sealOf(keysOf(keys)[0]!, view, tenant, text).toString('base64url')}`
}

/** What the token says; a Refusal `invalidParameter` when it is not one of this tenant's and of this view. */
export function readToken(keys: string, view: View, tenant: Tenant, token: string): Reading {
  const [text = '', seal = ''] = token.split('.')
  const given = Buffer.from(seal, 'base64url')
  const fits = keysOf(keys).some(key => {
    const right = sealOf(key, view, tenant, text)
    return given.length === right.length && timingSafeEqual(given, right)
  })
  if (!fits)
    throw new Refusal(
      'invalidParameter',
      "'pagingToken' is not one that this service gave out here; send it as it came, or begin again without it.",
    )
  const [start, end, type, pageSize, positions, restores = 0] = JSON.parse(
    Buffer.from(text, 'base64url').toString('utf8'),
  ) as Sealed
  return {
    filter: {
      start: start ?? undefined,
      end: end ?? undefined,
      [view === 'stream' ? 'type' : 'name']: type ?? undefined,
    } as StreamFilter,
    pageSize,
    positions,
    restores,
  }
}
