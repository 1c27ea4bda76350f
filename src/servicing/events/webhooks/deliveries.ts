// Deliveries of a webhook, diverted events (resources brief 7.2), redelivery, and test events.

import { auditRows } from '../../../access/audit/store.ts'
import { invalidParameter, invalidRequest, notFound, tooLarge } from '../../../kernel/errors.ts'
import { newUuid, readUuid, SHARDS, shardOfUuid } from '../../../kernel/locators.ts'
import { now } from '../../../kernel/time.ts'
import { answerForRepeat, commit, isBySubject, unlessRepeated } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { announce } from '../../../platform/events/outbox.ts'
import type { AttemptMade } from '../../../platform/events/tables.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, shardDatabases } from '../../../platform/tenancy.ts'
import { resolveHeaders } from '../../../reference/secrets/sending.ts'
import { attemptDelivery, failureMessage, isSuccess, triggerOf } from '../delivery/serve.ts'
import type { Webhook } from '../delivery/webhook.ts'
import { deliveredType, webhookEvent } from '../stream/response.ts'
import { mergeShards } from '../stream/service.ts'
import type * as contract from './contract.ts'
import { assertActive, webhookAt } from './service.ts'
import * as store from './store.ts'

/** The number of events that one request may redeliver. More are rejected with 413. */
const MOST_REDELIVERED = 10_000

const isoOf = (at: number): string => new Date(at).toISOString()

/** Returns deliveries in the order of the events, or in reverse order. One round trip for each shard. */
export async function readDeliveries(
  webhookLocator: string,
  { pageSize, pagingToken, order, eventLocator, ...filter }: contract.DeliveryListQuery,
  context: RequestContext,
): Promise<contract.DeliveryListResponse> {
  const { locator, eventTypes } = await webhookAt(webhookLocator, context)
  const positions = readPositions(pagingToken)
  const wanted = { ...filter, eventLocator: eventLocator?.toLowerCase() }
  const shards = await Promise.all(
    shardDatabases(context).map((database, shard) =>
      store.deliveriesAfter(database, locator, positions[shard] ?? 0, wanted, pageSize + 1, order),
    ),
  )
  const page = mergeShards(shards, positions, pageSize, [], order)
  const listCompleted = shards.flat().length <= pageSize
  return {
    listCompleted,
    items: page.events.map(delivery => deliveryResponse(delivery, eventTypes)),
    ...(!listCompleted && { pagingToken: Buffer.from(JSON.stringify(page.positions)).toString('base64url') }),
  }
}

const POSITIONS = /^\[(?:0|[1-9]\d{0,14})(?:,(?:0|[1-9]\d{0,14}))*\]$/

/** Returns the last sequence read, by shard. */
function readPositions(token: string | undefined): number[] {
  if (token === undefined) return []
  const text = Buffer.from(token, 'base64url').toString('latin1')
  const positions = POSITIONS.test(text) ? (JSON.parse(text) as number[]) : undefined
  if (positions && positions.length <= SHARDS) return positions
  throw invalidParameter(
    "'pagingToken' was not issued by this list. Send the token of the previous page, or none to start.",
  )
}

function deliveryResponse(
  delivery: store.ListedDelivery,
  eventTypes: readonly string[],
): contract.DeliveryResponse {
  const { locator, requestId, at, sequence, state, outcome, dueAt, finishedAt, log } = delivery
  return {
    eventLocator: locator,
    requestLocator: requestId,
    eventType: deliveredType(delivery, eventTypes),
    eventTimestamp: isoOf(at),
    sequence,
    state,
    ...(outcome !== null && { outcome }),
    ...(state === 'pending' && { dueAt: isoOf(dueAt) }),
    ...(finishedAt !== null && { finishedAt: isoOf(finishedAt) }),
    attempts: (JSON.parse(log) as AttemptMade[]).map(attemptResponse),
  }
}

const attemptResponse = (made: AttemptMade): contract.DeliveryAttemptResponse => ({
  timestamp: isoOf(made.at),
  outcome: made.outcome,
  ...(/^\d+$/.test(made.outcome) && { status: Number(made.outcome) }),
  durationMs: made.durationMs,
  ...(made.excerpt !== undefined && { excerpt: made.excerpt }),
})

