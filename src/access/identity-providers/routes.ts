import { forTenant, publicRoutes, type Route } from '../../platform/http/route.ts'
import { AuthenticateResponse } from '../contract.ts'
import * as contract from './contract.ts'

const { delete: remove, get, put } = forTenant('Accounts')
const everybody = publicRoutes('Accounts')
const provider = { schema: contract.IdentityProviderResponse, description: 'The provider.' }
const READ = ['users.read', 'users.write'] as const

/** Loaded with the first call, because other requests do not need it. */
const providers = () => import('./service.ts')

const codeFlow = () => import('./code-flow.ts')

export const identityProviderRoutes: readonly Route[] = [
  get('/auth/providers', {
    summary: 'List the identity providers of the tenant',
    description: 'Bindery only. Ordered by name; without their client secrets.',
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
    summary: 'Set an identity provider',
    description:
      'Bindery only. OpenID Connect. Creates the provider, or replaces all of it; only a client secret that is left out stays. A mapping, new or existing, must not give permissions that you lack (422 `beyondOwner`). People who signed in before keep their permissions until they sign in again, within 12 hours. If the `issuer` changes, accounts of the former issuer are disabled, as when a provider is deleted.',
    permission: 'users.write',
    body: { schema: contract.IdentityProviderRequest, required: true },
    answer: provider,
    handle: async ({ params, body }, context) =>
      (await providers()).writeProvider(params.name, body, context),
  }),
  remove('/auth/providers/{name}', {
    summary: 'Delete an identity provider',
    description:
      'Bindery only. Nobody can sign in by it any more. Accounts that sign in by no other provider are disabled, and their access tokens end everywhere within 5 seconds; if the provider is set again, the next sign-in of a person enables their account. Rejected if a mapping gives permissions that you lack (422 `beyondOwner`), if you sign in only by this provider, or if the last person who may change users could not sign in any more (409). If it replaced passwords, they work again.',
    permission: 'users.write',
    answer: { description: 'The provider is deleted.' },
    handle: async ({ params }, context) => (await providers()).deleteProvider(params.name, context),
  }),
  everybody.get('/account/signInOptions', {
    summary: 'List the ways to sign in to a tenant',
    description:
      'Bindery only. Exactly one of `tenantName`, `hostName` and `tenantLocator` names the tenant. For an unknown tenant, the response is that of a tenant without providers: passwords only.',
    query: contract.ProviderTenantQuery,
    answer: {
      schema: contract.SignInOptionsResponse,
      description: 'The providers, and whether passwords can be used.',
    },
    handle: async ({ query }, context) => (await codeFlow()).signInOptions(query, context),
  }),
  everybody.post('/account/authenticateByProvider/begin', {
    summary: 'Begin the sign-in of a browser by an identity provider',
    description:
      'Bindery only; for the console. The response sets a cookie for ten minutes that scripts cannot read. The provider must allow `/account/authenticateByProvider/callback/{tenantName}/{providerName}` of this host as a redirect address.',
    body: { schema: contract.ProviderSignInRequest, required: true },
    answer: { schema: contract.ProviderSignInResponse, description: 'Redirect to the provider.' },
    handle: async ({ body }, context) => (await codeFlow()).beginSignIn(body, context) as never,
  }),
  everybody.get('/account/authenticateByProvider/callback/{tenantName}/{providerName}', {
    summary: 'End the sign-in of a browser by an identity provider',
    description:
      'Bindery only. The provider redirects the browser here, and this operation redirects it to the console: with a code that the console exchanges for a token, or with the error. Each provider of each tenant has its own address, so that no provider receives the response of another.',
    query: contract.ProviderCallbackQuery,
    answer: { status: 302, description: 'Redirect to the console.' },
    handle: async ({ params, query }, context) => (await codeFlow()).endSignIn(params, query, context),
  }),
  everybody.post('/account/authenticateByProvider', {
    summary: "Sign in with an ID token of the tenant's identity provider",
    description:
      'Bindery only. Exactly one of `tenantName`, `hostName` and `tenantLocator` names the tenant. An ID token can be used for one sign-in. The first sign-in of a person creates an account, tied to issuer and subject; each sign-in sets its account type and its roles by the mappings of the provider. If the person has none of the mapped roles, the account is disabled and its tokens end (403).',
    body: { schema: contract.ProviderAuthenticateRequest, required: true },
    answer: { schema: AuthenticateResponse, description: 'A token, valid for one hour.' },
    handle: async ({ body }, context) => (await import('./sign-in.ts')).authenticateByProvider(body, context),
  }),
]
