import { z } from '@hono/zod-openapi'
import { permissionsHeld } from '../platform/http/permissions.ts'
import { forEverybody, forSignedIn, type Route } from '../platform/http/route.ts'
import { tokenKeys } from '../platform/token-keys.ts'
import { component, DateTime, OptionalText, Text } from '../platform/wire.ts'
import { accountAdministrationRoutes } from './administration/routes.ts'
import { authTokenRoutes } from './auth-tokens/routes.ts'
import * as contract from './contract.ts'
import { roleRoutes } from './roles/routes.ts'
import { authenticate, authenticateAdmin, renewAuthentication } from './service.ts'

const answer = { schema: contract.AuthenticateResponse, description: 'A token, valid for one hour.' }
const { get, post } = forEverybody('Accounts')
const signedIn = forSignedIn('Accounts')

export const accountRoutes: readonly Route[] = [
  post('/account/authenticate', {
    summary: 'Sign in as a user of a tenant, or as an administration account',
    description:
      'The tenant is named by `tenantName` or `hostName`, in the query or in the body. With neither, the administration account signs in, which deploys configurations. Without a body, `Authorization: Basic` may give user name and password.',
    query: contract.AuthenticateQuery,
    body: { schema: contract.AuthenticateRequest, required: false },
    answer,
    handle: ({ query, body }, context) => authenticate(query, body, context),
  }),
  post('/account/authenticateAdmin', {
    summary: 'Sign in as an administrator of one tenant',
    description:
      'Exactly one of `tenantName`, `hostName` and `tenantLocator` names the tenant. The token administers users, integrations and logs of the tenant; it cannot deploy. Without a body, `Authorization: Basic` may give user name and password.',
    query: contract.AuthenticateAdminQuery,
    body: { schema: contract.AuthenticateRequest, required: false },
    answer,
    handle: ({ query, body }, context) => authenticateAdmin(query, body, context),
  }),
  signedIn.post('/account/renewAuthentication', {
    summary: 'Renew the token of the Authorization header',
    description: 'Works with a valid token, until 12 hours after the sign-in.',
    answer,
    handle: (_, context) => renewAuthentication(context),
  }),
  get('/.well-known/jwks.json', {
    summary: 'The keys that access tokens are signed with',
    description:
      'Ed25519 (`EdDSA`), by the `kid` of the token. There are several while one takes the place of another.',
    answer: { schema: contract.KeySetResponse, description: 'A JSON Web Key Set with the public halves.' },
    handle: async (_, { env }) => ({ keys: [...(await tokenKeys(env)).shown] }),
  }),
  ...accountAdministrationRoutes,
  ...authTokenRoutes,
  ...roleRoutes,
]

export const OwnPermissionsResponse = component('OwnPermissionsResponse', {
  username: Text,
  accountType: Text,
  tenantName: OptionalText.describe('Absent for an administration account.'),
  permissions: z.array(Text).openapi({
    description: 'As `group.action`, each by its whole name.',
    example: ['policies.read', 'policies.write'],
  }),
})

export const WhoAmIResponse = component('WhoAmIResponse', {
  accountLocator: Text,
  username: Text,
  accountType: Text,
  tenant: z
    .object({ locator: Text, name: Text, hostName: Text, type: z.enum(['test', 'production']) })
    .optional()
    .describe('Absent for an administration account.'),
  tokenExpiresAt: DateTime.optional().describe('Of a long-lived token; absent after a sign-in.'),
  permissions: OwnPermissionsResponse.shape.permissions,
})

export const ownPermissionRoutes: readonly Route[] = [
  signedIn.get('/auth/whoami', {
    summary: 'Say who calls, for which tenant, and with which permissions',
    description: 'What a pipeline asks first, to see that it has the right token. Reads nothing.',
    answer: { schema: WhoAmIResponse, description: 'The caller.' },
    handle: async (_, { caller, tenant }) => ({
      accountLocator: caller.accountLocator,
      username: caller.username,
      accountType: caller.accountType,
      ...(tenant && {
        tenant: {
          locator: tenant.locator,
          name: tenant.name,
          hostName: tenant.hostName,
          type: tenant.type,
        },
      }),
      ...(caller.tokenExpiresAt !== undefined && {
        tokenExpiresAt: new Date(caller.tokenExpiresAt).toISOString(),
      }),
      permissions: permissionsHeld(caller),
    }),
  }),
  signedIn.get('/auth/permissions', {
    summary: 'List what the caller may do',
    description:
      'By the permissions of the token where it has some of its own, else by the roles that the configuration defines, else by the account type.',
    answer: { schema: OwnPermissionsResponse, description: 'The permissions of the caller.' },
    handle: async (_, { caller, tenant }) => ({
      username: caller.username,
      accountType: caller.accountType,
      ...(tenant && { tenantName: tenant.name }),
      permissions: permissionsHeld(caller),
    }),
  }),
]
