// The event stream and the events interface: two views of the same rows, paged over all shards.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidParameter, notFound, Refusal } from '../../../kernel/errors.ts'
import { readUuid } from '../../../kernel/locators.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { isEventType } from '../../../platform/events/catalogue.ts'
import type { StoredEvent } from '../../../platform/events/tables.ts'
import { isAnyEventType, isCustomEventType, isStreamed } from '../../../platform/events/types.ts'
import { recordPlace, shardDatabases, type Tenant } from '../../../platform/tenancy.ts'
import type { Order } from '../../../platform/wire.ts'
import type {
  EventListQuery,
  EventPageResponse,
  EventResponse,
  EventStreamQuery,
  EventStreamResponse,
} from './contract.ts'
import { eventResponse } from './response.ts'
import * as store from './store.ts'

const DEFAULT_PAGE_SIZE = 100

/** Returns events, oldest first. `attributed` adds the user who caused each event. One round trip for each shard. */
export async function readStream(
  query: EventStreamQuery,
  context: RequestContext,
  attributed: boolean,
): Promise<EventPageResponse> {
  const { rows, pagingToken } = await readPage('stream', streamReading(query, context), context)
  const events = rows.map(({ locator, at, type, data, username }) => ({
    id: locator,
    timestamp: String(at),
    type,
    data,
    ...(attributed && { username }),
  }))
  return { events, pagingToken } as EventPageResponse
}

/**
 * Returns where to start, and the filter. The first call names a filter. Later calls get it from the token and may not name one
 * (brief 9). `pageSize` may accompany a token.
 */
function streamReading(
  { pageSize, pagingToken, ...filters }: EventStreamQuery,
  context: RequestContext,
): Reading {
  if (pagingToken !== undefined) {
    refuseBesideToken(filters)
    const reading = readToken(context.env.SEALING_KEY, 'stream', context.tenant, pagingToken)
    if (reading.filter.type !== undefined) checkType(reading.filter.type, 'pagingToken')
    return { ...reading, pageSize: pageSize ?? reading.pageSize }
  }
  const { startTimestamp: start, endTimestamp: end, eventType: type } = filters
  if (start === undefined && end === undefined && type === undefined)
    throw invalidParameter(
      "Send at least one of 'startTimestamp', 'endTimestamp' and 'eventType', or the 'pagingToken' of the previous response. startTimestamp=0 begins with the first event.",
    )
  if (type !== undefined) checkType(type, 'eventType')
  return firstReading({ start, end, type }, context, pageSize)
}

function refuseBesideToken(parameters: object): void {
  const named = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`'${name}'`],
  )
  if (named.length > 0)
    throw invalidParameter(
      `With 'pagingToken', leave out ${named.join(' and ')}: the token contains the filters of the first call.`,
    )
}

const firstReading = (
  filter: store.StreamFilter,
  { tenant }: RequestContext,
  pageSize = DEFAULT_PAGE_SIZE,
) => ({
  filter,
  pageSize,
  positions: [],
  restores: restoresOf(tenant),
})

/** Rejects types that the stream never shows. An empty page would suggest that no such event has happened yet. */
function checkType(type: string, parameter: 'eventType' | 'pagingToken'): void {
  if (!isStreamed(type))
    throw invalidParameter(
      `'${parameter}' selects events of type '${type}', which the event stream does not have. Read them with GET /event/{tenantLocator}/events/list?type=${type}, or with a webhook.`,
    )
  if (!isEventType(type) && !isCustomEventType(type))
    throw invalidParameter(
      `'${parameter}' names '${type}', which is not a type of event. Name one in full, such as 'policy.issue'. GET /event/events lists them.`,
    )
}

/** Throws 404 if there is no such event. Takes one round trip. */
export async function readEvent(text: string, context: RequestContext): Promise<EventResponse> {
  const { database, locator } = recordPlace(context, text, 'event')
  const row = await store.findEvent(database, locator)
  if (!row) throw notFound('event', text)
  return eventResponse(row)
}

