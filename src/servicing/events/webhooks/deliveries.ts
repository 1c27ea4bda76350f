// What was delivered to a webhook and how, events sent again, and a test event.

import { Refusal } from '../../../kernel/errors.ts'
import { newUuid, SHARDS } from '../../../kernel/locators.ts'
import { now } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { AttemptMade } from '../../../platform/events/tables.ts'
import type { JsonText } from '../../../platform/http/route.ts'
import { HOME_SHARD } from '../../../platform/tenancy.ts'
import { resolvedHeaders } from '../../../reference/secrets/sending.ts'
import type {
  DeliveryAttemptResponse,
  DeliveryListQuery,
  DeliveryListResponse,
  DeliveryResponse,
  RedeliverRequest,
  ResendResponse,
  TestDeliveryResponse,
} from '../contract-webhook.ts'
import { attempt } from '../delivery/attempt.ts'
import { toldType, webhookEvent } from '../delivery/body.ts'
import { type DeliveryShown, deliveriesAfter } from '../delivery/log.ts'
import { chosenEvents, redelivered } from '../delivery/redeliver.ts'
import { mergeShards } from '../stream/merge.ts'
import { chosenOf } from './chosen.ts'
import { databases, inShards, once } from './in-shards.ts'
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
