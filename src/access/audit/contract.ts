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
  action: optional(z.enum(AUDIT_ACTIONS)).describe('Only entries of this kind.'),
  subject: OptionalLongName.describe(
    'Only entries of this subject: for auxiliary data and webhooks, their locator; for a secret, an integration, an identity provider or a role, its name; for sign-ins, accounts and tokens, the locator of the account; for a rejected request, its method and path.',
  ),
  username: OptionalLongName.describe('Only entries of this user.'),
  startTimestamp: OptionalTimestamp.describe('Only entries at or after this time.'),
  endTimestamp: OptionalTimestamp.describe('Only entries before this time.'),
  accountLocator: OptionalLocator.describe('Only entries of this account.'),
  requestId: OptionalLongName.describe('Only entries of the request with this X-Request-Id.'),
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
    'For auxiliary data and webhooks, their locator; for a secret, an integration, an identity provider or a role, its name; for sign-ins, accounts and tokens, the locator of the account; for a rejected request, its method and path.',
  ),
  details: z.record(Text, z.unknown()).openapi({
    description:
      'For auxiliary data: `keys`, and `plugin` if a plugin made the change for the user. For a secret: its `staticName`, and the names of items. For a webhook: its `name`, and `changes`, the names of the properties that changed; or what was sent again. For a sign-in: `accountType`, the `provider` if one was used, and the `reason` of a failure. For a role: its `permissions`; for an account that was given roles: its `roles`. For a token: its `name`, its permissions and its expiry. For an action that an agent carried out: the `operation` and its `preview`. Every action of an agent has `by` `agent`. Values are not recorded.',
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
