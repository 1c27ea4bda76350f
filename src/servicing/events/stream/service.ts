import { Refusal } from '../../../kernel/errors.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { isEventType } from '../../../platform/events/catalogue.ts'
import { isCustomEventType, isStreamed } from '../../../platform/events/types.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import type { EventStreamQuery } from '../contract.ts'
import { readPage } from './page.ts'
import { type Reading, readToken } from './token.ts'

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
