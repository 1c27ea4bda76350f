// Long-lived tokens on the wire (contract 1, Accounts and auth tokens).
import { z } from '@hono/zod-openapi'
import {
  component,
  DateTime,
  filledIn,
  LONGEST_LIST,
  Name,
  RequestDateTime,
  Text,
  Texts,
} from '../../platform/wire.ts'
import { rule } from '../../platform/wire-problem.ts'

const TokenName = Name.refine(
  name => !name.startsWith('bdy_'),
  rule("must not begin with 'bdy_', as tokens themselves do"),
)

const Listed = z.array(Text).max(LONGEST_LIST)

export const AuthTokenCreateRequest = filledIn(
  { permissions: [], tenants: [] },
  z.object({
    name: TokenName.describe("Unique among the account's tokens."),
    expiresAt: RequestDateTime.describe('At most five years ahead.'),
    permissions: Listed.openapi({
      description:
        'What the token may, as `group.action` or `group.*`: nothing that its account, or whoever makes it, may not. None: it is good for nothing that needs a permission.',
      example: ['policies.read', 'invoices.*'],
    }),
    tenants: Listed.describe(
      'Tenants in which it holds, by name, host name or locator; also `any` and `type:test` or `type:production`. An account has one tenant, so that there is no other to name; none means that one. An administration account must name some, each by its name or by one of these three words.',
    ),
  }),
).openapi('AuthTokenCreateRequest')
export type AuthTokenCreateRequest = z.output<typeof AuthTokenCreateRequest>

/** A token without the token: that was shown when it was made. */
export const AuthTokenResponse = component('AuthTokenResponse', {
  name: Text,
  expiresAt: DateTime,
  createdAt: DateTime,
  permissions: Texts.optional(),
  tenants: Texts.optional(),
})
export type AuthTokenResponse = z.infer<typeof AuthTokenResponse>

export const AuthTokens = z.array(AuthTokenResponse)