/**
 * Sends events of the webhook's types again, in order: named events or those of a time span, including events from before the
 * webhook existed. Throws 400 for names of other events and 413 for more than 10,000.
 */
export async function redeliver(
  webhookLocator: string,
  request: contract.RedeliverRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await answerOnce(context, async () => {
    const webhook = await webhookAt(webhookLocator, context)
    assertActive(webhook)
    const { choice, count } = await findSelectedEvents(
      context,
      request,
      (database, some) => store.readSelectedEvents(database, webhook.locator, some, MOST_REDELIVERED + 1),
      'events that the types of the webhook do not include',
    )
    if (count > MOST_REDELIVERED)
      throw tooLarge(
        `There are more than ${MOST_REDELIVERED} events between 'from' and 'to'. Send a shorter period.`,
      )
    const details = { redelivered: count, ...('eventLocators' in choice ? {} : choice) }
    return await changeInShards(context, webhook, {
      change: store.redeliver,
      choice,
      details,
      response: { events: count },
    })
  })
}

/** Posts a `webhook.test` event once, in any state of the webhook, and returns how that went. No stream contains the event. */
export async function testWebhook(
  webhookLocator: string,
  context: RequestContext,
): Promise<contract.TestDeliveryResponse> {
  const { locator, name, endpoint, eventTypes } = await webhookAt(webhookLocator, context)
  const { accountLocator, username } = context.caller
  const event = {
    sequence: 0,
    locator: newUuid(HOME_SHARD),
    requestId: context.requestId,
    type: 'webhook.test',
    newerType: null,
    at: context.now,
    data: { webhookLocator: locator, webhookName: name },
    accountLocator,
    username,
  }
  const headers = await resolveHeaders(context, endpoint.headers, endpoint.url)
  const body = JSON.stringify(webhookEvent(event, eventTypes))
  const { outcome, made } = await attemptDelivery(context.env, endpoint, headers, { id: event.locator, body })
  return { eventLocator: event.locator, delivered: isSuccess(outcome), ...attemptResponse(made) }
}

const divertedResponse = (diverted: store.Diverted): contract.DivertedEventResponse => ({
  requestLocator: diverted.requestId,
  eventLocator: diverted.locator,
  failureTrigger: triggerOf(diverted.outcome),
  failureMessage: failureMessage(diverted.outcome),
  failureTimestamp: isoOf(diverted.divertedAt),
})

/** Returns a page of diverted events over all shards, in the order of the events. Throws 404 if there is no such webhook. */
export async function readDivertedEvents(
  webhookLocator: string,
  { offset, count }: contract.DivertedListQuery,
  context: RequestContext,
): Promise<contract.DivertedEventResponse[]> {
  const { locator } = await webhookAt(webhookLocator, context)
  return (await store.listDiverted(context, locator, offset, count)).map(divertedResponse)
}

/** Throws 404 if there is no such webhook, or it has not diverted the event. */
export async function readDivertedEvent(
  webhookLocator: string,
  eventLocator: string,
  context: RequestContext,
): Promise<contract.DivertedEventResponse> {
  const { locator } = await webhookAt(webhookLocator, context)
  return divertedResponse((await divertedAt(locator, eventLocator, context)).diverted)
}

/** Sends a diverted event again. It leaves the list when a 2xx comes. */
export async function resendDivertedEvent(
  webhookLocator: string,
  eventLocator: string,
  context: RequestContext,
): Promise<JsonText> {
  return await answerOnce(context, async () => {
    const webhook = await webhookAt(webhookLocator, context)
    const { shard, diverted } = await divertedAt(webhook.locator, eventLocator, context)
    assertActive(webhook)
    const choice = { eventLocators: [diverted.locator] }
    return await changeInShards(context, webhook, {
      change: store.resend,
      choice,
      details: choice,
      shards: [shard],
    })
  })
}

/** Sends diverted events again: named events, all, or those of a time span. Throws 400 for a named event that is not diverted. */
export async function resendDivertedEvents(
  webhookLocator: string,
  request: contract.DivertedResendRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await answerOnce(context, async () => {
    const webhook = await webhookAt(webhookLocator, context)
    assertActive(webhook)
    const { choice, count } = await findSelectedEvents(
      context,
      request,
      (database, some) => store.readSelectedDiverted(database, webhook.locator, some),
      'events that are not diverted',
    )
    return await changeInShards(context, webhook, {
      change: store.resend,
      choice,
      details: { diverted: count },
      response: { events: count },
    })
  })
}

