import { sql } from 'drizzle-orm'
import type { AuditAction } from '../../../access/audit/actions.ts'
import { auditRows } from '../../../access/audit/store.ts'
import {
  alreadyExists,
  invalidRequest,
  notFound,
  type Refusal,
  tooLarge,
  wrongState,
} from '../../../kernel/errors.ts'
import { newUuid, readUuid, type Uuid } from '../../../kernel/locators.ts'
import { now } from '../../../kernel/time.ts'
import {
  type AnswerBySubject,
  commit,
  type Guard,
  isBySubject,
  type JsonAnswer,
  NO_BODY,
  retryOnConflict,
  returnStored,
  unlessRepeated,
} from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Query } from '../../../platform/database.ts'
import { announce } from '../../../platform/events/outbox.ts'
import { webhooks } from '../../../platform/events/tables.ts'
import { requireMatch } from '../../../platform/http/entity-tags.ts'
import { type JsonText, jsonText } from '../../../platform/http/route.ts'
import { addressProblem, mayCallLocalHost } from '../../../platform/outbound/address.ts'
import { newSecret } from '../../../platform/outbound/signature.ts'
import { offsetPage } from '../../../platform/paging.ts'
import { HOME_SHARD, homeDatabase } from '../../../platform/tenancy.ts'
import { requireMaySend, type SenderChange } from '../../../reference/secrets/sending.ts'
import { findWebhook, rowOf, type Webhook } from '../delivery/webhook.ts'
import { copyTimers, copyWebhook, putWebhook, removeWebhook } from '../delivery/webhook-copies.ts'
import { changedWebhook, newWebhook } from './change.ts'
import type * as contract from './contract.ts'
import { isNew, type ShowsSecret, webhookResponse } from './projection.ts'
import { countSkippedAndDiverted, listWebhooks, presentWebhooks } from './store.ts'

/** Limited because every commit reads all webhooks of the tenant. */
const MOST_WEBHOOKS = 500

/**
 * Creates a webhook and copies it to every shard. The response shows secrets that were made for it. Throws 409 if the name is
 * taken, 413 above `MOST_WEBHOOKS`, 400 for an address that must not be called, and the errors of `requireMaySend`.
 */
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
  const made = async () => {
    const { count, isTaken } = await presentWebhooks(database, request.name)
    if (isTaken) throw nameTaken(request.name)
    if (count >= MOST_WEBHOOKS)
      throw tooLarge(`A tenant can have at most ${MOST_WEBHOOKS} webhooks. Delete one first.`)
    await requireMaySend(context, senderChanges(undefined, webhook))
    return await commitWebhook(context, undefined, webhook)
  }
  return await answerOf(await unlessRepeated(context, database, made, returnStored), context)
}

/**
 * Returns the webhook with its counts of skipped and diverted events. Throws 404 if there is none. One round trip for the
 * webhook, then one for each shard.
 */
export async function readWebhook(text: string, context: RequestContext): Promise<contract.WebhookResponse> {
  return await asRead(await webhookAt(text, context), context)
}

async function asRead(webhook: Webhook, context: RequestContext): Promise<contract.WebhookResponse> {
  const { skipped, diverted } = await countSkippedAndDiverted(context, webhook.locator)
  return {
    ...webhookResponse(webhook),
    ...(skipped > 0 && { skippedEvents: skipped }),
    ...(diverted > 0 && { divertedEvents: diverted }),
  }
}

/**
 * Lists webhooks in the order of creation, without counts of events. With `extended` false, only the list. Takes one round trip.
 */
export async function readWebhooks(
  { offset, count, extended, ...filter }: contract.WebhookListQuery,
  context: RequestContext,
): Promise<contract.WebhookListResponse | contract.WebhookResponse[]> {
  const found = await listWebhooks(context, homeDatabase(context), filter, offset, count + 1)
  return offsetPage(found, { count, extended }, webhook => webhookResponse(webhook))
}

