// What was delivered to a webhook and how, events sent again, and a test event.
import { notFound, Refusal } from '../../../kernel/errors.ts'
import { newUuid, readUuid, SHARDS, shardOfUuid } from '../../../kernel/locators.ts'
import { now } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { AttemptMade } from '../../../platform/events/tables.ts'
import type { JsonText } from '../../../platform/http/route.ts'
import { HOME_SHARD } from '../../../platform/tenancy.ts'
import { resolvedHeaders } from '../../../reference/secrets/sending.ts'
import { attempt, failureMessage, triggerOf } from '../delivery/serve.ts'
import { mergeShards } from '../stream/page.ts'
import { toldType, webhookEvent } from '../stream/response.ts'
import type {
  DeliveryAttemptResponse,
  DeliveryListQuery,
  DeliveryListResponse,
  DeliveryResponse,
  DivertedEventResponse,
  DivertedListQuery,
  DivertedResendRequest,
  RedeliverRequest,
  ResendResponse,
  TestDeliveryResponse,
} from './contract.ts'
import { chosenOf, databases, inShards, once } from './in-shards.ts'
import {
  chosenDiverted,
  chosenEvents,
  type DeliveryShown,
  type Diverted,
  deliveriesAfter,
  discarded,
  findDiverted,
  listDiverted,
  redelivered,
  resent,
} from './resend-store.ts'
import { assertActive, webhookAt } from './service.ts'

/** Events of one call that sends them again. */
const MOST_REDELIVERED = 10_000

const isoOf = (at: number): string => new Date(at).toISOString()

/** A page of the webhook's deliveries in the order of their events: one round trip for each shard. */
export async function readDeliveries(
  webhookLocator: string,
  { pageSize, pagingToken, eventLocator, ...filter }: DeliveryListQuery,
  context: RequestContext,
): Promise<DeliveryListResponse> {
  const { locator, eventTypes } = await webhookAt(webhookLocator, context)
  const positions = readPositions(pagingToken)
  const wanted = { ...filter, eventLocator: eventLocator?.toLowerCase() }
  const shards = await Promise.all(
    databases(context).map((database, shard) =>
      deliveriesAfter(database, locator, positions[shard] ?? 0, wanted, pageSize + 1),
    ),
  )
  const page = mergeShards(shards, positions, pageSize)
  const listCompleted = shards.reduce((sum, found) => sum + found.length, 0) <= pageSize
  return {
    listCompleted,
    items: page.events.map(one => deliveryResponse(one, eventTypes)),
    ...(!listCompleted && { pagingToken: Buffer.from(JSON.stringify(page.positions)).toString('base64url') }),
  }
}

/** For each shard the sequence after which a token goes on. */
function readPositions(token: string | undefined): number[] {
  if (token === undefined) return []
  const text = Buffer.from(token, 'base64url').toString('latin1')
  if (/^\[\d{1,15}(,\d{1,15})*\]$/.test(text)) {
    const positions = JSON.parse(text) as number[]
    if (positions.length <= SHARDS) return positions
  }
  throw new Refusal(
    'invalidParameter',
    "'pagingToken' is not one that this list gave; send the one of the page before, or none to begin.",
  )
}

function deliveryResponse(one: DeliveryShown, eventTypes: readonly string[]): DeliveryResponse {
  const { state, outcome, dueAt, finishedAt } = one
  return {
    eventLocator: one.locator,
    requestLocator: one.requestId,
    eventType: toldType(one, eventTypes),
    eventTimestamp: isoOf(one.at),
    sequence: one.sequence,
    state,
    ...(outcome !== null && { outcome }),
    ...(state === 'pending' && { dueAt: isoOf(dueAt) }),
    ...(finishedAt !== null && { finishedAt: isoOf(finishedAt) }),
    attempts: one.log.map(attemptResponse),
  }
}

const attemptResponse = ({ at, outcome, durationMs, excerpt }: AttemptMade): DeliveryAttemptResponse => ({
  timestamp: isoOf(at),
  outcome,
  ...(/^\d+$/.test(outcome) && { status: Number(outcome) }),
  durationMs,
  ...(excerpt !== undefined && { excerpt }),
})

/**
 * Sends events of the webhook's types to it (again), in order: those named, or those of a span of time, also from before
 * there was the webhook. Refuses (400) names that are no such events, and (413) more than 10,000.
 */
export async function redeliver(
  webhookLocator: string,
  request: RedeliverRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await once(context, async () => {
    const { locator, ...webhook } = await webhookAt(webhookLocator, context)
    assertActive(webhook)
    const { choice, count } = await chosenOf(
      context,
      request,
      (database, some) => chosenEvents(database, locator, some, MOST_REDELIVERED + 1),
      "what is no event of the webhook's types",
    )
    if (count > MOST_REDELIVERED)
      throw new Refusal(
        'tooLarge',
        `More than ${MOST_REDELIVERED} events lie between 'from' and 'to'; send a shorter time.`,
      )
    const answer = JSON.stringify({ events: count } satisfies ResendResponse)
    const details = { redelivered: count, ...('eventLocators' in choice ? {} : choice) }
    return await inShards(context, locator, { details, answer, shards: undefined }, database =>
      redelivered(database, locator, choice, now()),
    )
  })
}

