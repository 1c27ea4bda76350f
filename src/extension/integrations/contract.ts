// External service integrations (contract 2, Integrations; resources brief 6.1) and the log of their calls (6.4).
import { z } from '@hono/zod-openapi'
import { isStorable } from '../../kernel/text.ts'
import { checkHeaders, HeaderValue, OutboundUrl } from '../../platform/outbound/contract.ts'
import { isSecret } from '../../platform/outbound/signature.ts'
import {
  booleanOr,
  component,
  Flag,
  Integer,
  Name,
  OptionalBoolean,
  OptionalLongName,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  optional,
  optionalRecord,
  PageSize,
  PagingToken,
  Text,
  Texts,
  Timestamp,
} from '../../platform/wire.ts'
import { reportProblem, rule } from '../../platform/wire-problem.ts'
import { AutofillCalls } from '../../policy/contract/requests.ts'
import { isOperationName } from './autofill/sequence.ts'
import { INTEGRATION_TYPES } from './integration.ts'

const MASKED =
  'Values that look secret are shown as `********`. Send `********` in a PUT to keep the stored value.'

const Headers = z
  .preprocess(
    wire => wire ?? {},
    z.record(z.string(), HeaderValue).check(ctx => checkHeaders(ctx, ctx.value)),
  )
  .describe('Headers sent with every call.')

/** `hmacEnabled` defaults to true if there is a secret. */
export const SecuritySpecRequest = z
  .object({
    hmacEnabled: OptionalBoolean.describe('Whether to sign calls. Default: true if there is a secret.'),
    secret: OptionalLongName.describe('`whsec_` followed by base64, or any text.'),
    secureSSL: booleanOr(true).describe('Stored but ignored; certificates are always verified.'),
    tag: optional(HeaderValue.min(1).max(128)).describe('Name of the secret, sent with the signature.'),
  })
  .check(ctx => {
    const { hmacEnabled, secret, tag } = ctx.value
    if (secret === undefined && hmacEnabled === true) reportProblem(ctx, 'needs a secret', ['hmacEnabled'])
    if (secret === undefined && tag !== undefined) reportProblem(ctx, 'needs a secret', ['tag'])
    if (secret !== undefined && !isSecret(secret))
      reportProblem(ctx, 'must have at least 4 characters; after whsec_ it must be base64', ['secret'])
  })
  .openapi('SecuritySpecRequest')
export type SecuritySpecRequest = z.infer<typeof SecuritySpecRequest>

const connection = {
  url: OutboundUrl.describe('An https address on the public internet.'),
  headers: Headers,
  securitySpec: optionalRecord(SecuritySpecRequest),
}

/** Reserved names: the plugin in autofill sequences, and the path of the sequences. */
const RESERVED: ReadonlySet<string> = new Set(['internal', 'autofill'])

const StorableName = Name.refine(isStorable, rule('must be text without NUL')).refine(
  name => !RESERVED.has(name),
  rule(`must be a name other than ${[...RESERVED].join(' and ')}, which are reserved`),
)

export const ExternalServiceIntegrationAddRequest = component('ExternalServiceIntegrationAddRequest', {
  name: StorableName,
  type: z
    .preprocess(wire => wire || 'external_rater', z.enum(INTEGRATION_TYPES))
    .openapi({
      type: 'string',
      enum: [...INTEGRATION_TYPES],
      default: 'external_rater',
      description: 'webhook and fe-plugins are stored and listed, but the service does not call them.',
    }),
  ...connection,
})
export type ExternalServiceIntegrationAddRequest = z.infer<typeof ExternalServiceIntegrationAddRequest>

export const ExternalServiceIntegrationUpdateRequest = component(
  'ExternalServiceIntegrationUpdateRequest',
  connection,
)
export type ExternalServiceIntegrationUpdateRequest = z.infer<typeof ExternalServiceIntegrationUpdateRequest>

const SecuritySpecResponse = component('SecuritySpecResponse', {
  hmacEnabled: Flag,
  secret: OptionalText,
  secureSSL: Flag,
  tag: OptionalText,
})

