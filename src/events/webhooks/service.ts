import { eq } from 'drizzle-orm'
import {
  type AnswerBySubject,
  commit,
  isBySubject,
  type JsonAnswer,
  storedAnswer,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type Database, putRows } from '../../platform/database.ts'
import { notFound, Refusal } from '../../platform/errors.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { newUuid, readUuid, type Uuid } from '../../platform/locators.ts'
import { addressProblem, mayCallThisMachine } from '../../platform/outbound/address.ts'
import { isSecret, newSecret } from '../../platform/outbound/signature.ts'
import { HOME_SHARD, shardDatabase } from '../../platform/tenancy.ts'
import { now } from '../../platform/time.ts'
import type {
  CreateEndpointRequest,
  CreateWebhookRequest,
  WebhookListQuery,
  WebhookResponse,
} from '../contract-webhook.ts'
import { failWaiting } from '../delivery/store.ts'
import { webhooks } from '../tables.ts'
import type { Webhook, WebhookEndpoint } from '../webhook.ts'
import { copyTimers, copyWebhook } from './copies.ts'
import { webhookResponse } from './response.ts'
import { findWebhook, hasWebhookNamed, listWebhooks } from './store.ts'

const homeOf = (context: RequestContext): Database =>
  shardDatabase(context.env, context.tenant, HOME_SHARD, context.calls)

export async function createWebhook(
  request: CreateWebhookRequest,
  context: RequestContext,
): Promise<JsonText> {
  const database = homeOf(context)
  const problems = [
    ...endpointProblems('endpoint', request.endpoint, context.env),
    ...endpointProblems('failureHandling.alertEndpoint', request.failureHandling.alertEndpoint, context.env),
  ]
  if (problems.length > 0) throw new Refusal('invalidRequest', problems.join(' '))
  const earlier = await storedAnswer(context, database)
  if (earlier) return await answerOf(earlier, database)
  if (await hasWebhookNamed(database, request.name)) throw nameTaken(request.name)

  const webhook = newWebhook(request, context)
  const answer = await commit(context, database, {
    shard: HOME_SHARD,
    guards: [],
    facts: putRows(database, webhooks, [webhook]),
    events: [],
    timers: copyTimers(context.tenant, webhook.locator, context.now),
    answer: { status: 200, text: JSON.stringify(webhookResponse(webhook, true)) },
    subject: webhook.locator,
  }).catch(problem => {
    throw isNameTaken(problem) ? nameTaken(request.name) : problem
  })
  await copyWebhook(context.env, context.tenant, webhook.locator, context.calls)
  return await answerOf(answer, database)
}

export async function readWebhook(locator: string, context: RequestContext): Promise<WebhookResponse> {
  return webhookResponse(await webhookAt(locator, homeOf(context)), false)
}

export async function readWebhooks(
  { offset, count, ...filter }: WebhookListQuery,
  context: RequestContext,
): Promise<WebhookResponse[]> {
  const found = await listWebhooks(homeOf(context), filter, offset, count)
  return found.map(webhook => webhookResponse(webhook, false))
}

/** Deletes the webhook; what waits for it is not sent any more, what is under way may still arrive. */
export async function deleteWebhook(locator: string, context: RequestContext): Promise<JsonText> {
  const database = homeOf(context)
  const earlier = await storedAnswer(context, database)
  if (earlier) return await answerOf(earlier, database)
  const webhook = await webhookAt(locator, database)
  const answer = await commit(context, database, {
    shard: HOME_SHARD,
    guards: [],
    facts: [
      database.build.delete(webhooks).where(eq(webhooks.locator, webhook.locator)),
      failWaiting(database, webhook.locator, 'deleted', now()),
    ],
    events: [],
    timers: copyTimers(context.tenant, webhook.locator, context.now),
    answer: { status: 200, text: '' },
    subject: webhook.locator,
  })
  await copyWebhook(context.env, context.tenant, webhook.locator, context.calls)
  return await answerOf(answer, database)
}

function endpointProblems(path: string, endpoint: CreateEndpointRequest | undefined, env: Env): string[] {
  if (!endpoint) return []
  const address = addressProblem(endpoint.url, mayCallThisMachine(env))
  const secret =
    endpoint.secret === undefined || isSecret(endpoint.secret)
      ? undefined
      : 'begins with whsec_ and must go on in base64'
  return [
    ...(address === undefined ? [] : [`'${path}.url' ${address}.`]),
    ...(secret === undefined ? [] : [`'${path}.secret' ${secret}.`]),
  ]
}

function newWebhook(request: CreateWebhookRequest, context: RequestContext): Webhook {
  const { alertEndpoint, ...handling } = request.failureHandling
  return {
    locator: newUuid(HOME_SHARD),
    name: request.name,
    enabled: request.enabled,
    suspendedAt: null,
    endpoint: withSecret(request.endpoint),
    failureHandling: { ...handling, ...(alertEndpoint && { alertEndpoint: withSecret(alertEndpoint) }) },
    eventTypes: [...new Set(request.eventTypes)],
    createdAt: context.now,
  }
}

const withSecret = (endpoint: CreateEndpointRequest): WebhookEndpoint =>
  endpoint.hmacEnabled ? { ...endpoint, secret: endpoint.secret ?? newSecret() } : endpoint

/** A commit's answer for the wire; one that was too long to keep is the webhook as it is now. */
async function answerOf(answer: JsonAnswer | AnswerBySubject, database: Database): Promise<JsonText> {
  if (!isBySubject(answer)) return jsonText(answer)
  const text = JSON.stringify(webhookResponse(await webhookAt(answer.subject, database), false))
  return jsonText({ status: answer.status, text })
}

async function webhookAt(text: string, database: Database): Promise<Webhook> {
  const locator: Uuid | undefined = readUuid(text)
  const webhook = locator && (await findWebhook(database, locator))
  if (!webhook) throw notFound('webhook', text)
  return webhook
}

const nameTaken = (name: string): Refusal =>
  new Refusal('alreadyExists', `There is a webhook named '${name}'; names are unique.`)

/** Two creations raced: the unique index decided. */
const isNameTaken = (problem: unknown): boolean =>
  problem instanceof Error &&
  `${problem.message} ${String(problem.cause)}`.includes('UNIQUE constraint failed: webhook.name')
