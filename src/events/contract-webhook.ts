// Webhooks (contract 2; resources brief 7.1). Read, an endpoint and its failure handling are the types of
// webhook.ts: every default is filled in here.
import { z } from '@hono/zod-openapi'
import { checkHeaders, HeaderValue, OutboundUrl } from '../platform/outbound/contract.ts'
import {
  booleanOr,
  DateTime,
  Flag,
  filledIn,
  Integer,
  list,
  Name,
  OptionalBoolean,
  OptionalLongName,
  OptionalName,
  OptionalText,
  optionalRecord,
  PageSize,
  RequestBoolean,
  requestInteger,
  Text,
  Texts,
} from '../platform/wire.ts'
import { rule } from '../platform/wire-problem.ts'
import { isEventTypePattern } from './types.ts'

const headerValues = z.preprocess(wire => (typeof wire === 'string' ? [wire] : wire), z.array(HeaderValue))

const Headers = z
  .preprocess(
    wire => wire ?? {},
    z.record(z.string(), headerValues).check(ctx => checkHeaders(ctx, ctx.value)),
  )
  .openapi({ description: 'Sent with every delivery.' })

/** Deliveries are signed unless `hmacEnabled` is false; without a `secret` the service makes one. */
export const CreateEndpointRequest = z
  .object({
    url: OutboundUrl,
    headers: Headers,
    secureSsl: booleanOr(true).openapi({ description: 'Kept; certificates are always verified.' }),
    hmacEnabled: booleanOr(true),
    secret: OptionalLongName.openapi({ description: 'whsec_ and base64, or any text.', writeOnly: true }),
    tag: OptionalName.openapi({ description: 'Sent beside the signature, to name the secret.' }),
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

const DEFAULT_TRIGGERS = ['4xx', '5xx', 'timeout']

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
      .preprocess(wire => wire ?? DEFAULT_TRIGGERS, z.array(Trigger).max(100))
      .openapi({
        default: DEFAULT_TRIGGERS,
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

/** A missing `failureHandling` has its defaults (resources brief 7.1), though the contract lists it as required. */
export const CreateWebhookRequest = filledIn(
  { failureHandling: {} },
  z.object({
    name: Name,
    enabled: RequestBoolean,
    endpoint: CreateEndpointRequest,
    failureHandling: FailureHandlingCreateRequest,
    eventTypes: list(EventTypePattern),
  }),
).openapi('CreateWebhookRequest')
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>

/** At most 1,000 of one answer; further ones by `offset` (resources brief 0.1). */
export const WebhookListQuery = z.object({
  offset: z.preprocess(wire => wire ?? 0, requestInteger(0)).openapi({ default: 0 }),
  count: PageSize,
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
  })
  .openapi('WebhookResponse')
export type WebhookResponse = z.infer<typeof WebhookResponse>
