import { sql } from 'drizzle-orm'
import type { AuditAction } from '../../../access/audit/contract.ts'
import { auditRows } from '../../../access/audit/store.ts'
import { notFound, Refusal } from '../../../kernel/errors.ts'
import { newUuid, readUuid, type Uuid } from '../../../kernel/locators.ts'
import { now } from '../../../kernel/time.ts'
import {
  type AnswerBySubject,
  commit,
  type Guard,
  isBySubject,
  type JsonAnswer,
  retryOnConflict,
  storedAnswer,
} from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Query } from '../../../platform/database.ts'
import { announce } from '../../../platform/events/announcement.ts'
import {
  type WebhookEndpoint,
  type WebhookFailureHandling,
  webhooks,
} from '../../../platform/events/tables.ts'
import { requireMatch } from '../../../platform/http/entity-tags.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { addressProblem, mayCallThisMachine } from '../../../platform/outbound/address.ts'
import { MASK, maskedHeaders, maskedUrl } from '../../../platform/outbound/masking.ts'
import { newSecret } from '../../../platform/outbound/signature.ts'
import { offsetPage } from '../../../platform/paging.ts'
import { HOME_SHARD, homeDatabase } from '../../../platform/tenancy.ts'
import { requireMaySend, type SenderChange } from '../../../reference/secrets/sending.ts'
import { findWebhook, handlingOf, rowOf, type Webhook } from '../delivery/store.ts'
import { applied, copyTimers, copyWebhook, removed } from '../delivery/webhook-copies.ts'
import { changedWebhook, newWebhook } from './change.ts'
import type * as contract from './contract.ts'
import { countAside, listWebhooks, presentWebhooks } from './store.ts'

/** Webhooks of a tenant: every commit looks through all of them. */
const MOST_WEBHOOKS = 500

export async function createWebhook(
  request: contract.CreateWebhookRequest,
  context: RequestContext,
): Promise<JsonText> {
  const database = homeDatabase(context)
  const webhook = newWebhook(request, {
    makeSecret: newSecret,
    locator: newUuid(HOME_SHARD),
    createdAt: context.now,
  })
  assertAddresses(webhook, context)
  const earlier = await storedAnswer(context, database)
  if (earlier) return await answerOf(earlier, context)
  const { count, isTaken } = await presentWebhooks(database, request.name)
  if (isTaken) throw nameTaken(request.name)
  if (count >= MOST_WEBHOOKS)
    throw new Refusal('tooLarge', `A tenant has at most ${MOST_WEBHOOKS} webhooks; delete one first.`)
  await requireMaySend(context, senderChanges(undefined, webhook))
  const answer = await record(context, webhook, [], [])
  await copyWebhook(context.env, context.tenant, webhook.locator, context.calls)
  return await answerOf(answer, context)
}

/** The webhook, with how many events are put aside for it. */
export async function readWebhook(text: string, context: RequestContext): Promise<contract.WebhookResponse> {
  return await asRead(await webhookAt(text, context), context)
}

async function asRead(webhook: Webhook, context: RequestContext): Promise<contract.WebhookResponse> {
  const { skipped, diverted } = await countAside(context, webhook.locator)
  return {
    ...webhookResponse(webhook, TELL_NOTHING),
    ...(skipped > 0 && { skippedEvents: skipped }),
    ...(diverted > 0 && { divertedEvents: diverted }),
  }
}

export async function readWebhooks(
  { offset, count, extended, ...filter }: contract.WebhookListQuery,
  context: RequestContext,
): Promise<contract.WebhookListResponse | contract.WebhookResponse[]> {
  const found = await listWebhooks(context, homeDatabase(context), filter, offset, count + 1)
  return offsetPage(found, { count, extended }, webhook => webhookResponse(webhook, TELL_NOTHING))
}

/** Changes it; a secret that is made for it is told in this answer, and in that to a repeat of the request. */
export async function updateWebhook(
  text: string,
  request: contract.UpdateWebhookRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await changed(text, context, before => {
    const after = changedWebhook(before, request, { at: now(), makeSecret: newSecret })
    assertAddresses(after, context)
    return after
  })
}

/** Resumes a suspended webhook. With `replay` skipped and diverted events are sent; without, skipped ones end and diverted ones stay. */
export async function unsuspendWebhook(
  text: string,
  { replay }: contract.UnsuspendQuery,
  context: RequestContext,
): Promise<JsonText> {
  await changed(text, context, before => {
    if (before.suspendedAt === null && !replay) return before
    const version = before.version + 1
    return { ...before, suspendedAt: null, version, ...(replay && { replayVersion: version }) }
  })
  return jsonText({ status: 200, text: '' })
}

