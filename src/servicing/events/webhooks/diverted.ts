// Diverted events of a webhook (resources brief 7.2).

import { notFound } from '../../../kernel/errors.ts'
import { readUuid, shardOfUuid } from '../../../kernel/locators.ts'
import { now } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { JsonText } from '../../../platform/http/route.ts'
import type {
  DivertedEventResponse,
  DivertedListQuery,
  DivertedResendRequest,
  ResendResponse,
} from '../contract-webhook.ts'
import {
  chosenDiverted,
  type Diverted,
  discarded,
  findDiverted,
  listDiverted,
  resent,
} from '../delivery/aside.ts'
import { failureMessage, triggerOf } from '../delivery/judge.ts'
import { chosenOf } from './chosen.ts'
import { databases, inShards, once } from './in-shards.ts'
import { assertActive, webhookAt } from './service.ts'

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
