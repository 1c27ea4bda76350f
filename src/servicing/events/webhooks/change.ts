// What a request makes of a webhook (contract 2, Webhooks): removals are applied first, then additions, so that what is
// in both is there afterwards; what is left out stays as it is.
import { keptUrl, nothingKept } from '../../../extension/integrations/service.ts'
import { Refusal } from '../../../kernel/errors.ts'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import {
  OWN_FAILURE_HANDLING,
  type WebhookEndpoint,
  type WebhookFailureHandling,
} from '../../../platform/events/tables.ts'
import { headersProblem } from '../../../platform/outbound/contract.ts'
import { MASK } from '../../../platform/outbound/masking.ts'
import type { Webhook } from '../delivery/store.ts'
import type {
  CreateEndpointRequest,
  CreateWebhookRequest,
  FailureHandlingUpdateRequest,
  UpdateEndpointRequest,
  UpdateWebhookRequest,
} from './contract.ts'

/** How long a secret that was replaced signs on (resources brief 7.4). */
export const OVERLAP_MS = 24 * 60 * 60 * 1000

/** Of secrets replaced within a day the latest so many sign on. */
const MOST_EARLIER_SECRETS = 4

/** What a change needs that the request has not. */
export type ChangeContext = {
  /** In real time. */
  readonly at: Instant
  /** A secret for an endpoint that signs and was given none. */
  readonly makeSecret: () => string
}

/** A change on its way to be the webhook's next version. */
type Making = ChangeContext & { readonly version: number }

export function newWebhook(
  { failureHandling, ...request }: CreateWebhookRequest,
  { makeSecret, ...made }: { makeSecret: () => string; locator: Uuid; createdAt: Instant },
): Webhook {
  return {
    ...made,
    name: request.name,
    enabled: request.enabled,
    suspendedAt: null,
    endpoint: newEndpoint(request.endpoint, makeSecret),
    failureHandling: failureHandling && newHandling(failureHandling, makeSecret),
    eventTypes: [...new Set(request.eventTypes)],
    version: 1,
    replayVersion: 0,
  }
}

function newHandling(
  { alertEndpoint, ...handling }: NonNullable<CreateWebhookRequest['failureHandling']>,
  makeSecret: () => string,
): WebhookFailureHandling {
  return { ...handling, ...(alertEndpoint && { alertEndpoint: newEndpoint(alertEndpoint, makeSecret) }) }
}

function newEndpoint(request: CreateEndpointRequest, makeSecret: () => string): WebhookEndpoint {
  const { secret, tag, ...endpoint } = request
  const signs = secret ?? (endpoint.hmacEnabled ? makeSecret() : undefined)
  return { ...endpoint, ...(signs !== undefined && { secret: signs }), ...(tag !== undefined && { tag }) }
}

/** The webhook after the request, of the next version. Refuses (400) what makes no webhook. */
export function changedWebhook(
  before: Webhook,
  request: UpdateWebhookRequest,
  context: ChangeContext,
): Webhook {
  const { name, enabled, endpoint, failureHandling, removeFailureHandling } = request
  const version = before.version + 1
  const made: Making = { ...context, version }
  const handling = removeFailureHandling ? undefined : before.failureHandling
  return {
    ...before,
    name: name ?? before.name,
    enabled: enabled ?? before.enabled,
    endpoint: endpoint ? changedEndpoint('endpoint', before.endpoint, endpoint, made) : before.endpoint,
    failureHandling: failureHandling
      ? changedHandling(handling ?? OWN_FAILURE_HANDLING, failureHandling, made)
      : handling,
    eventTypes: changedList(before.eventTypes, request.removeEventTypes, request.addEventTypes),
    version,
  }
}

const changedList = (
  before: readonly string[],
  less: readonly string[],
  more: readonly string[],
): string[] => [...new Set([...before.filter(one => !less.includes(one)), ...more])]