export const ExternalServiceIntegrationResponse = component('ExternalServiceIntegrationResponse', {
  name: Text,
  headers: z.record(Text, Text).describe(MASKED),
  tenantLocator: Text,
  type: z.enum(INTEGRATION_TYPES),
  url: Text,
  securitySpec: SecuritySpecResponse.optional(),
})
export type ExternalServiceIntegrationResponse = z.infer<typeof ExternalServiceIntegrationResponse>

export const ExternalServiceIntegrationsResponse = component('ExternalServiceIntegrationsResponse', {
  externalServiceIntegrations: z.array(ExternalServiceIntegrationResponse),
})
export type ExternalServiceIntegrationsResponse = z.infer<typeof ExternalServiceIntegrationsResponse>

export const IntegrationCallsQuery = z.object({
  policyLocator: OptionalName.describe('Returns only calls for this policy.'),
  failed: OptionalBoolean.describe('If true, returns only failed calls; if false, only successful ones.'),
  startTimestamp: OptionalTimestamp.describe('Returns only calls at or after this time.'),
  endTimestamp: OptionalTimestamp.describe('Returns only calls before this time.'),
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type IntegrationCallsQuery = z.infer<typeof IntegrationCallsQuery>

const Attempt = z.object({
  outcome: Text.describe('The HTTP status, or timeout, unreachable, cutOff, tooLarge, addressRefused.'),
  durationMs: Integer,
})

const call = {
  locator: Text,
  timestamp: Timestamp,
  type: Text,
  operation: Text,
  policyLocator: OptionalText,
  requestId: Text.describe('X-Request-Id of the request that made the call.'),
  username: Text,
  url: Text,
  attempts: z.array(Attempt),
  status: Integer.optional().describe('HTTP status. Absent if there was no answer.'),
  durationMs: Integer,
  requestBytes: Integer,
  requestHash: Text.describe('SHA-256 of the request body, in hexadecimal.'),
  responseBytes: Integer.optional(),
  responseHash: OptionalText,
  failure: OptionalText.describe('Why the call failed. Absent if it succeeded.'),
  warnings: Texts.describe('Parts of the answer that were ignored.'),
  replayOf: OptionalText.describe('The call that this one repeats.'),
}

export const IntegrationCallResponse = component('IntegrationCallResponse', call)
export type IntegrationCallResponse = z.infer<typeof IntegrationCallResponse>

export const IntegrationCallPageResponse = component('IntegrationCallPageResponse', {
  calls: z.array(IntegrationCallResponse),
  pagingToken: OptionalText,
})
export type IntegrationCallPageResponse = z.infer<typeof IntegrationCallPageResponse>

export const IntegrationCallBodiesResponse = component('IntegrationCallBodiesResponse', {
  ...call,
  request: OptionalText.describe('The request body, without secrets.'),
  response: OptionalText.describe('The response body, without secrets.'),
})
export type IntegrationCallBodiesResponse = z.infer<typeof IntegrationCallBodiesResponse>

// Operations with the calls that fill them in (brief 5.6, "Autofill order").
const OPERATION =
  'must be <product>.<newBusiness|endorsement|renewal>.<create|update|*>, <product>.*.* or *.*.*'

export const AutofillIntegrationCreateRequest = component('AutofillIntegrationCreateRequest', {
  operation: z.string().max(200).refine(isOperationName, rule(OPERATION)).openapi({
    description: 'The most specific operation that matches a request applies to it.',
    example: 'private_motor.newBusiness.create',
  }),
  callSequence: AutofillCalls.openapi({
    description:
      'The calls that complete the request, in order; each sees the values from the calls before it: `internal` for the plugin getDataAutofill of products that enable it, or the names of integrations of type data_autofill. An empty list calls nothing.',
    example: ['internal', 'vehicle-register'],
  }),
})
export type AutofillIntegrationCreateRequest = z.infer<typeof AutofillIntegrationCreateRequest>

export const AutofillCallResponse = component('AutofillCallResponse', {
  locator: Text,
  operation: Text,
  callSequence: Texts,
})
export type AutofillCallResponse = z.infer<typeof AutofillCallResponse>

export const AutofillIntegrationResponse = component('AutofillIntegrationResponse', {
  calls: z.array(AutofillCallResponse),
})
export type AutofillIntegrationResponse = z.infer<typeof AutofillIntegrationResponse>
