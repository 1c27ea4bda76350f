import { z } from '@hono/zod-openapi'
import {
  component,
  ListOrder,
  OptionalLocator,
  OptionalLongName,
  OptionalText,
  OptionalTimestamp,
  optional,
  PageSize,
  PagingToken,
  Text,
  Timestamp,
} from '../../platform/wire.ts'
import { AUDIT_ACTIONS } from './actions.ts'

export const AuditQuery = z.object({
  action: optional(z.enum(AUDIT_ACTIONS)).describe('Entries of this kind only.'),
  subject: OptionalLongName.describe(
    'Entries of this subject only: of auxiliary data and webhooks, their locator; of a secret, an integration, an identity provider or a role, its name; of sign-ins, accounts and tokens, the locator of the account; of a refusal, method and path.',
  ),
  username: OptionalLongName.describe('Entries of this user only.'),
  startTimestamp: OptionalTimestamp.describe('Entries from this time on.'),
  endTimestamp: OptionalTimestamp.describe('Entries before this time.'),
  accountLocator: OptionalLocator.describe('Entries of this account only.'),
  requestId: OptionalLongName.describe('Entries of the request with this X-Request-Id.'),
  order: ListOrder,
  pageSize: PageSize,
  pagingToken: PagingToken,
})
export type AuditQuery = z.infer<typeof AuditQuery>

const AuditResponse = component('AuditResponse', {
  locator: Text,
  timestamp: Timestamp,
  action: z.enum(AUDIT_ACTIONS),
  subject: Text.describe(
    "Of auxiliary data and webhooks, their locator; of a secret, an integration, an identity provider or a role, its name; of sign-ins, accounts and tokens, the account's locator; of a refusal, method and path.",
  ),
  details: z.record(Text, z.unknown()).openapi({
    description:
      'Of auxiliary data: `keys`, and `plugin` where one did it for the user. Of a secret: its `staticName`, and the names of items. Of a webhook: its `name`, and `changes`, the names of what is other than before; or what was sent again. Of a sign-in: `accountType`, the `provider` if one was used, and the `reason` of a failure. Of a role: its `permissions`; of an account that was given some: its `roles`. Of a token: its `name`, what it may, when it expires. Of what an agent carried out: the `operation` and its `preview`. Whatever an agent did has `by` `agent`. Values are not kept here.',
    example: { keys: ['score'], plugin: 'getPerilRates' },
  }),
  username: Text,
  accountLocator: Text,
  requestId: Text.describe('X-Request-Id of the request.'),
})

/** Entries in the requested order. The last page has no `pagingToken`. */
export const AuditPageResponse = component('AuditPageResponse', {
  entries: z.array(AuditResponse),
  pagingToken: OptionalText,
})
export type AuditPageResponse = z.infer<typeof AuditPageResponse>
