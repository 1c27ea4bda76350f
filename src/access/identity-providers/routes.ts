import { forEverybody, forTenant, type Route } from '../../platform/http/route.ts'
import { AuthenticateResponse } from '../contract.ts'
import * as contract from './contract.ts'

const { delete: remove, get, put } = forTenant('Accounts')
const everybody = forEverybody('Accounts')
const provider = { schema: contract.IdentityProviderResponse, description: 'The provider.' }
const READ = ['users.read', 'users.write'] as const

/** Loaded with the first call, because other requests do not need it. */
const providers = () => import('./service.ts')

const codeFlow = () => import('./code-flow.ts')

export const identityProviderRoutes: readonly Route[] = [
  get('/auth/providers', {
    summary: 'List the identity providers of the tenant',
    description: 'Bindery only. By name; without their client secrets.',
    permission: READ,
    answer: { schema: contract.IdentityProviders, description: 'The providers.' },
    handle: async (_, context) => (await providers()).listProviders(context),
  }),
  get('/auth/providers/{name}', {
    summary: 'Read an identity provider',
    description: 'Bindery only. Without its client secret.',
    permission: READ,
    answer: provider,
    handle: async ({ params }, context) => (await providers()).readProvider(params.name, context),
  }),
  put('/auth/providers/{name}', {
    summary: 'Set an identity provider: who signs in by it, and with which roles',
    description:
      'Bindery only. OpenID Connect. Creates the provider, or replaces all of it but a client secret that is left out. A mapping, new or present, may give nothing that you may not do (422 `beyondOwner`). People who signed in before keep what they have until they sign in again, within 12 hours; with another `issuer`, accounts of the former one are disabled, as when a provider is deleted.',
    permission: 'users.write',
    body: { schema: contract.IdentityProviderRequest, required: true },
    answer: provider,
    handle: async ({ params, body }, context) =>
      (await providers()).writeProvider(params.name, body, context),
  }),
  remove('/auth/providers/{name}', {
    summary: 'Delete an identity provider',
    description:
      'Bindery only. Nobody signs in by it any more. Accounts that sign in by no other provider are disabled, and their access tokens end everywhere within 5 seconds; if the provider is set again, the next sign-in of a person enables theirs. Not one whose mappings give what you may not do, not one by which you sign in yourself, and not the way in of the last person who may change users (409). Passwords sign in again if it replaced them.',
    permission: 'users.write',
    answer: { description: 'It is deleted.' },
    handle: async ({ params }, context) => (await providers()).deleteProvider(params.name, context),
  }),
  everybody.get('/account/signInOptions', {
    summary: 'How people sign in to a tenant',
    description:
      'Bindery only. Exactly one of `tenantName`, `hostName` and `tenantLocator` names the tenant. For an unknown tenant: by password only, as for one without providers.',
    query: contract.ProviderTenantQuery,
    answer: {
      schema: contract.SignInOptionsResponse,
      description: 'The providers, and whether passwords sign in.',
    },
    handle: async ({ query }, context) => (await codeFlow()).signInOptions(query, context),
  }),
  everybody.post('/account/authenticateByProvider/begin', {
    summary: 'Begin the sign-in of a browser by an identity provider',
    description:
      'Bindery only; for the console. The answer sets a cookie that no script reads, for ten minutes. The provider must allow `/account/authenticateByProvider/callback/{tenantName}/{providerName}` of this host as an address to come back to.',
    body: { schema: contract.ProviderSignInRequest, required: true },
    answer: { schema: contract.ProviderSignInResponse, description: 'Where the browser goes.' },
    handle: async ({ body }, context) => (await codeFlow()).beginSignIn(body, context) as never,
  }),
  everybody.get('/account/authenticateByProvider/callback/{tenantName}/{providerName}', {
    summary: 'End the sign-in of a browser by an identity provider',
    description:
      'Bindery only. The provider sends the browser here, and it is sent on to the console: with a code that it exchanges for a token, or with what failed. Each provider of each tenant has this address for itself, so that none is sent what another answered.',
    query: contract.ProviderCallbackQuery,
    answer: { status: 302, description: 'The console.' },
    handle: async ({ params, query }, context) => (await codeFlow()).endSignIn(params, query, context),
  }),
  everybody.post('/account/authenticateByProvider', {
    summary: "Sign in with an ID token of the tenant's identity provider",
    description:
      "Bindery only. Exactly one of `tenantName`, `hostName` and `tenantLocator` names the tenant. The provider's ID token is good for one sign-in. The first one of a person makes an account, tied to issuer and subject; each sets its account type and its roles by the mappings of the provider. Without any of the mapped roles the account is disabled and its tokens end (403).",
    body: { schema: contract.ProviderAuthenticateRequest, required: true },
    answer: { schema: AuthenticateResponse, description: 'A token, valid for one hour.' },
    handle: async ({ body }, context) => (await import('./sign-in.ts')).authenticateByProvider(body, context),
  }),
]