/** Returns the events in order. Throws 404 if there are none, because calls that caused no events are not recorded. */
export async function readEventsOfRequest(text: string, context: RequestContext): Promise<EventResponse[]> {
  const request = readUuid(text)
  const shards = request
    ? await Promise.all(shardDatabases(context).map(database => store.eventsOfRequest(database, request)))
    : []
  const rows = shards.flat()
  if (rows.length === 0)
    throw new Refusal(
      'notFound',
      `There are no events of a request '${text}': it caused none, or it does not exist. Send the X-Request-Id of a response.`,
    )
  return rows.map(eventResponse)
}

/** Lists events, oldest first. A token may not be combined with other parameters (resources brief 8.1). */
export async function listEvents(
  { pagingToken: token, ...first }: EventListQuery,
  context: RequestContext,
): Promise<EventStreamResponse> {
  if (token !== undefined) refuseBesideToken(first)
  const { type, startTimestamp: start, endTimestamp: end, pageSize } = first
  if (type !== undefined && !isAnyEventType(type))
    throw invalidParameter(
      `'type' names '${type}', which is not a type of event. Name one in full, such as 'policy.change.create' or 'endorsement.create'. GET /event/events lists them.`,
    )
  const reading =
    token === undefined
      ? firstReading({ start, end, name: type }, context, pageSize)
      : readToken(context.env.SEALING_KEY, 'events', context.tenant, token)
  const { rows, pagingToken } = await readPage('events', reading, context)
  return { pagingToken, events: rows.map(eventResponse) }
}

/**
 * Returns the next page of a view, and the token that continues after it: one round trip for each shard. Rejects with 409 a token
 * from before a restore.
 */
async function readPage(
  view: store.View,
  reading: Reading,
  context: RequestContext,
): Promise<{ readonly rows: readonly StoredEvent[]; readonly pagingToken: string }> {
  const { env, tenant } = context
  const { filter, positions, pageSize } = reading
  if (reading.restores < restoresOf(tenant)) throw await streamRestored(reading, context)
  const read = await Promise.all(
    shardDatabases(context).map((database, shard) =>
      store.eventsAfter(database, view, positions[shard] ?? 0, filter, pageSize),
    ),
  )
  const page = mergeShards(
    read.map(({ rows }) => rows),
    positions,
    pageSize,
    read.map(({ reached }) => reached),
  )
  const next = { filter, pageSize, positions: page.positions, restores: restoresOf(tenant) }
  return { rows: page.events, pagingToken: writeToken(env.SEALING_KEY, view, tenant, next) }
}

const restoresOf = ({ restores = [] }: Tenant): number => restores.length

/**
 * The error (409 `streamRestored`) for a token from before a restore, because events that its reader has seen may be undone. It
 * names the time of the first event that the reader has not seen, found by position, since sequences are never reused.
 */
async function streamRestored({ positions }: Reading, context: RequestContext): Promise<Refusal> {
  const shards = await Promise.all(
    shardDatabases(context).map((database, shard) => store.timesAround(database, positions[shard] ?? 0)),
  )
  const next = shards.flatMap(({ next }) => next ?? [])
  const timestamp = String(next.length > 0 ? Math.min(...next) : Math.max(...shards.map(({ last }) => last)))
  return new Refusal(
    'streamRestored',
    `The tenant was restored to an earlier time since this 'pagingToken' was issued: later events are undone, and other events have replaced them. Begin again with startTimestamp=${timestamp}.`,
    { timestamp },
  )
}

/** The last sequence taken, by shard; 0 before the first. Not times, since a shard may commit an earlier time later. */
export type Positions = readonly number[]

/**
 * Merges at most `most` events by time, with each list in `order`, and returns the new positions. Each list is in order of commit
 * and begins after its position, so no event is skipped or repeated when a shard commits an earlier time later. A list that is
 * taken completely moves its position to `reached`, past events that the view leaves out.
 */