/**
 * Posts an event of type `webhook.test` to the webhook, now and once, whether it is enabled, suspended or neither; it is in
 * no stream. Answers how that went.
 */
export async function testWebhook(
  webhookLocator: string,
  context: RequestContext,
): Promise<TestDeliveryResponse> {
  const webhook = await webhookAt(webhookLocator, context)
  const { caller, requestId } = context
  const event = {
    sequence: 0,
    locator: newUuid(HOME_SHARD),
    requestId,
    type: 'webhook.test',
    newerType: null,
    at: context.now,
    data: { webhookLocator: webhook.locator, webhookName: webhook.name },
    accountLocator: caller.accountLocator,
    username: caller.username,
  }
  const headers = await resolvedHeaders(context, webhook.endpoint.headers, webhook.endpoint.url)
  const body = JSON.stringify(webhookEvent(event, webhook.eventTypes))
  const { outcome, made } = await attempt(context.env, webhook.endpoint, headers, { id: event.locator, body })
  return {
    eventLocator: event.locator,
    delivered: outcome.kind === 'answered' && outcome.status >= 200 && outcome.status <= 299,
    ...attemptResponse(made),
  }
}

// Diverted events of a webhook (resources brief 7.2).
const response = ({ locator, requestId, outcome, divertedAt }: Diverted): DivertedEventResponse => ({
  requestLocator: requestId,
  eventLocator: locator,
  failureTrigger: triggerOf(outcome),
  failureMessage: failureMessage(outcome),
  failureTimestamp: new Date(divertedAt).toISOString(),
})

export async function readDivertedEvents(
  webhookLocator: string,
  { offset, count }: DivertedListQuery,
  context: RequestContext,
): Promise<DivertedEventResponse[]> {
  const { locator } = await webhookAt(webhookLocator, context)
  return (await listDiverted(context, locator, offset, count)).map(response)
}

export async function readDivertedEvent(
  webhookLocator: string,
  eventLocator: string,
  context: RequestContext,
): Promise<DivertedEventResponse> {
  const { locator } = await webhookAt(webhookLocator, context)
  return response((await divertedAt(locator, eventLocator, context)).diverted)
}

/** Sends it again; it is taken off the list when a 2xx came. */
export async function resendDivertedEvent(
  webhookLocator: string,
  eventLocator: string,
  context: RequestContext,
): Promise<JsonText> {
  return await once(context, async () => {
    const { locator, ...webhook } = await webhookAt(webhookLocator, context)
    const { shard, diverted } = await divertedAt(locator, eventLocator, context)
    assertActive(webhook)
    const choice = { eventLocators: [diverted.locator] }
    const done = { details: choice, answer: '', shards: [shard] }
    return await inShards(context, locator, done, database => resent(database, locator, choice, now()))
  })
}

/** Sends again those named, all of which must be diverted, or all, or those of a time. */
export async function resendDivertedEvents(
  webhookLocator: string,
  request: DivertedResendRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await once(context, async () => {
    const { locator, ...webhook } = await webhookAt(webhookLocator, context)
    assertActive(webhook)
    const { choice, count } = await chosenOf(
      context,
      request,
      (database, some) => chosenDiverted(database, locator, some),
      'events that are not diverted',
    )
    const answer = JSON.stringify({ events: count } satisfies ResendResponse)
    const done = { details: { diverted: count }, answer, shards: undefined }
    return await inShards(context, locator, done, database => resent(database, locator, choice, now()))
  })
}

/** Takes it off the list; it is not sent any more. */
export async function discardDivertedEvent(
  webhookLocator: string,
  eventLocator: string,
  context: RequestContext,
): Promise<JsonText> {
  return await once(context, async () => {
    const { locator } = await webhookAt(webhookLocator, context)
    const { shard, diverted } = await divertedAt(locator, eventLocator, context)
    const done = { details: { discarded: [diverted.locator] }, answer: '', shards: [shard] }
    return await inShards(context, locator, done, database =>
      discarded(database, locator, diverted.locator, now()),
    )
  })
}

/** The diverted event, with its shard; 404 when it is none. */
async function divertedAt(
  webhookLocator: string,
  text: string,
  context: RequestContext,
): Promise<{ shard: number; diverted: Diverted }> {
  const locator = readUuid(text)
  const shard = locator === undefined ? -1 : shardOfUuid(locator)
  const database = databases(context)[shard]
  const diverted = database && (await findDiverted(database, webhookLocator, locator!))
  if (!diverted) throw notFound('diverted event', text)
  return { shard, diverted }
}