/** Deletes the webhook; what waits for it is not sent any more, what is under way may still arrive. */
export async function deleteWebhook(text: string, context: RequestContext): Promise<JsonText> {
  const { env, tenant, calls } = context
  const database = homeDatabase(context)
  const earlier = await storedAnswer(context, database)
  if (earlier) return jsonText({ status: 200, text: '' })
  const { locator, name } = await webhookAt(text, context)
  await commit(context, database, {
    shard: HOME_SHARD,
    guards: [],
    facts: [...removed(database, locator, now()), ...audited(context, 'webhooks.delete', locator, { name })],
    events: [],
    timers: copyTimers(tenant, locator, context.now),
    answer: { status: 200, text: '' },
    subject: locator,
  })
  await copyWebhook(env, tenant, locator, calls)
  return jsonText({ status: 200, text: '' })
}

/** Reads, decides and records, again when another change came in between; then every shard is told. */
async function changed(
  text: string,
  context: RequestContext,
  decide: (before: Webhook) => Webhook,
): Promise<JsonText> {
  const { env, tenant, calls } = context
  const earlier = await storedAnswer(context, homeDatabase(context))
  if (earlier) return await answerOf(earlier, context)
  return await retryOnConflict('The webhook', async () => {
    const before = await webhookAt(text, context)
    if (context.ifMatch !== undefined) {
      const read = await asRead(before, context)
      requireMatch(context.ifMatch, () => read)
    }
    const after = decide(before)
    if (after === before) return told(after, TELL_NOTHING)
    await requireMaySend(context, senderChanges(before, after))
    const answer = await record(context, after, [unchanged(before)], changesOf(before, after))
    await copyWebhook(env, tenant, after.locator, calls)
    for (const shard of tenant.shards.keys()) announce(context, shard)
    return isOwn(answer, after) ? told(after, tellNew(after)) : await answerOf(answer, context)
  })
}

/** What a change makes of the two endpoints of a webhook. */
const senderChanges = (before: Webhook | undefined, after: Webhook): SenderChange[] => {
  const alert = after.failureHandling?.alertEndpoint
  return [
    { before: before?.endpoint, after: after.endpoint },
    ...(alert ? [{ before: before?.failureHandling?.alertEndpoint, after: alert }] : []),
  ]
}

/** Names of what is not as it was, for the audit; values may be secrets. */
const changesOf = (before: Webhook, after: Webhook): string[] =>
  (Object.keys(after) as (keyof Webhook)[]).filter(
    key => key !== 'version' && JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  )

const unchanged = ({ locator, version }: Webhook): Guard => ({
  name: 'guard_webhook_version',
  holds: sql`(select version from ${webhooks} where locator = ${locator}) = ${version}`,
})

const audited = (
  context: RequestContext,
  action: AuditAction,
  subject: Uuid,
  details: Record<string, unknown>,
): Query[] => auditRows(homeDatabase(context), context, HOME_SHARD, [{ action, subject, details }])

/** Commits the webhook at home. The answer that is kept for repeats has no secrets. */
async function record(
  context: RequestContext,
  webhook: Webhook,
  guards: readonly Guard[],
  changes: readonly string[],
): Promise<JsonAnswer | AnswerBySubject> {
  const database = homeDatabase(context)
  const { locator, name } = webhook
  return await commit(context, database, {
    shard: HOME_SHARD,
    guards,
    facts: [
      ...applied(database, await rowOf(context, webhook), now()),
      ...audited(context, 'webhooks.write', locator, { name, ...(changes.length > 0 && { changes }) }),
    ],
    events: [],
    timers: copyTimers(context.tenant, locator, context.now),
    answer: { status: 200, text: JSON.stringify(webhookResponse(webhook, TELL_NOTHING)) },
    subject: locator,
  }).catch(problem => {
    throw isNameTaken(problem) ? nameTaken(name) : problem
  })
}

function assertAddresses({ endpoint, failureHandling }: Webhook, { env }: RequestContext): void {
  const local = mayCallThisMachine(env)
  const problems = [
    { path: 'endpoint', url: endpoint.url },
    { path: 'failureHandling.alertEndpoint', url: failureHandling?.alertEndpoint?.url },
  ].flatMap(({ path, url }) => {
    const problem = url === undefined ? undefined : addressProblem(url, local)
    return problem === undefined ? [] : [`'${path}.url' ${problem}.`]
  })
  if (problems.length > 0) throw new Refusal('invalidRequest', problems.join(' '))
}

