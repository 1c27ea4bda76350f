// Webhooks (contract 2; resources brief 7.1). Read, an endpoint and its failure handling are the types of
// platform/events/tables.ts: every default is filled in here.
import { z } from '@hono/zod-openapi'
import { DEFAULT_TRIGGERS, OWN_FAILURE_HANDLING } from '../../../platform/events/tables.ts'
import { isEventTypePattern } from '../../../platform/events/types.ts'
import { checkHeaders, HeaderValue, OutboundUrl } from '../../../platform/outbound/contract.ts'
import { isSecret } from '../../../platform/outbound/signature.ts'
import {
  booleanOr,
  DateTime,
  Flag,
  Integer,
  LONGEST_LIST,
  LongName,
  list,
  Name,
  OptionalBoolean,
  OptionalName,
  OptionalText,
  optional,
  optionalRecord,
  PageSize,
  PagingToken,
  RequestBoolean,
  RequestDateTime,
  requestInteger,
  Text,
  Texts,
} from '../../../platform/wire.ts'
import { breaks, rule } from '../../../platform/wire-problem.ts'

const headerValues = z.preprocess(wire => (typeof wire === 'string' ? [wire] : wire), z.array(HeaderValue))

const Headers = z
  .preprocess(
    wire => wire ?? {},
    z.record(z.string(), headerValues).check(ctx => checkHeaders(ctx, ctx.value)),
  )
  .openapi({ description: 'Sent with every delivery.' })

const SECURE_SSL = 'Kept; certificates are always verified.'

const Secret = optional(
  LongName.refine(
    isSecret,
    rule('must have at least 4 characters; what begins with whsec_ must go on in base64'),
  ),
).openapi({ description: 'whsec_ and base64, or any text.', writeOnly: true })

const Tag = optional(HeaderValue.min(1).max(128)).openapi({
  description: 'Sent beside the signature, to name the secret.',
})

/** Deliveries are signed unless `hmacEnabled` is false; without a `secret` the service makes one. */
export const CreateEndpointRequest = z
  .object({
    url: OutboundUrl,
    headers: Headers,
    secureSsl: booleanOr(true).openapi({ description: SECURE_SSL }),
    hmacEnabled: booleanOr(true),
    secret: Secret,
    tag: Tag,
  })
  .openapi('CreateEndpointRequest')
export type CreateEndpointRequest = z.infer<typeof CreateEndpointRequest>

const strategies = z.enum(['linear', 'exponential'])

/** `interval` in seconds; `attempts` are all deliveries, the first included. */
export const RetryStrategyRequest = z
  .object({
    type: strategies,
    interval: requestInteger(1, 86_400),
    attempts: z.preprocess(wire => wire ?? 3, requestInteger(1, 10)).openapi({ default: 3 }),
  })
  .openapi('RetryStrategyRequest')
export type RetryStrategyRequest = z.infer<typeof RetryStrategyRequest>

const Trigger = z
  .string()
  .regex(
    /^([1-5]\d\d|[1345]xx|timeout)$/,
    rule("must be a code such as '503', '3xx', '4xx', '5xx' or 'timeout'"),
  )

/** Without a strategy a failed delivery is not tried again (resources brief 7.1). */
export const FailureHandlingCreateRequest = z
  .object({
    triggers: z
      .preprocess(wire => wire ?? [...DEFAULT_TRIGGERS], z.array(Trigger).max(100))
      .openapi({
        default: [...DEFAULT_TRIGGERS],
        description: 'Failures that are handled; others are only logged.',
      }),
    retryStrategy: optionalRecord(RetryStrategyRequest),
    divert: booleanOr(false).openapi({ description: 'Put the event aside after the last attempt.' }),
    suspend: booleanOr(false).openapi({ description: 'Suspend the webhook after the last attempt.' }),
    alertEndpoint: optionalRecord(CreateEndpointRequest),
  })
  .openapi('FailureHandlingCreateRequest')
export type FailureHandlingCreateRequest = z.infer<typeof FailureHandlingCreateRequest>

const EventTypePattern = z
  .string()
  .refine(
    isEventTypePattern,
    rule('must be a type of event, or the beginning of some and ".*", as "policy.*"'),
  )