/** Changes a webhook. The response shows a secret that was made for the change, also when the request is repeated. */
export async function updateWebhook(
  text: string,
  request: contract.UpdateWebhookRequest,
  context: RequestContext,
): Promise<JsonText> {
  return await changeWebhook(text, context, before => {
    const after = changedWebhook(before, request, { at: now(), makeSecret: newSecret })
    assertAddresses(after, context)
    return after
  })
}

/** With `replay`, skipped and diverted events are sent. Without it, skipped deliveries end and diverted ones stay. */
export async function unsuspendWebhook(
  text: string,
  { replay }: contract.UnsuspendQuery,
  context: RequestContext,
): Promise<JsonText> {
  await changeWebhook(text, context, before => {
    if (before.suspendedAt === null && !replay) return before
    const version = before.version + 1
    return { ...before, suspendedAt: null, version, ...(replay && { replayVersion: version }) }
  })
  return jsonText(NO_BODY)
}

/** Deletes a webhook. Waiting deliveries are not sent; those under way may still arrive. */
export async function deleteWebhook(text: string, context: RequestContext): Promise<JsonText> {
  const database = homeDatabase(context)
  const remove = async () => {
    const webhook = await webhookAt(text, context)
    const { locator, name } = webhook
    await commit(context, database, {
      shard: HOME_SHARD,
      guards: [webhookVersionGuard(webhook)],
      facts: [
        ...removeWebhook(database, locator, now()),
        ...auditQueries(context, 'webhooks.delete', locator, { name }),
      ],
      timers: copyTimers(context.tenant, locator, context.now),
      subject: locator,
    })
    await copyWebhook(context, locator)
  }
  const work = () => retryOnConflict('The webhook', remove)
  await unlessRepeated(context, database, work, () => {})
  return jsonText(NO_BODY)
}

/** Reads, decides and records; retries when another change came in between. Then copies the webhook to every shard. */
async function changeWebhook(
  text: string,
  context: RequestContext,
  decide: (before: Webhook) => Webhook,
): Promise<JsonText> {
  const attempt = async (): Promise<JsonText> => {
    const before = await webhookAt(text, context)
    if (context.ifMatch !== undefined) {
      const read = await asRead(before, context)
      requireMatch(context.ifMatch, () => read)
    }
    const after = decide(before)
    if (after === before) return jsonText(answerWith(after))
    await requireMaySend(context, senderChanges(before, after))
    const answer = await commitWebhook(context, before, after)
    for (const shard of context.tenant.shards.keys()) announce(context, shard)
    return isCurrent(answer, after)
      ? jsonText(answerWith(after, isNew(after)))
      : await answerOf(answer, context)
  }
  return await unlessRepeated(
    context,
    homeDatabase(context),
    () => retryOnConflict('The webhook', attempt),
    earlier => answerOf(earlier, context),
  )
}

const senderChanges = (before: Webhook | undefined, after: Webhook): SenderChange[] => {
  const alert = after.failureHandling?.alertEndpoint
  return [
    { before: before?.endpoint, after: after.endpoint },
    ...(alert ? [{ before: before?.failureHandling?.alertEndpoint, after: alert }] : []),
  ]
}

/** Returns the names of changed properties, for the audit trail. It omits the values, which may be secrets. */
const changedPropertyNames = (before: Webhook, after: Webhook): string[] =>
  (Object.keys(after) as (keyof Webhook)[]).filter(
    key => key !== 'version' && JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  )

const webhookVersionGuard = ({ locator, version }: Webhook): Guard => ({
  name: 'guard_webhook_version',
  holds: sql`(select version from ${webhooks} where locator = ${locator}) = ${version}`,
})

const auditQueries = (
  context: RequestContext,
  action: AuditAction,
  subject: Uuid,
  details: Record<string, unknown>,
): Query[] => auditRows(homeDatabase(context), context, HOME_SHARD, [{ action, subject, details }])