const told = (webhook: Webhook, tell: Told): JsonText =>
  jsonText({ status: 200, text: JSON.stringify(webhookResponse(webhook, tell)) })

/** Whether the answer shows the webhook as it is now. */
const isOwn = (answer: JsonAnswer | AnswerBySubject, webhook: Webhook): boolean =>
  !isBySubject(answer) && answer.text === JSON.stringify(webhookResponse(webhook, TELL_NOTHING))

/**
 * The response to a creation or change. It shows the secrets that came with it, also to a repeat, whose client may never have
 * seen the first response; but only while nothing has changed since.
 */
async function answerOf(answer: JsonAnswer | AnswerBySubject, context: RequestContext): Promise<JsonText> {
  const locator = isBySubject(answer)
    ? answer.subject
    : (JSON.parse(answer.text) as contract.WebhookResponse).locator
  const webhook = await findWebhook(context, homeDatabase(context), locator as Uuid)
  if (webhook && (isBySubject(answer) || isOwn(answer, webhook))) return told(webhook, tellNew(webhook))
  if (isBySubject(answer)) throw notFound('webhook', answer.subject)
  return jsonText(answer)
}

/** The webhook that the path names; 404 when the tenant has none such. */
export async function webhookAt(text: string, context: RequestContext): Promise<Webhook> {
  const locator = readUuid(text)
  const webhook = locator && (await findWebhook(context, homeDatabase(context), locator))
  if (!webhook) throw notFound('webhook', text)
  return webhook
}

/** Refuses (409) a webhook that would not be sent anything now. */
export function assertActive({ name, enabled, suspendedAt }: Omit<Webhook, 'locator'>): void {
  if (!enabled)
    throw new Refusal(
      'wrongState',
      `The webhook '${name}' is not enabled; PATCH it with "enabled": true first.`,
    )
  if (suspendedAt !== null)
    throw new Refusal(
      'wrongState',
      `The webhook '${name}' is suspended; PATCH …/unsuspend first, with replay=true to send all that was missed.`,
    )
}

const nameTaken = (name: string): Refusal =>
  new Refusal('alreadyExists', `There is a webhook named '${name}'; names are unique.`)

/** Two creations raced: the unique index decided. */
const isNameTaken = (problem: unknown): boolean =>
  problem instanceof Error &&
  `${problem.message} ${String(problem.cause)}`.includes('UNIQUE constraint failed: webhook.name')

/** Endpoints whose secrets the answer tells: those that came with it, and that nobody may know yet. */
export type Told = (endpoint: WebhookEndpoint) => boolean

export const TELL_NOTHING: Told = () => false

/** Of the webhook as its latest change made it: at its creation all, later those that the service made for that change. */
export const tellNew =
  ({ version }: Pick<Webhook, 'version'>): Told =>
  ({ secretMadeIn }) =>
    version === 1 || secretMadeIn === version

const endpointResponse = (endpoint: WebhookEndpoint, told: Told): contract.EndpointResponse => ({
  url: maskedUrl(endpoint.url),
  headers: Object.fromEntries(
    Object.entries(endpoint.headers).map(([name, values]) => [
      name,
      values.map(value => maskedHeaders({ [name]: value })[name]!),
    ]),
  ),
  secureSsl: endpoint.secureSsl,
  hmacEnabled: endpoint.hmacEnabled,
  ...(endpoint.secret !== undefined && { secret: told(endpoint) ? endpoint.secret : MASK }),
  ...(endpoint.tag !== undefined && { tag: endpoint.tag }),
})

const failureHandlingResponse = (
  { triggers, retryStrategy, divert, suspend, alertEndpoint }: WebhookFailureHandling,
  told: Told,
): contract.FailureHandlingResponse => ({
  triggers,
  ...(retryStrategy && { retryStrategy }),
  divert,
  suspend,
  ...(alertEndpoint && { alertEndpoint: endpointResponse(alertEndpoint, told) }),
})

/** The webhook for the wire. What looks secret in headers and address is masked, as of integrations. */
export const webhookResponse = (webhook: Webhook, told: Told): contract.WebhookResponse => ({
  locator: webhook.locator,
  name: webhook.name,
  enabled: webhook.enabled,
  endpoint: endpointResponse(webhook.endpoint, told),
  failureHandling: failureHandlingResponse(handlingOf(webhook), told),
  suspended: webhook.suspendedAt !== null,
  suspendedAt: webhook.suspendedAt === null ? null : new Date(webhook.suspendedAt).toISOString(),
  eventTypes: webhook.eventTypes,
})
