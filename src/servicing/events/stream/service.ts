import { notFound, Refusal } from '../../../kernel/errors.ts'
import { readUuid, shardOfUuid } from '../../../kernel/locators.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { isEventType } from '../../../platform/events/catalogue.ts'
import { isAnyEventType, isCustomEventType, isStreamed } from '../../../platform/events/types.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import type { EventListQuery, EventResponse, EventStreamQuery, EventStreamResponse } from './contract.ts'
import { type Reading, readPage, readToken } from './page.ts'
import { eventResponse } from './response.ts'
import { eventsOfRequest, findEvent } from './store.ts'

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
 * From where to read, and what. A first call names a filter; a call with a token names none, since the token has
 * them (brief 9). `pageSize` may stand beside a token: it says how much to read, not what.
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

/**
 * All events that one call caused, in the order of the state changes. 404 where there are none: a call that caused none
 * is not recorded, and looks the same as one that never was.
 */
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

/**
 * A page of the stream as the interface shows it, oldest first; all of it from the beginning when nothing is asked.
 * Beside a token there may be nothing else (resources brief 8.1).
 */
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
  }
  const page = await readPage('events', pagingToken ?? reading, context)
  return { pagingToken: page.pagingToken, events: page.rows.map(eventResponse) }
}
