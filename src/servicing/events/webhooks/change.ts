// Applies a change request to a webhook (contract 2, Webhooks): removals first, then additions, so that a value in both is present
// afterwards. Missing properties keep their values.
import { maskWithoutValue, urlWithStoredValues } from '../../../extension/integrations/service.ts'
import { invalidRequest } from '../../../kernel/errors.ts'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import {
  OWN_FAILURE_HANDLING,
  type WebhookEndpoint,
  type WebhookFailureHandling,
} from '../../../platform/events/tables.ts'
import { headersProblem } from '../../../platform/outbound/contract.ts'
import { MASK } from '../../../platform/outbound/masking.ts'
import type { Webhook } from '../delivery/webhook.ts'
import type * as contract from './contract.ts'

/** How long a replaced secret still signs (resources brief 7.4). */
export const OVERLAP_MS = 24 * 60 * 60 * 1000

/** The number of latest replaced secrets that still sign. */
const MOST_EARLIER_SECRETS = 4

type ChangeContext = {
  /** Real time. */
  readonly at: Instant
  /** Makes a secret for an endpoint that signs and has none. */
  readonly makeSecret: () => string
}

type VersionContext = ChangeContext & { readonly version: number }

/** Creates version 1. Makes a secret for each endpoint that signs and has none. Throws 400 if a secret or a header is a mask. */
export function newWebhook(
  { name, enabled, endpoint, failureHandling: handling, eventTypes }: contract.CreateWebhookRequest,
  { makeSecret, ...record }: { makeSecret: () => string; locator: Uuid; createdAt: Instant },
): Webhook {
  const alertEndpoint =
    handling?.alertEndpoint &&
    newEndpoint('failureHandling.alertEndpoint', handling.alertEndpoint, makeSecret)
  return {
    ...record,
    name,
    enabled,
    suspendedAt: null,
    endpoint: newEndpoint('endpoint', endpoint, makeSecret),
    failureHandling: handling && { ...handling, alertEndpoint },
    eventTypes: [...new Set(eventTypes)],
    version: 1,
    replayVersion: 0,
  }
}

/** Creates an endpoint. Rejects masks with 400: a webhook that is copied from an answer would be signed with a mask. */
function newEndpoint(
  path: string,
  request: contract.CreateEndpointRequest,
  makeSecret: () => string,
): WebhookEndpoint {
  const { secret = request.hmacEnabled ? makeSecret() : undefined, tag, ...endpoint } = request
  if (secret === MASK) throw maskWithoutValue(`${path}.secret`)
  for (const [name, values] of Object.entries(endpoint.headers))
    if (values.includes(MASK)) throw maskWithoutValue(`${path}.headers.${name}`)
  return {
    ...endpoint,
    url: urlWithStoredValues(endpoint.url, undefined),
    ...(secret !== undefined && { secret }),
    ...(tag !== undefined && { tag }),
  }
}

/** Returns the next version. Rejects an invalid result with 400. */
export function changedWebhook(
  before: Webhook,
  request: contract.UpdateWebhookRequest,
  context: ChangeContext,
): Webhook {
  const { name, enabled, endpoint, failureHandling, removeFailureHandling } = request
  const version = before.version + 1
  const versioned = { ...context, version }
  const handling = removeFailureHandling ? undefined : before.failureHandling
  return {
    ...before,
    name: name ?? before.name,
    enabled: enabled ?? before.enabled,
    endpoint: endpoint ? changedEndpoint('endpoint', before.endpoint, endpoint, versioned) : before.endpoint,
    failureHandling: failureHandling
      ? changedHandling(handling ?? OWN_FAILURE_HANDLING, failureHandling, versioned)
      : handling,
    eventTypes: changedList(before.eventTypes, request.removeEventTypes, request.addEventTypes),
    version,
  }
}

const changedList = (before: string[], removed: string[], added: string[]): string[] => [
  ...new Set([...before.filter(entry => !removed.includes(entry)), ...added]),
]

function changedHandling(
  { alertEndpoint, retryStrategy, ...before }: WebhookFailureHandling,
  request: contract.FailureHandlingUpdateRequest,
  context: VersionContext,
): WebhookFailureHandling {
  const retries = request.retryStrategy ?? (request.removeRetryStrategy ? undefined : retryStrategy)
  const kept = request.removeAlertEndpoint ? undefined : alertEndpoint
  const alert = request.alertEndpoint
    ? changedEndpoint('failureHandling.alertEndpoint', kept, request.alertEndpoint, context)
    : kept
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
  request: contract.UpdateEndpointRequest,
  { at, makeSecret, version }: VersionContext,
): WebhookEndpoint {
  const { url, tag = before?.tag } = request
  if (!before && url === undefined)
    throw invalidRequest(`'${path}.url' is missing: there is no endpoint to change yet.`)
  const headers = changedHeaders(path, before?.headers ?? {}, request)
  const hmacEnabled = request.hmacEnabled ?? before?.hmacEnabled ?? true
  const given = request.secret === MASK ? before?.secret : request.secret
  if (request.secret === MASK && given === undefined) throw maskWithoutValue(`${path}.secret`)
  const present = given ?? before?.secret
  const isMade = present === undefined && hmacEnabled
  const secret = isMade ? makeSecret() : present
  const earlierSecrets = earlierSecretsBeside(secret, before, at)
  return {
    url: url === undefined ? before!.url : urlWithStoredValues(url, before?.url),
    headers,
    secureSsl: request.secureSsl ?? before?.secureSsl ?? true,
    hmacEnabled,
    ...(secret !== undefined && { secret }),
    ...(isMade && { secretMadeIn: version }),
    ...(earlierSecrets.length > 0 && { earlierSecrets }),
    ...(tag !== undefined && { tag }),
  }
}

/** Returns the secrets that sign in addition to `secret`: the unexpired ones, and the one that it replaces. */
function earlierSecretsBeside(secret: string | undefined, before: WebhookEndpoint | undefined, at: Instant) {
  const replaced = before?.secret
  const valid = (before?.earlierSecrets ?? []).filter(
    earlier => at < earlier.until && earlier.secret !== secret,
  )
  return replaced === undefined || replaced === secret
    ? valid
    : [...valid, { secret: replaced, until: (at + OVERLAP_MS) as Instant }].slice(-MOST_EARLIER_SECRETS)
}

/** Applies the changes of the headers. Header names are case-insensitive. */
function changedHeaders(
  path: string,
  before: WebhookEndpoint['headers'],
  { addHeaders, removeHeaders }: contract.UpdateEndpointRequest,
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
        if (shown === undefined) throw maskWithoutValue(`${path}.addHeaders.${name}`)
        return shown
      }),
    ]),
  )
  const problem = headersProblem(headers)
  if (problem !== undefined) throw invalidRequest(`'${path}.addHeaders': all headers ${problem}.`)
  return headers
}