const { retryStrategy: OWN_RETRIES } = OWN_FAILURE_HANDLING

/** A missing `failureHandling` is the service's own (`OWN_FAILURE_HANDLING`), though the contract lists it as required. */
export const CreateWebhookRequest = z
  .object({
    name: Name,
    enabled: RequestBoolean,
    endpoint: CreateEndpointRequest,
    failureHandling: optionalRecord(FailureHandlingCreateRequest).openapi({
      description: `Left out: ${DEFAULT_TRIGGERS.join(', ')} are tried again for most of a day, ${OWN_RETRIES!.attempts} attempts in all, the second after ${OWN_RETRIES!.interval} s and each wait twice the one before.`,
    }),
    eventTypes: z
      .array(EventTypePattern)
      .max(LONGEST_LIST)
      .openapi({ description: 'An empty list gets nothing.' }),
  })
  .openapi('CreateWebhookRequest', {
    required: ['name', 'enabled', 'endpoint', 'failureHandling', 'eventTypes'],
  })
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>

const REMOVED_FIRST = 'Removals come first: what is in both lists is there afterwards.'

const Removals = list(Name).openapi({ description: `What is not there is passed over. ${REMOVED_FIRST}` })

/** What is left out stays as it is. */
export const UpdateEndpointRequest = z
  .object({
    url: optional(OutboundUrl),
    addHeaders: Headers.openapi({
      description: `The values become those of the header, whatever it had. ${REMOVED_FIRST}`,
    }),
    removeHeaders: Removals,
    secureSsl: OptionalBoolean.openapi({ description: SECURE_SSL }),
    hmacEnabled: OptionalBoolean.openapi({ description: 'Without a secret the service makes one.' }),
    secret: Secret.openapi({
      description:
        'whsec_ and base64, or any text. The one that it replaces signs beside it for 24 hours. ******** keeps the one that is there.',
    }),
    tag: Tag,
  })
  .openapi('UpdateEndpointRequest', { required: ['url', 'addHeaders', 'removeHeaders'] })
export type UpdateEndpointRequest = z.infer<typeof UpdateEndpointRequest>

/** What is left out stays as it is; where the client had given none, that is the service's own (`OWN_FAILURE_HANDLING`). */
export const FailureHandlingUpdateRequest = z
  .object({
    alertEndpoint: optionalRecord(UpdateEndpointRequest).openapi({
      description: 'Needs `url` where there is none yet.',
    }),
    removeAlertEndpoint: booleanOr(false),
    addTriggers: list(Trigger),
    removeTriggers: Removals,
    retryStrategy: optionalRecord(RetryStrategyRequest),
    removeRetryStrategy: booleanOr(false),
    divert: OptionalBoolean,
    suspend: OptionalBoolean,
  })
  .openapi('FailureHandlingUpdateRequest')
export type FailureHandlingUpdateRequest = z.infer<typeof FailureHandlingUpdateRequest>

/** What is left out stays as it is, though the contract requires all of it. Removals come before additions (contract 2, Webhooks). */
export const UpdateWebhookRequest = z
  .object({
    name: OptionalName,
    enabled: OptionalBoolean,
    endpoint: optionalRecord(UpdateEndpointRequest),
    failureHandling: optionalRecord(FailureHandlingUpdateRequest),
    removeFailureHandling: booleanOr(false).openapi({
      description: `The service's own takes its place, which \`failureHandling\` then changes.`,
    }),
    addEventTypes: list(EventTypePattern),
    removeEventTypes: Removals,
  })
  .openapi('UpdateWebhookRequest', {
    required: [
      ...['name', 'enabled', 'endpoint', 'failureHandling', 'removeFailureHandling'],
      ...['addEventTypes', 'removeEventTypes'],
    ],
  })
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>

const Offset = z.preprocess(wire => wire ?? 0, requestInteger(0)).openapi({ default: 0 })

