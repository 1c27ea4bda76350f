import { z } from '@hono/zod-openapi'
import { permissionsHeld } from '../platform/http/permissions.ts'
import { forSignedIn, publicRoutes, type Route } from '../platform/http/route.ts'
import { tokenKeys } from '../platform/token-keys.ts'
import { component, DateTime, OptionalText, Text } from '../platform/wire.ts'
import { accountAdministrationRoutes } from './administration/routes.ts'
import { authTokenRoutes } from './auth-tokens/routes.ts'
import * as contract from './contract.ts'
import { roleRoutes } from './roles/routes.ts'
import { authenticate, authenticateAdmin, renewAuthentication } from './service.ts'

const answer = { schema: contract.AuthenticateResponse, description: 'A token, valid for one hour.' }
const { get, post } = publicRoutes('Accounts')
const signedIn = forSignedIn('Accounts')

export const accountRoutes: readonly Route[] = [
  post('/account/authenticate', {
    summary: 'Sign in as a user of a tenant, or as an administration account',
    description:
      '`tenantName` or `hostName`, in the query or in the body, names the tenant. With neither, the account is an administration account, which deploys configurations. Without a body, `Authorization: Basic` may give user name and password.',
    query: contract.AuthenticateQuery,
    body: { schema: contract.AuthenticateRequest, required: false },
    answer,
    handle: ({ query, body }, context) => authenticate(query, body, context),
  }),
  post('/account/authenticateAdmin', {
    summary: 'Sign in as an administrator of one tenant',
    description:
      'Exactly one of `tenantName`, `hostName` and `tenantLocator`, in the query or in the body, names the tenant. The token administers users, integrations and logs of the tenant; it cannot deploy. Without a body, `Authorization: Basic` may give user name and password.',
    query: contract.AuthenticateAdminQuery,
    body: { schema: contract.AuthenticateRequest, required: false },
    answer,
    handle: ({ query, body }, context) => authenticateAdmin(query, body, context),
  }),
  signedIn.post('/account/renewAuthentication', {
    summary: 'Renew an access token',
    description: 'For the valid token in the Authorization header, until 12 hours after the sign-in.',
    answer,
    handle: (_, context) => renewAuthentication(context),
  }),
  get('/.well-known/jwks.json', {
    summary: 'List the public keys of access tokens',
    description:
      'Ed25519 (`EdDSA`). The `kid` of a token names its key. There are several keys while one replaces another.',
    answer: { schema: contract.KeySetResponse, description: 'A JSON Web Key Set with the public keys.' },
    handle: async (_, { env }) => ({ keys: [...(await tokenKeys(env)).shown] }),
  }),
  ...accountAdministrationRoutes,
  ...authTokenRoutes,
  ...roleRoutes,
]

const OwnPermissionsResponse = component('OwnPermissionsResponse', {
  username: Text,
  accountType: Text,
  tenantName: OptionalText.describe('Absent for an administration account.'),
  permissions: z.array(Text).openapi({
    description: 'As `group.action`, each by its full name.',
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
  tokenExpiresAt: DateTime.optional().describe('For a long-lived token. Absent after a sign-in.'),
  permissions: OwnPermissionsResponse.shape.permissions,
})

export const ownPermissionRoutes: readonly Route[] = [
  signedIn.get('/auth/whoami', {
    summary: 'Show the caller, its tenant and its permissions',
    description: 'Lets a pipeline check first that it has the right token. Reads no records.',
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
    summary: 'List the permissions of the caller',
    description:
      'The permissions of the token if it has its own, otherwise of the roles that the configuration defines, otherwise of the account type.',
    answer: { schema: OwnPermissionsResponse, description: 'The permissions of the caller.' },
    handle: async (_, { caller, tenant }) => ({
      username: caller.username,
      accountType: caller.accountType,
      ...(tenant && { tenantName: tenant.name }),
      permissions: permissionsHeld(caller),
    }),
  }),
]
