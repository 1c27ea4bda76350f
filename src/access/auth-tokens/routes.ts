import { z } from '@hono/zod-openapi'
import type { RequestContext } from '../../platform/context.ts'
import { forSignedIn, forTenant, type Route, type SignedInContext } from '../../platform/http/route.ts'
import { tenantNow } from '../../platform/tenancy.ts'
import { AuthTokenCreateRequest, AuthTokens } from '../contract.ts'
import * as service from './service.ts'

const { delete: remove, get, post } = forTenant('Auth tokens')
const signedIn = forSignedIn('Auth tokens')
const token = {
  schema: z.string(),
  description:
    'The token, `bdy_…`, to be sent as `Authorization: Bearer <token>`. It is shown only this once.',
}
const ABOUT =
  'A repeat with the same Idempotency-Key responds with 409 instead of showing the token again. At most 100 tokens per account.'
const BY_VALUE_OR_NAME =
  'By its value or its name. Prefer the name, because proxies may log paths. The token is rejected everywhere within 5 seconds.'
const CUSTOM = 'With only `users.custom`: your own account and service accounts that you created.'

/** Returns undefined for an administration account without a tenant. */
const tenantContextOf = (context: SignedInContext): (SignedInContext & RequestContext) | undefined =>
  context.tenant && { ...context, tenant: context.tenant, now: tenantNow(context.tenant) }

export const authTokenRoutes: readonly Route[] = [
  signedIn.post('/auth/users/tokens', {
    summary: 'Create a long-lived token for yourself',
    description: `The token has those of your permissions that it lists. When you lose one, so does the token. For an administration account, it is for configurations (\`deployments.*\`) of the tenants that \`tenants\` lists. ${ABOUT}`,
    permission: ['users.write', 'users.token'],
    body: { schema: AuthTokenCreateRequest, required: true },
    answer: token,
    handle: ({ body }, context) => {
      const own = tenantContextOf(context)
      return own ? service.createOwnToken(body, own) : service.createAdministrationToken(body, context)
    },
  }),
  post('/auth/users/{locator}/tokens', {
    summary: 'Create a long-lived token for a service account',
    description: `For a service account that you created, or with \`users.write\` for any. ${ABOUT}`,
    permission: 'users.custom',
    body: { schema: AuthTokenCreateRequest, required: true },
    answer: token,
    handle: ({ params, body }, context) => service.createServiceToken(params.locator, body, context),
  }),
  signedIn.get('/auth/users/tokens', {
    summary: 'List your long-lived tokens',
    permission: ['users.read', 'users.custom'],
    answer: { schema: AuthTokens, description: 'Oldest first. Never shows the tokens themselves.' },
    handle: (_, context) => {
      const own = tenantContextOf(context)
      return own
        ? service.listTokens(own.caller.accountLocator, own)
        : service.listAdministrationTokens(context)
    },
  }),
  get('/auth/users/{locator}/tokens', {
    summary: 'List the long-lived tokens of an account',
    description: CUSTOM,
    permission: ['users.read', 'users.custom'],
    answer: { schema: AuthTokens, description: 'Oldest first. Never shows the tokens themselves.' },
    handle: ({ params }, context) => service.listTokens(params.locator, context),
  }),
  signedIn.delete('/auth/users/tokens/{tokenOrName}', {
    summary: 'Delete one of your long-lived tokens',
    description: BY_VALUE_OR_NAME,
    permission: ['users.write', 'users.custom'],
    answer: { description: 'The token is deleted.' },
    handle: ({ params: { tokenOrName } }, context) => {
      const own = tenantContextOf(context)
      return own
        ? service.deleteToken(own.caller.accountLocator, tokenOrName, own)
        : service.deleteAdministrationToken(tokenOrName, context)
    },
  }),
  remove('/auth/users/{locator}/tokens/{tokenOrName}', {
    summary: 'Delete a long-lived token of an account',
    description: `${BY_VALUE_OR_NAME} ${CUSTOM}`,
    permission: ['users.write', 'users.custom'],
    answer: { description: 'The token is deleted.' },
    handle: ({ params }, context) => service.deleteToken(params.locator, params.tokenOrName, context),
  }),
  post('/auth/users/{locator}/revoke', {
    worksWhenFull: true,
    summary: 'End all tokens of an account',
    description: `Access tokens and long-lived tokens are rejected everywhere within 5 seconds. The password stays. ${CUSTOM}`,
    permission: ['users.write', 'users.custom', 'users.revoke'],
    answer: { description: 'The tokens are revoked.' },
    handle: ({ params }, context) => service.revokeTokens(params.locator, context),
  }),
  remove('/auth/users/{locator}/credentials', {
    summary: 'Remove the credentials of an account',
    description: `Removes the password and all tokens. The account cannot sign in with a password until an administrator sets one. Not for the last person who may change users and can sign in (409). ${CUSTOM}`,
    permission: ['users.write', 'users.custom'],
    answer: { description: 'The credentials are removed.' },
    handle: ({ params }, context) => service.deleteCredentials(params.locator, context),
  }),
]