/** At most 1,000 of one answer; further ones by `offset` (resources brief 0.1). */
export const WebhookListQuery = z.object({
  offset: Offset,
  count: PageSize,
  extended: booleanOr(false).openapi({ description: 'true: `{listCompleted, items}` instead of the array.' }),
  name: OptionalName,
  enabled: OptionalBoolean,
  suspended: OptionalBoolean,
  active: OptionalBoolean.openapi({ description: 'Enabled and not suspended.' }),
  eventTypes: z
    .preprocess(wire => (typeof wire === 'string' && wire !== '' ? [wire] : wire || undefined), list(Name))
    .openapi({ description: 'Those that list any of these types.' }),
})
export type WebhookListQuery = z.infer<typeof WebhookListQuery>

/** `secret` is there in the answer that creates it, and `********` afterwards. */
export const EndpointResponse = z
  .object({
    url: Text,
    headers: z.record(Text, Texts),
    secureSsl: Flag,
    hmacEnabled: Flag,
    secret: OptionalText,
    tag: OptionalText,
  })
  .openapi('EndpointResponse')
export type EndpointResponse = z.infer<typeof EndpointResponse>

export const RetryStrategyResponse = z
  .object({ type: strategies, interval: Integer, attempts: Integer })
  .openapi('RetryStrategyResponse')
export type RetryStrategyResponse = z.infer<typeof RetryStrategyResponse>

export const FailureHandlingResponse = z
  .object({
    triggers: Texts,
    retryStrategy: RetryStrategyResponse.optional(),
    divert: Flag,
    suspend: Flag,
    alertEndpoint: EndpointResponse.optional(),
  })
  .openapi('FailureHandlingResponse')
export type FailureHandlingResponse = z.infer<typeof FailureHandlingResponse>

export const WebhookResponse = z
  .object({
    locator: Text,
    name: Text,
    enabled: Flag,
    endpoint: EndpointResponse,
    failureHandling: FailureHandlingResponse,
    suspended: Flag,
    suspendedAt: DateTime.nullable().openapi({ description: 'null while it is not suspended.' }),
    eventTypes: Texts,
    skippedEvents: Integer.optional().openapi({
      description: 'In the answer to GET of a suspended webhook: events that were not sent and not diverted.',
    }),
    divertedEvents: Integer.optional().openapi({
      description: 'In the answer to GET: events that are put aside.',
    }),
  })
  .openapi('WebhookResponse')
export type WebhookResponse = z.infer<typeof WebhookResponse>

const ListCompleted = Flag.openapi({ description: 'Whether nothing follows.' })

export const WebhookListResponse = z
  .object({ listCompleted: ListCompleted, items: z.array(WebhookResponse) })
  .openapi('WebhookListResponse')
export type WebhookListResponse = z.infer<typeof WebhookListResponse>

export const UnsuspendQuery = z.object({
  replay: booleanOr(false).openapi({
    description: 'Send what was put aside meanwhile, in order: what was skipped, and what is diverted.',
  }),
})
export type UnsuspendQuery = z.infer<typeof UnsuspendQuery>

// ---------------------------------------------------------------------------------------------- deliveries

const From = optional(RequestDateTime).openapi({ description: 'Events from this time on.' })
const To = optional(RequestDateTime).openapi({ description: 'Events before this time.' })

const DELIVERY_STATES = ['waiting', 'pending', 'sent', 'failed', 'diverted', 'skipped'] as const

