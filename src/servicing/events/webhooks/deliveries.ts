// What was delivered to a webhook and how, events sent again, and a test event.

import { auditRows } from '../../../access/audit/store.ts'
import { notFound, Refusal } from '../../../kernel/errors.ts'
import { newUuid, readUuid, SHARDS, shardOfUuid, type Uuid } from '../../../kernel/locators.ts'
import { now } from '../../../kernel/time.ts'
import { commit, isBySubject, storedAnswer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { announce } from '../../../platform/events/announcement.ts'
import type { AttemptMade } from '../../../platform/events/tables.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, shardDatabase } from '../../../platform/tenancy.ts'
import { resolvedHeaders } from '../../../reference/secrets/sending.ts'
import { attempt, failureMessage, triggerOf } from '../delivery/serve.ts'
import { toldType, webhookEvent } from '../stream/response.ts'
import { mergeShards } from '../stream/service.ts'
import type * as contract from './contract.ts'
import { assertActive, webhookAt } from './service.ts'
import * as store from './store.ts'

/** Events of one call that sends them again. */
const MOST_REDELIVERED = 10_000

const isoOf = (at: number): string => new Date(at).toISOString()

/** A page of the webhook's deliveries in the order of their events: one round trip for each shard. */
export async function readDeliveries(
  webhookLocator: string,
  { pageSize, pagingToken, eventLocator, ...filter }: contract.DeliveryListQuery,
  context: RequestContext,
): Promise<contract.DeliveryListResponse> {
  const { locator, eventTypes } = await webhookAt(webhookLocator, context)
  const positions = readPositions(pagingToken)
  const wanted = { ...filter, eventLocator: eventLocator?.toLowerCase() }
  const shards = await Promise.all(
    databases(context).map((database, shard) =>
      store.deliveriesAfter(database, locator, positions[shard] ?? 0, wanted, pageSize + 1),
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

function deliveryResponse(
  one: store.DeliveryShown,
  eventTypes: readonly string[],
): contract.DeliveryResponse {
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

const attemptResponse = ({
  at,
  outcome,
  durationMs,
  excerpt,
}: AttemptMade): contract.DeliveryAttemptResponse => ({
  timestamp: isoOf(at),
  outcome,
  ...(/^\d+$/.test(outcome) && { status: Number(outcome) }),
  durationMs,
  ...(excerpt !== undefined && { excerpt }),
})

/**
 * Sends events of the webhook's types again, in order: those named or those of a span of time, also from before the webhook
 * existed. 400 for names of no such events, 413 for more than 10,000.
 */
export async function redeliver(
  webhookLocator: string,
  request: contract.RedeliverRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await once(context, async () => {
    const { locator, ...webhook } = await webhookAt(webhookLocator, context)
    assertActive(webhook)
    const { choice, count } = await chosenOf(
      context,
      request,
      (database, some) => store.chosenEvents(database, locator, some, MOST_REDELIVERED + 1),
      "what is no event of the webhook's types",
    )
    if (count > MOST_REDELIVERED)
      throw new Refusal(
        'tooLarge',
        `More than ${MOST_REDELIVERED} events lie between 'from' and 'to'; send a shorter time.`,
      )
    const answer = JSON.stringify({ events: count } satisfies contract.ResendResponse)
    const details = { redelivered: count, ...('eventLocators' in choice ? {} : choice) }
    return await inShards(context, locator, { details, answer, shards: undefined }, database =>
      store.redelivered(database, locator, choice, now()),
    )
  })
}

/** Posts a `webhook.test` event once, now, whatever the webhook's state. No stream has it. Returns how the attempt went. */
export async function testWebhook(
  webhookLocator: string,
  context: RequestContext,
): Promise<contract.TestDeliveryResponse> {
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
const response = ({
  locator,
  requestId,
  outcome,
  divertedAt,
}: store.Diverted): contract.DivertedEventResponse => ({
  requestLocator: requestId,
  eventLocator: locator,
  failureTrigger: triggerOf(outcome),
  failureMessage: failureMessage(outcome),
  failureTimestamp: new Date(divertedAt).toISOString(),
})

export async function readDivertedEvents(
  webhookLocator: string,
  { offset, count }: contract.DivertedListQuery,
  context: RequestContext,
): Promise<contract.DivertedEventResponse[]> {
  const { locator } = await webhookAt(webhookLocator, context)
  return (await store.listDiverted(context, locator, offset, count)).map(response)
}

export async function readDivertedEvent(
  webhookLocator: string,
  eventLocator: string,
  context: RequestContext,
): Promise<contract.DivertedEventResponse> {
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
    return await inShards(context, locator, done, database => store.resent(database, locator, choice, now()))
  })
}

/** Sends again those named, all of which must be diverted, or all, or those of a time. */
export async function resendDivertedEvents(
  webhookLocator: string,
  request: contract.DivertedResendRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await once(context, async () => {
    const { locator, ...webhook } = await webhookAt(webhookLocator, context)
    assertActive(webhook)
    const { choice, count } = await chosenOf(
      context,
      request,
      (database, some) => store.chosenDiverted(database, locator, some),
      'events that are not diverted',
    )
    const answer = JSON.stringify({ events: count } satisfies contract.ResendResponse)
    const done = { details: { diverted: count }, answer, shards: undefined }
    return await inShards(context, locator, done, database => store.resent(database, locator, choice, now()))
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
      store.discarded(database, locator, diverted.locator, now()),
    )
  })
}

/** The diverted event, with its shard; 404 when it is none. */
async function divertedAt(
  webhookLocator: string,
  text: string,
  context: RequestContext,
): Promise<{ shard: number; diverted: store.Diverted }> {
  const locator = readUuid(text)
  const shard = locator === undefined ? -1 : shardOfUuid(locator)
  const database = databases(context)[shard]
  const diverted = database && (await store.findDiverted(database, webhookLocator, locator!))
  if (!diverted) throw notFound('diverted event', text)
  return { shard, diverted }
}

// Changes of deliveries that somebody asked for, in the shards where they lie.
/** The tenant's databases, by shard. */
export const databases = ({ env, tenant, calls }: RequestContext): Database[] =>
  tenant.shards.map((_, shard) => shardDatabase(env, tenant, shard, calls))

/** Does the work unless it was done before under the request's key: then its answer is given again. */
export async function once(context: RequestContext, work: () => Promise<JsonText>): Promise<JsonText> {
  const earlier = await storedAnswer(context, homeDatabase(context))
  return earlier && !isBySubject(earlier) ? jsonText(earlier) : await work()
}

type Done = {
  /** For the audit. */
  readonly details: Record<string, unknown>
  /** JSON, or nothing. */
  readonly answer: string
  /** All when left out. */
  readonly shards: readonly number[] | undefined
}

/**
 * Executes queries in the shards, home last with the audit and the record of the request. If cut off, a repeat does all of it
 * again, and sends nothing twice that already waits. Then wakes the deliveries.
 */
export async function inShards(
  context: RequestContext,
  webhookLocator: Uuid,
  { details, answer, shards = [...context.tenant.shards.keys()] }: Done,
  queries: (database: Database) => Query[],
): Promise<JsonText> {
  const all = databases(context)
  await Promise.all(
    shards
      .filter(shard => shard !== HOME_SHARD)
      .map(shard => all[shard]!.batch(queries(all[shard]!) as [Query, ...Query[]])),
  )
  const home = all[HOME_SHARD]!
  const entry = { action: 'webhooks.resend', subject: webhookLocator, details } as const
  await commit(context, home, {
    shard: HOME_SHARD,
    guards: [],
    facts: [
      ...(shards.includes(HOME_SHARD) ? queries(home) : []),
      ...auditRows(home, context, HOME_SHARD, [entry]),
    ],
    events: [],
    answer: { status: 200, text: answer },
    subject: webhookLocator,
  })
  for (const shard of shards) announce(context, shard)
  return jsonText({ status: 200, text: answer })
}

// Events that a request names or that are of a span of time, of those that may be sent again.
/** Names that a refusal lists. */
const MOST_LISTED = 20

export type Chosen = {
  readonly choice: store.EventChoice
  /** How many events there are of it, in all shards. */
  readonly count: number
}

/** The events that the request chooses of those that `find` finds. 400 for any other name; `otherwise` says what such a name is. */
export async function chosenOf(
  context: RequestContext,
  { eventLocators, from, to }: contract.RedeliverRequest,
  find: (database: Database, choice: store.EventChoice) => Promise<readonly string[]>,
  otherwise: string,
): Promise<Chosen> {
  const names = eventLocators && [...new Set(eventLocators.map(one => one.toLowerCase()))]
  const choice: store.EventChoice = names ? { eventLocators: names } : { from, to }
  const found = await Promise.all(databases(context).map(database => find(database, choice)))
  const there = new Set(found.flat())
  const unknown = names?.filter(one => !there.has(one)) ?? []
  if (unknown.length > 0)
    throw new Refusal(
      'invalidRequest',
      `'eventLocators' names ${otherwise}: ${unknown.slice(0, MOST_LISTED).join(', ')}.`,
    )
  return { choice, count: there.size }
}