function changedHandling(
  { alertEndpoint, retryStrategy, ...before }: WebhookFailureHandling,
  request: FailureHandlingUpdateRequest,
  context: Making,
): WebhookFailureHandling {
  const retries = request.retryStrategy ?? (request.removeRetryStrategy ? undefined : retryStrategy)
  const alerted = request.removeAlertEndpoint ? undefined : alertEndpoint
  const alert = request.alertEndpoint
    ? changedEndpoint('failureHandling.alertEndpoint', alerted, request.alertEndpoint, context)
    : alerted
  return {
    triggers: changedList(before.triggers, request.removeTriggers, request.addTriggers),
    ...(retries && { retryStrategy: retries }),
    divert: request.divert ?? before.divert,
    suspend: request.suspend ?? before.suspend,
    ...(alert && { alertEndpoint: alert }),
  }
}

function changedEndpoint(
  path: string,
  before: WebhookEndpoint | undefined,
  request: UpdateEndpointRequest,
  { at, makeSecret, version }: Making,
): WebhookEndpoint {
  const { url, tag = before?.tag } = request
  if (!before && url === undefined)
    throw new Refusal('invalidRequest', `'${path}.url' is missing: there is no such endpoint to change.`)
  const headers = changedHeaders(path, before?.headers ?? {}, request)
  const hmacEnabled = request.hmacEnabled ?? before?.hmacEnabled ?? true
  const given = request.secret === MASK ? before?.secret : request.secret
  if (request.secret === MASK && given === undefined) throw nothingKept(`${path}.secret`)
  const present = given ?? before?.secret
  const isMade = present === undefined && hmacEnabled
  const secret = isMade ? makeSecret() : present
  const earlierSecrets = earlierAfter(before, secret, at)
  return {
    url: url === undefined ? before!.url : keptUrl(url, before?.url),
    headers,
    secureSsl: request.secureSsl ?? before?.secureSsl ?? true,
    hmacEnabled,
    ...(secret !== undefined && { secret }),
    ...(isMade && { secretMadeIn: version }),
    ...(earlierSecrets.length > 0 && { earlierSecrets }),
    ...(tag !== undefined && { tag }),
  }
}

/** Secrets that sign beside `secret`: those whose time is not over, and the one that it replaces. */
function earlierAfter(
  before: WebhookEndpoint | undefined,
  secret: string | undefined,
  at: Instant,
): NonNullable<WebhookEndpoint['earlierSecrets']> {
  const replaced = before?.secret
  const valid = (before?.earlierSecrets ?? []).filter(one => at < one.until && one.secret !== secret)
  return replaced === undefined || replaced === secret
    ? valid
    : [...valid, { secret: replaced, until: (at + OVERLAP_MS) as Instant }].slice(-MOST_EARLIER_SECRETS)
}

/** Names of headers are the same in any letters. */
function changedHeaders(
  path: string,
  before: WebhookEndpoint['headers'],
  { addHeaders, removeHeaders }: UpdateEndpointRequest,
): WebhookEndpoint['headers'] {
  const gone = new Set([...removeHeaders, ...Object.keys(addHeaders)].map(name => name.toLowerCase()))
  const kept = new Map(Object.entries(before).map(([name, values]) => [name.toLowerCase(), values]))
  const headers = Object.fromEntries(
    [
      ...Object.entries(before).filter(([name]) => !gone.has(name.toLowerCase())),
      ...Object.entries(addHeaders),
    ].map(([name, values]) => [
      name,
      values.map((value, at) => {
        const shown = value === MASK ? kept.get(name.toLowerCase())?.[at] : value
        if (shown === undefined) throw nothingKept(`${path}.addHeaders.${name}`)
        return shown
      }),
    ]),
  )
  const problem = headersProblem(headers)
  if (problem !== undefined)
    throw new Refusal('invalidRequest', `'${path}.addHeaders': all headers ${problem}.`)
  return headers
}