/** Commits in the home shard, then copies. The response that is stored for repeated requests contains no secrets. */
async function commitWebhook(
  context: RequestContext,
  before: Webhook | undefined,
  webhook: Webhook,
): Promise<JsonAnswer | AnswerBySubject> {
  const database = homeDatabase(context)
  const { locator, name } = webhook
  const changes = before ? changedPropertyNames(before, webhook) : []
  const details = { name, ...(changes.length > 0 && { changes }) }
  const answer = await commit(context, database, {
    shard: HOME_SHARD,
    guards: before ? [webhookVersionGuard(before)] : [],
    facts: [
      ...putWebhook(database, await rowOf(context, webhook), now()),
      ...auditQueries(context, 'webhooks.write', locator, details),
    ],
    timers: copyTimers(context.tenant, locator, context.now),
    answer: answerWith(webhook),
    subject: locator,
  }).catch(problem => {
    throw isNameTaken(problem) ? nameTaken(name) : problem
  })
  await copyWebhook(context, locator)
  return answer
}

function assertAddresses({ endpoint, failureHandling }: Webhook, { env }: RequestContext): void {
  const local = mayCallLocalHost(env)
  const problems = [
    { path: 'endpoint', url: endpoint.url },
    { path: 'failureHandling.alertEndpoint', url: failureHandling?.alertEndpoint?.url },
  ].flatMap(({ path, url }) => {
    const problem = url && addressProblem(url, local)
    return problem ? [`'${path}.url' ${problem}.`] : []
  })
  if (problems.length > 0) throw invalidRequest(problems.join(' '))
}

const answerWith = (webhook: Webhook, isShown?: ShowsSecret): JsonAnswer => ({
  status: 200,
  text: JSON.stringify(webhookResponse(webhook, isShown)),
})

const isCurrent = (answer: JsonAnswer | AnswerBySubject, webhook: Webhook): boolean =>
  !isBySubject(answer) && answer.text === answerWith(webhook).text

/** Until the next change, a repeated request shows the secrets too, because its client may never have seen the first response. */
async function answerOf(answer: JsonAnswer | AnswerBySubject, context: RequestContext): Promise<JsonText> {
  const locator = isBySubject(answer)
    ? answer.subject
    : (JSON.parse(answer.text) as contract.WebhookResponse).locator
  const webhook = await findWebhook(context, homeDatabase(context), locator as Uuid)
  if (webhook && (isBySubject(answer) || isCurrent(answer, webhook)))
    return jsonText(answerWith(webhook, isNew(webhook)))
  if (isBySubject(answer)) throw notFound('webhook', answer.subject)
  return jsonText(answer)
}

/** Returns a webhook. Throws 404 when the tenant has no such webhook. */
export async function webhookAt(text: string, context: RequestContext): Promise<Webhook> {
  const locator = readUuid(text)
  const webhook = locator && (await findWebhook(context, homeDatabase(context), locator))
  if (!webhook) throw notFound('webhook', text)
  return webhook
}

/** Rejects a disabled or suspended webhook with 409. */
export function assertActive({ name, enabled, suspendedAt }: Webhook): void {
  if (!enabled) throw wrongState(`The webhook '${name}' is not enabled. PATCH it with "enabled": true first.`)
  if (suspendedAt !== null)
    throw wrongState(
      `The webhook '${name}' is suspended. PATCH …/unsuspend first, with replay=true to send all missed events.`,
    )
}

const nameTaken = (name: string): Refusal =>
  alreadyExists(`A webhook '${name}' already exists. Choose another name.`)

/** Whether two creations raced. The unique index decided between them. */
const isNameTaken = (problem: unknown): boolean =>
  problem instanceof Error &&
  `${problem.message} ${String(problem.cause)}`.includes('UNIQUE constraint failed: webhook.name')
