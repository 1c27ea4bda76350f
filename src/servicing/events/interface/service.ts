import { notFound, Refusal } from '../../../kernel/errors.ts'
import { readUuid, shardOfUuid } from '../../../kernel/locators.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { isAnyEventType } from '../../../platform/events/types.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import { readPage } from '../stream/page.ts'
import type { EventListQuery, EventResponse, EventStreamResponse } from './contract.ts'
import { eventResponse } from './response.ts'
import { eventsOfRequest, findEvent } from './store.ts'

const DEFAULT_PAGE_SIZE = 100

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