export function mergeShards<E extends { sequence: number; at: number }>(
  shards: readonly (readonly E[])[],
  positions: Positions,
  most: number,
  reached: Positions = [],
  order: Order = 'oldestFirst',
): { events: E[]; positions: Positions } {
  const position = (shard: number, taken: number): number => {
    const waiting = shards[shard]!
    const last = waiting[taken - 1]?.sequence ?? positions[shard] ?? 0
    return taken === waiting.length ? Math.max(last, reached[shard] ?? 0) : last
  }
  // Of several events with one time, the event of the lower shard is the older.
  const isBefore = (a: E, b: E): boolean => (order === 'newestFirst' ? a.at >= b.at : a.at < b.at)
  const [only] = shards
  if (only && shards.length === 1) {
    const events = only.slice(0, most)
    return { events, positions: [position(0, events.length)] }
  }
  const taken = shards.map(() => 0)
  const events: E[] = []
  while (events.length < most) {
    let next = -1
    for (const [shard, waiting] of shards.entries()) {
      const head = waiting[taken[shard]!]
      if (head && (next < 0 || isBefore(head, shards[next]![taken[next]!]!))) next = shard
    }
    if (next < 0) break
    events.push(shards[next]![taken[next]!]!)
    taken[next]! += 1
  }
  return { events, positions: shards.map((_, shard) => position(shard, taken[shard]!)) }
}

/** Everything that the next call needs, since the server keeps no state of a reader. */
export type Reading = {
  filter: store.StreamFilter
  pageSize: number
  positions: Positions
  /** The number of restores of the tenant when the reading began. */
  restores: number
}

/** The JSON in a token. Tokens never expire, so a new part goes at the end and stays optional. */
type Sealed = [
  start: number | null,
  end: number | null,
  type: string | null,
  size: number,
  at: number[],
  /** Missing in the oldest tokens. */
  restores?: number,
]

/** Returns the seal of a token. It covers the tenant, so tokens of other tenants are rejected. */
const sealOf = (key: string, view: store.View, tenant: Tenant, text: string): Buffer =>
  createHmac('sha256', key)
    .update(`paging of ${view}\n${tenant.locator}/${tenant.generation}\n${text}`)
    .digest()

/** Returns the keys, separated by commas. Tokens never expire, so keys stay for good: the first seals, any of them opens. */
function keysOf(keys: string | undefined): string[] {
  if (!keys) throw new Error('SEALING_KEY must be set.')
  return keys.split(',').map(key => key.trim())
}

/** Writes a token. A token of one view is invalid in the other. */
export function writeToken(
  keys: string,
  view: store.View,
  tenant: Tenant,
  { filter, pageSize, positions, restores }: Reading,
): string {
  const { start, end, type, name } = filter
  const parts = [start ?? null, end ?? null, type ?? name ?? null] as const
  const sealed: Sealed = [...parts, pageSize, [...positions], restores]
  const text = Buffer.from(JSON.stringify(sealed)).toString('base64url')
  return `${text}.${sealOf(keysOf(keys)[0]!, view, tenant, text).toString('base64url')}`
}

/** Reads a token. Rejects with `invalidParameter` a token that is not of this tenant and view. */
export function readToken(keys: string, view: store.View, tenant: Tenant, token: string): Reading {
  const [text = '', seal = ''] = token.split('.')
  const given = Buffer.from(seal, 'base64url')
  const fits = keysOf(keys).some(key => {
    const right = sealOf(key, view, tenant, text)
    return given.length === right.length && timingSafeEqual(given, right)
  })
  if (!fits)
    throw invalidParameter(
      "'pagingToken' was not issued by this endpoint. Send it unchanged, or start again without it.",
    )
  const [start, end, type, pageSize, positions, restores = 0] = JSON.parse(
    Buffer.from(text, 'base64url').toString('utf8'),
  ) as Sealed
  const named = { [view === 'stream' ? 'type' : 'name']: type ?? undefined }
  const filter = { start: start ?? undefined, end: end ?? undefined, ...named } as store.StreamFilter
  return { filter, pageSize, positions, restores }
}