/** Removes the event from the list of diverted events. It is not sent any more. */
export async function discardDivertedEvent(
  webhookLocator: string,
  eventLocator: string,
  context: RequestContext,
): Promise<JsonText> {
  return await answerOnce(context, async () => {
    const webhook = await webhookAt(webhookLocator, context)
    const { shard, diverted } = await divertedAt(webhook.locator, eventLocator, context)
    const choice = { eventLocators: [diverted.locator] }
    const details = { discarded: choice.eventLocators }
    return await changeInShards(context, webhook, { change: store.discard, choice, details, shards: [shard] })
  })
}

/** Returns a diverted event and its shard. Throws 404 for an event that is not diverted. */
async function divertedAt(
  webhookLocator: string,
  text: string,
  context: RequestContext,
): Promise<{ shard: number; diverted: store.Diverted }> {
  const locator = readUuid(text)
  const shard = locator === undefined ? -1 : shardOfUuid(locator)
  const database = shardDatabases(context)[shard]
  const diverted = database && (await store.findDiverted(database, webhookLocator, locator!))
  if (!diverted) throw notFound('diverted event', text)
  return { shard, diverted }
}

/** Does the work, unless a request with the same key already did it. Then it returns the original response. */
const answerOnce = (context: RequestContext, work: () => Promise<JsonText>): Promise<JsonText> =>
  unlessRepeated(context, homeDatabase(context), work, earlier => jsonText(answerForRepeat(earlier)))

type Work = {
  readonly change: store.ChangeOfDeliveries
  readonly choice: store.EventChoice
  /** For the audit entry. */
  readonly details: Record<string, unknown>
  readonly response?: contract.ResendResponse
  /** Default: all. */
  readonly shards?: readonly number[]
}

/**
 * Changes deliveries in all shards, the home shard last, with the audit entry and the response. Then wakes the objects that
 * deliver. After a crash a repeated request does all of it again, and sends nothing twice that already waits.
 */
async function changeInShards(
  context: RequestContext,
  { locator }: Webhook,
  { change, choice, details, response, shards = [...context.tenant.shards.keys()] }: Work,
): Promise<JsonText> {
  const databases = shardDatabases(context)
  const queriesOf = (database: Database): Query[] => change(database, locator, choice, now())
  await Promise.all(
    shards
      .filter(shard => shard !== HOME_SHARD)
      .map(shard => databases[shard]!.batch(queriesOf(databases[shard]!) as [Query, ...Query[]])),
  )
  const home = databases[HOME_SHARD]!
  const answer = { status: 200, text: response ? JSON.stringify(response) : '' }
  const committed = await commit(context, home, {
    shard: HOME_SHARD,
    guards: [],
    facts: [
      ...(shards.includes(HOME_SHARD) ? queriesOf(home) : []),
      ...auditRows(home, context, HOME_SHARD, [{ action: 'webhooks.resend', subject: locator, details }]),
    ],
    answer,
    subject: locator,
  })
  for (const shard of shards) announce(context, shard, [locator])
  return jsonText(isBySubject(committed) ? answer : committed)
}

const MOST_NAMES_LISTED = 20

/** Returns the chosen events. Throws 400 for named events that `find` does not return; `otherwise` says what those are. */
async function findSelectedEvents(
  context: RequestContext,
  { eventLocators, from, to }: contract.RedeliverRequest,
  find: (database: Database, choice: store.EventChoice) => Promise<readonly string[]>,
  otherwise: string,
): Promise<{ choice: store.EventChoice; count: number }> {
  const names = eventLocators && [...new Set(eventLocators.map(name => name.toLowerCase()))]
  const choice: store.EventChoice = names ? { eventLocators: names } : { from, to }
  const found = await Promise.all(shardDatabases(context).map(database => find(database, choice)))
  const locators = new Set(found.flat())
  const unknown = names?.filter(name => !locators.has(name)) ?? []
  if (unknown.length > 0)
    throw invalidRequest(
      `'eventLocators' names ${otherwise}: ${unknown.slice(0, MOST_NAMES_LISTED).join(', ')}.`,
    )
  return { choice, count: locators.size }
}