export const DeliveryListQuery = z.object({
  state: optional(z.enum(DELIVERY_STATES)),
  eventLocator: OptionalName.openapi({ description: 'The delivery of this event only.' }),
  from: From,
  to: To,
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type DeliveryListQuery = z.infer<typeof DeliveryListQuery>

const OUTCOME =
  'An HTTP status; `timeout`: no answer within 15 seconds; `unreachable`: no connection; `addressRefused`, `secretMissing`: not sent, since the address may not be called, or a secret that a header refers to is not there.'

const attemptFields = {
  timestamp: DateTime,
  outcome: Text.openapi({ description: OUTCOME }),
  status: Integer.optional().openapi({ description: 'HTTP status, where an answer came.' }),
  durationMs: Integer,
  excerpt: OptionalText.openapi({
    description: 'The beginning of the answer, at most 4 KiB, without secrets.',
  }),
}

export const DeliveryAttemptResponse = z.object(attemptFields).openapi('DeliveryAttemptResponse')
export type DeliveryAttemptResponse = z.infer<typeof DeliveryAttemptResponse>

export const DeliveryResponse = z
  .object({
    eventLocator: Text.openapi({ description: 'Also the `webhook-id` of every attempt.' }),
    requestLocator: Text,
    eventType: Text.openapi({ description: 'By the name that the webhook is told.' }),
    eventTimestamp: DateTime,
    sequence: Integer,
    state: z.enum(DELIVERY_STATES).openapi({
      description:
        'waiting: behind an earlier one of the same policy; pending: due at `dueAt`; sent: a 2xx came; failed: given up; diverted, skipped: put aside.',
    }),
    outcome: OptionalText.openapi({
      description: `Of the last attempt, or why there was none: \`suspended\`, \`deleted\`, \`discarded\`. ${OUTCOME}`,
    }),
    dueAt: DateTime.optional(),
    finishedAt: DateTime.optional(),
    attempts: z.array(DeliveryAttemptResponse).openapi({ description: 'Oldest first, the latest 20.' }),
  })
  .openapi('DeliveryResponse')
export type DeliveryResponse = z.infer<typeof DeliveryResponse>

/** In the order of the events; finished ones are there for 30 days. */
export const DeliveryListResponse = z
  .object({
    listCompleted: ListCompleted,
    items: z.array(DeliveryResponse),
    pagingToken: OptionalText.openapi({ description: 'Absent on the last page.' }),
  })
  .openapi('DeliveryListResponse')
export type DeliveryListResponse = z.infer<typeof DeliveryListResponse>

const Locators = z
  .preprocess(wire => wire ?? undefined, z.array(Name).min(1).max(1_000).optional())
  .openapi({ description: 'At most 1,000.' })

/** The events named, or those of the time; of the webhook's types either way. */
export const RedeliverRequest = z
  .object({ eventLocators: Locators, from: From, to: To })
  .check(ctx => {
    const { eventLocators, from, to } = ctx.value
    if (eventLocators === undefined && from === undefined && to === undefined)
      breaks(ctx, "needs 'eventLocators', or 'from' or 'to'")
    if (eventLocators !== undefined && (from !== undefined || to !== undefined))
      breaks(ctx, "names events and a time; send 'eventLocators', or 'from' and 'to'")
  })
  .openapi('RedeliverRequest')
export type RedeliverRequest = z.infer<typeof RedeliverRequest>

/** Diverted events: those named, or with `all` every one, of the time where one is given. */
export const DivertedResendRequest = z
  .object({ eventLocators: Locators, all: booleanOr(false), from: From, to: To })
  .check(ctx => {
    const { eventLocators, all, from, to } = ctx.value
    const byTime = all || from !== undefined || to !== undefined
    if (byTime === (eventLocators !== undefined))
      breaks(ctx, "needs either 'eventLocators', or 'all', 'from' or 'to'")
  })
  .openapi('DivertedResendRequest')
export type DivertedResendRequest = z.infer<typeof DivertedResendRequest>

export const ResendResponse = z
  .object({ events: Integer.openapi({ description: 'How many are sent again.' }) })
  .openapi('ResendResponse')
export type ResendResponse = z.infer<typeof ResendResponse>

export const TestDeliveryResponse = z
  .object({
    ...attemptFields,
    eventLocator: Text,
    delivered: Flag.openapi({ description: 'Whether a 2xx came.' }),
  })
  .openapi('TestDeliveryResponse')
export type TestDeliveryResponse = z.infer<typeof TestDeliveryResponse>

export const DivertedListQuery = z.object({ offset: Offset, count: PageSize })
export type DivertedListQuery = z.infer<typeof DivertedListQuery>

export const DivertedEventResponse = z
  .object({
    requestLocator: Text,
    eventLocator: Text,
    failureTrigger: Text.openapi({
      description:
        'The HTTP status, or `timeout`; `suspended` for what came while the webhook was suspended.',
    }),
    failureMessage: Text,
    failureTimestamp: DateTime,
  })
  .openapi('DivertedEventResponse')
export type DivertedEventResponse = z.infer<typeof DivertedEventResponse>
