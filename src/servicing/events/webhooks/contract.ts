// Webhooks (contract 2; resources brief 7.1). Parsed requests have the types of platform/events/tables.ts, including defaults.
import { z } from '@hono/zod-openapi'
import { DEFAULT_TRIGGERS, OWN_FAILURE_HANDLING } from '../../../platform/events/tables.ts'
import { isEventTypePattern } from '../../../platform/events/types.ts'
import { checkHeaders, HeaderValue, OutboundUrl } from '../../../platform/outbound/contract.ts'
import { isSecret } from '../../../platform/outbound/signature.ts'
import {
  booleanOr,
  component,
  DateTime,
  Flag,
  Integer,
  ListCompleted,
  ListOrder,
  LONGEST_LIST,
  LongName,
  list,
  listOf,
  Name,
  OptionalBoolean,
  OptionalName,
  OptionalText,
  offsetUpTo,
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
import { reportProblem, rule } from '../../../platform/wire-problem.ts'

const headerValues = z.preprocess(wire => (typeof wire === 'string' ? [wire] : wire), z.array(HeaderValue))

const Headers = z
  .preprocess(
    wire => wire ?? {},
    z.record(z.string(), headerValues).check(ctx => checkHeaders(ctx, ctx.value)),
  )
  .describe('Sent with every delivery.')

const SECURE_SSL = 'Stored but not used: certificates are always verified.'

const SECRET_RULE = rule('must have at least 4 characters; after whsec_ it must be base64')

const Secret = optional(LongName.refine(isSecret, SECRET_RULE)).openapi({
  description: 'whsec_ and base64, or any text.',
  writeOnly: true,
})

const Tag = optional(HeaderValue.min(1).max(128)).describe('Sent with the signature, to identify the secret.')

/** Deliveries are signed unless `hmacEnabled` is false. Without a `secret` Bindery makes one. */
export const CreateEndpointRequest = component('CreateEndpointRequest', {
  url: OutboundUrl,
  headers: Headers,
  secureSsl: booleanOr(true).describe(SECURE_SSL),
  hmacEnabled: booleanOr(true),
  secret: Secret,
  tag: Tag,
})
export type CreateEndpointRequest = z.infer<typeof CreateEndpointRequest>

const strategies = z.enum(['linear', 'exponential'])

const { retryStrategy: OWN_RETRIES } = OWN_FAILURE_HANDLING

const MOST_ATTEMPTS = 10

/** `interval` is in seconds. `attempts` counts the first. Bindery's own strategy may exceed 10, so answers can be sent back. */
export const RetryStrategyRequest = z
  .object({
    type: strategies,
    interval: requestInteger(1, 86_400),
    attempts: z
      .preprocess(wire => wire ?? 3, requestInteger(1, OWN_RETRIES!.attempts))
      .openapi({ default: 3 }),
  })
  .check(ctx => {
    const { type, interval, attempts } = ctx.value
    const isOwn = type === OWN_RETRIES!.type && interval === OWN_RETRIES!.interval
    if (attempts > MOST_ATTEMPTS && !(isOwn && attempts === OWN_RETRIES!.attempts))
      reportProblem(ctx, `must be at most ${MOST_ATTEMPTS}`, ['attempts'])
  })
  .openapi('RetryStrategyRequest')

const TRIGGER_RULE = rule("must be a code such as '503', '3xx', '4xx', '5xx' or 'timeout'")
const Trigger = z.string().regex(/^([1-5]\d\d|[1345]xx|timeout)$/, TRIGGER_RULE)

/** Without a strategy a failed delivery is not tried again (resources brief 7.1). */
export const FailureHandlingCreateRequest = component('FailureHandlingCreateRequest', {
  triggers: z
    .preprocess(wire => wire ?? [...DEFAULT_TRIGGERS], z.array(Trigger).max(100))
    .openapi({
      default: [...DEFAULT_TRIGGERS],
      description: 'Failures that are handled. Others are only logged.',
    }),
  retryStrategy: optionalRecord(RetryStrategyRequest),
  divert: booleanOr(false).describe('Whether to divert the event after the last attempt.'),
  suspend: booleanOr(false).describe('Whether to suspend the webhook after the last attempt.'),
  alertEndpoint: optionalRecord(CreateEndpointRequest),
})

const TYPE_RULE = rule('must be a type of event, or a prefix followed by ".*", such as "policy.*"')
const EventTypePattern = z.string().refine(isEventTypePattern, TYPE_RULE)

/** The contract requires `failureHandling`; here it may be missing, and `OWN_FAILURE_HANDLING` applies. */
export const CreateWebhookRequest = component(
  'CreateWebhookRequest',
  {
    name: Name,
    enabled: RequestBoolean,
    endpoint: CreateEndpointRequest,
    failureHandling: optionalRecord(FailureHandlingCreateRequest).describe(
      `Left out: ${DEFAULT_TRIGGERS.join(', ')} are retried for most of a day, with ${OWN_RETRIES!.attempts} attempts in total. The second follows after ${OWN_RETRIES!.interval} s, and each wait is twice the previous one.`,
    ),
    eventTypes: z.array(EventTypePattern).max(LONGEST_LIST).describe('An empty list: no events.'),
  },
  {
    required: ['name', 'enabled', 'endpoint', 'failureHandling', 'eventTypes'],
  },
)
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>

const REMOVED_FIRST = 'Removals are applied first: an entry of both lists stays.'

const Removals = list(Name).describe(`Entries that do not exist are ignored. ${REMOVED_FIRST}`)

/** Missing properties keep their values. */
export const UpdateEndpointRequest = component(
  'UpdateEndpointRequest',
  {
    url: optional(OutboundUrl),
    addHeaders: Headers.describe(`These values replace all previous values of the header. ${REMOVED_FIRST}`),
    removeHeaders: Removals,
    secureSsl: OptionalBoolean.describe(SECURE_SSL),
    hmacEnabled: OptionalBoolean.describe('If there is no secret, the service creates one.'),
    secret: Secret.describe(
      'whsec_ and base64, or any text. The previous secret also signs for 24 hours. ******** keeps the current one.',
    ),
    tag: Tag,
  },
  { required: ['url', 'addHeaders', 'removeHeaders'] },
)
export type UpdateEndpointRequest = z.infer<typeof UpdateEndpointRequest>

/** Missing properties keep their values, or get those of `OWN_FAILURE_HANDLING`. */
export const FailureHandlingUpdateRequest = component('FailureHandlingUpdateRequest', {
  alertEndpoint: optionalRecord(UpdateEndpointRequest).describe('Needs `url` if there is none yet.'),
  removeAlertEndpoint: booleanOr(false),
  addTriggers: list(Trigger),
  removeTriggers: Removals,
  retryStrategy: optionalRecord(RetryStrategyRequest),
  removeRetryStrategy: booleanOr(false),
  divert: OptionalBoolean,
  suspend: OptionalBoolean,
})
export type FailureHandlingUpdateRequest = z.infer<typeof FailureHandlingUpdateRequest>

/** Missing properties keep their values; the contract requires all. Removals precede additions (contract 2, Webhooks). */
export const UpdateWebhookRequest = component(
  'UpdateWebhookRequest',
  {
    name: OptionalName,
    enabled: OptionalBoolean,
    endpoint: optionalRecord(UpdateEndpointRequest),
    failureHandling: optionalRecord(FailureHandlingUpdateRequest),
    removeFailureHandling: booleanOr(false).describe(
      `The default of the service replaces it; \`failureHandling\` then changes that.`,
    ),
    addEventTypes: list(EventTypePattern),
    removeEventTypes: Removals,
  },
  {
    required: [
      'name',
      'enabled',
      'endpoint',
      'failureHandling',
      'removeFailureHandling',
      'addEventTypes',
      'removeEventTypes',
    ],
  },
)
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>

/** At most 1,000 entries; use `offset` for more (resources brief 0.1). */
export const WebhookListQuery = z.object({
  offset: offsetUpTo(),
  count: PageSize,
  extended: booleanOr(false).describe('true: the response is `{listCompleted, items}` instead of the array.'),
  name: OptionalName,
  enabled: OptionalBoolean,
  suspended: OptionalBoolean,
  active: OptionalBoolean.describe('Enabled and not suspended.'),
  // Clients send a parameter for each type, or one with commas, which no type contains.
  eventTypes: z
    .preprocess(wire => [wire ?? []].flat().join(',').split(',').filter(Boolean), list(Name))
    .describe('Only webhooks that list any of these types.'),
})
export type WebhookListQuery = z.infer<typeof WebhookListQuery>

/** The response that creates the `secret` shows it; later responses show `********`. */
export const EndpointResponse = component('EndpointResponse', {
  url: Text,
  headers: z.record(Text, Texts),
  secureSsl: Flag,
  hmacEnabled: Flag,
  secret: OptionalText,
  tag: OptionalText,
})
export type EndpointResponse = z.infer<typeof EndpointResponse>

export const RetryStrategyResponse = component('RetryStrategyResponse', {
  type: strategies,
  interval: Integer,
  attempts: Integer,
})

export const FailureHandlingResponse = component('FailureHandlingResponse', {
  triggers: Texts,
  retryStrategy: RetryStrategyResponse.optional(),
  divert: Flag,
  suspend: Flag,
  alertEndpoint: EndpointResponse.optional(),
})
export type FailureHandlingResponse = z.infer<typeof FailureHandlingResponse>

export const WebhookResponse = component('WebhookResponse', {
  locator: Text,
  name: Text,
  enabled: Flag,
  endpoint: EndpointResponse,
  failureHandling: FailureHandlingResponse,
  suspended: Flag,
  suspendedAt: DateTime.nullable().describe('null if the webhook is not suspended.'),
  eventTypes: Texts,
  skippedEvents: Integer.optional().describe(
    'In the response to GET of a suspended webhook: the number of events that were neither sent nor diverted.',
  ),
  divertedEvents: Integer.optional().describe('In the response to GET: the number of diverted events.'),
})
export type WebhookResponse = z.infer<typeof WebhookResponse>

export const WebhookListResponse = listOf('WebhookListResponse', WebhookResponse)
export type WebhookListResponse = z.infer<typeof WebhookListResponse>

export const UnsuspendQuery = z.object({
  replay: booleanOr(false).describe('Whether to send the skipped and the diverted events, in order.'),
})
export type UnsuspendQuery = z.infer<typeof UnsuspendQuery>

const From = optional(RequestDateTime).describe('Only events at or after this time.')
const To = optional(RequestDateTime).describe('Only events before this time.')

const DELIVERY_STATES = ['waiting', 'pending', 'sent', 'failed', 'diverted', 'skipped'] as const

export const DeliveryListQuery = z.object({
  state: optional(z.enum(DELIVERY_STATES)),
  eventLocator: OptionalName.describe('Only the delivery of this event.'),
  from: From,
  to: To,
  order: ListOrder,
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type DeliveryListQuery = z.infer<typeof DeliveryListQuery>

const OUTCOME =
  'An HTTP status; `timeout`: no response within 15 seconds; `unreachable`: no connection; `addressRefused`, `secretMissing`: not sent, because the address must not be called, or a secret of a header does not exist.'

const attemptFields = {
  timestamp: DateTime,
  outcome: Text.describe(OUTCOME),
  status: Integer.optional().describe('HTTP status, if there was a response.'),
  durationMs: Integer,
  excerpt: OptionalText.describe('The beginning of the response, at most 4 KiB, without secrets.'),
}

export const DeliveryAttemptResponse = component('DeliveryAttemptResponse', attemptFields)
export type DeliveryAttemptResponse = z.infer<typeof DeliveryAttemptResponse>

export const DeliveryResponse = component('DeliveryResponse', {
  eventLocator: Text.describe('Also the `webhook-id` of every attempt.'),
  requestLocator: Text,
  eventType: Text.describe('The event type, by the name that the webhook uses.'),
  eventTimestamp: DateTime,
  sequence: Integer,
  state: z
    .enum(DELIVERY_STATES)
    .describe(
      'waiting: an earlier delivery of the same policy comes first; pending: due at `dueAt`; sent: the endpoint responded with 2xx; failed: no further attempts; diverted, skipped: not delivered, but kept.',
    ),
  outcome: OptionalText.describe(
    `Outcome of the last attempt, or the reason if there was none: \`suspended\`, \`deleted\`, \`discarded\`. ${OUTCOME}`,
  ),
  dueAt: DateTime.optional(),
  finishedAt: DateTime.optional(),
  attempts: z.array(DeliveryAttemptResponse).describe('The latest 20 attempts, oldest first.'),
})
export type DeliveryResponse = z.infer<typeof DeliveryResponse>

/** In the order of the events. Finished deliveries are kept for 30 days. */
export const DeliveryListResponse = component('DeliveryListResponse', {
  listCompleted: ListCompleted,
  items: z.array(DeliveryResponse),
  pagingToken: OptionalText.describe('Absent on the last page.'),
})
export type DeliveryListResponse = z.infer<typeof DeliveryListResponse>

export const FailedDeliveryQuery = z.object({
  state: optional(z.enum(['failed', 'diverted'])).describe('Default: both.'),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type FailedDeliveryQuery = z.infer<typeof FailedDeliveryQuery>

const { eventLocator, requestLocator, eventType, eventTimestamp, outcome, finishedAt } =
  DeliveryResponse.shape

export const FailedDeliveryResponse = component('FailedDeliveryResponse', {
  webhookLocator: Text,
  webhookName: Text,
  eventLocator,
  requestLocator,
  eventType,
  eventTimestamp,
  state: z.enum(['failed', 'diverted']),
  outcome,
  finishedAt,
})
export type FailedDeliveryResponse = z.infer<typeof FailedDeliveryResponse>

export const FailedDeliveryListResponse = component('FailedDeliveryListResponse', {
  listCompleted: ListCompleted,
  items: z.array(FailedDeliveryResponse),
  pagingToken: OptionalText.describe('Absent on the last page.'),
})
export type FailedDeliveryListResponse = z.infer<typeof FailedDeliveryListResponse>

const Locators = z
  .preprocess(wire => wire ?? undefined, z.array(Name).min(1).max(1_000).optional())
  .describe('At most 1,000.')

/** Selects events by name or by time span; only events of the webhook's types. */
export const RedeliverRequest = z
  .object({ eventLocators: Locators, from: From, to: To })
  .check(ctx => {
    const { eventLocators, from, to } = ctx.value
    if (eventLocators === undefined && from === undefined && to === undefined)
      reportProblem(ctx, "needs 'eventLocators', 'from' or 'to'")
    if (eventLocators !== undefined && (from !== undefined || to !== undefined))
      reportProblem(ctx, "has both events and a time; send either 'eventLocators', or 'from' and 'to'")
  })
  .openapi('RedeliverRequest')
export type RedeliverRequest = z.infer<typeof RedeliverRequest>

/** Selects events by name or by time span, or all events. */
export const DivertedResendRequest = z
  .object({ eventLocators: Locators, all: booleanOr(false), from: From, to: To })
  .check(ctx => {
    const { eventLocators, all, from, to } = ctx.value
    const byTime = all || from !== undefined || to !== undefined
    if (byTime === (eventLocators !== undefined))
      reportProblem(ctx, "needs either 'eventLocators', or 'all', 'from' or 'to'")
  })
  .openapi('DivertedResendRequest')
export type DivertedResendRequest = z.infer<typeof DivertedResendRequest>

export const ResendResponse = component('ResendResponse', {
  events: Integer.describe('Number of events that are sent again.'),
})
export type ResendResponse = z.infer<typeof ResendResponse>

export const TestDeliveryResponse = component('TestDeliveryResponse', {
  ...attemptFields,
  eventLocator: Text,
  delivered: Flag.describe('Whether the endpoint responded with 2xx.'),
})
export type TestDeliveryResponse = z.infer<typeof TestDeliveryResponse>

/** For entries beyond 10,000, callers use the list of deliveries in the state `diverted`, which has a token. */
export const DivertedListQuery = z.object({ offset: offsetUpTo(10_000), count: PageSize })
export type DivertedListQuery = z.infer<typeof DivertedListQuery>

export const DivertedEventResponse = component('DivertedEventResponse', {
  requestLocator: Text,
  eventLocator: Text,
  failureTrigger: Text.describe(
    'The HTTP status, or `timeout`; `suspended` for events from while the webhook was suspended.',
  ),
  failureMessage: Text,
  failureTimestamp: DateTime,
})
export type DivertedEventResponse = z.infer<typeof DivertedEventResponse>
