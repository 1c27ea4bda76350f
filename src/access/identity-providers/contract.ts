import { z } from '@hono/zod-openapi'
import { OutboundUrl } from '../../platform/outbound/contract.ts'
import {
  booleanOr,
  component,
  DateTime,
  Flag,
  LongName,
  Name,
  OptionalLongName,
  OptionalName,
  optional,
  Text,
  Texts,
} from '../../platform/wire.ts'
import { reportProblem } from '../../platform/wire-problem.ts'
import { AuthenticateAdminQuery } from '../contract.ts'

/** Maximum number of providers of one tenant. */
export const MOST_PROVIDERS = 10

const MOST_MAPPINGS = 100
const MOST_SCOPES = 20

/** Compact ID tokens with many groups have a few kilobytes. */
const LONGEST_ID_TOKEN = 16_384

/** The code contains a sealed ID token. */
const LONGEST_CODE = 32_768

/** The form of a name in a path. */
export const PROVIDER_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const Mapping = z.object({
  claim: LongName.openapi({
    description:
      'Full name of a claim of the ID token, such as `https://acme.example/roles`; or a path into objects, such as `realm_access.roles`.',
    example: 'groups',
  }),
  value: LongName.openapi({
    description: 'The claim equals this text, or is a list that contains it.',
    example: 'bindery-underwriters',
  }),
  roles: z
    .array(Name)
    .min(1)
    .max(4)
    .openapi({
      description:
        'Account types, by full name or last part: `admin`, `employee`, `claims.only.user`, `read.only.user`; and roles created in the interface (`POST /auth/roles`). Of several types, the account gets the one with the most permissions. With roles, it has the permissions of all of them and of that type together.',
      example: ['account.tenant.employee'],
    }),
})

export const IdentityProviderRequest = z
  .object({
    issuer: OutboundUrl.max(512).openapi({
      description:
        'Issuer of the provider, exactly as in its discovery document and its tokens. An https address on the public internet, without query and fragment.',
      example: 'https://login.acme.example/realms/staff',
    }),
    clientId: LongName.openapi({
      description: 'The client ID that the provider gave to Bindery.',
      example: 'bindery',
    }),
    clientSecret: z.string().max(1_024).nullish().openapi({
      format: 'password',
      description:
        'For the code flow, if the provider requires one. Left out: the current one stays. null or an empty text: it is removed. Stored encrypted and never shown.',
    }),
    label: OptionalName.openapi({
      description: "Text of the console's button after `Sign in with`. Default: the name in the path.",
      example: 'Acme',
    }),
    audience: OptionalLongName.describe('Value that `aud` of ID tokens must contain. Default: `clientId`.'),
    scopes: optional(z.array(Name).max(MOST_SCOPES)).openapi({
      description:
        'Scopes that the code flow requests, always including `openid`. Default: `openid`, `profile`, `email`.',
      example: ['openid', 'profile', 'email', 'groups'],
    }),
    mappings: z
      .array(Mapping)
      .min(1)
      .max(MOST_MAPPINGS)
      .describe('Which claims give which roles. People who have none of them cannot sign in.'),
    replacesPasswords: booleanOr(false).describe(
      'Whether password sign-in is disabled for all accounts of the tenant. Requires that an administrator has signed in by this provider (otherwise 409).',
    ),
  })
  .check(ctx => {
    const url = URL.parse(ctx.value.issuer)
    if (url && (url.search !== '' || url.hash !== '' || /[?#]/.test(ctx.value.issuer)))
      reportProblem(ctx, 'must not have a query or a fragment', ['issuer'])
    for (const [at, scope] of (ctx.value.scopes ?? []).entries())
      if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
        reportProblem(ctx, 'must be one word of visible ASCII characters', ['scopes', at])
  })
  .openapi('IdentityProviderRequest')
export type IdentityProviderRequest = z.output<typeof IdentityProviderRequest>

export const IdentityProviderResponse = component('IdentityProviderResponse', {
  name: Text,
  label: Text,
  issuer: Text,
  clientId: Text,
  hasClientSecret: Flag.describe('Whether a client secret is stored.'),
  audience: Text,
  scopes: Texts,
  mappings: z.array(z.object({ claim: Text, value: Text, roles: Texts })),
  replacesPasswords: Flag,
  createdAt: DateTime,
  updatedAt: DateTime,
})
export type IdentityProviderResponse = z.infer<typeof IdentityProviderResponse>

export const IdentityProviders = z.array(IdentityProviderResponse)

export const ProviderTenantQuery = AuthenticateAdminQuery
export type ProviderTenantQuery = z.infer<typeof ProviderTenantQuery>

export const SignInOptionsResponse = component('SignInOptionsResponse', {
  providers: z
    .array(z.object({ name: Text, label: Text }))
    .describe('Providers by which people can sign in.'),
  passwords: Flag.describe('Whether accounts of the tenant can sign in with passwords.'),
})
export type SignInOptionsResponse = z.infer<typeof SignInOptionsResponse>

export const ProviderSignInRequest = component('ProviderSignInRequest', {
  ...AuthenticateAdminQuery.shape,
  provider: LongName.describe('Its name, as in `GET /account/signInOptions`.'),
})
export type ProviderSignInRequest = z.infer<typeof ProviderSignInRequest>

export const ProviderSignInResponse = component('ProviderSignInResponse', {
  location: Text.describe('Address at the provider to which the browser is redirected.'),
})

const Short = optional(z.string().max(2_048))

/** RFC 6749, 4.1.2; a provider may send more. */
export const ProviderCallbackQuery = z.object({
  code: optional(z.string().max(4_096)).describe('The code that the provider exchanges for tokens.'),
  state: Short.describe('The `state` with which the sign-in began.'),
  error: Short.describe('Error code of the provider, if it signed nobody in (RFC 6749).'),
  error_description: Short.describe('Ignored.'),
  iss: Short.describe(
    'The issuer (RFC 9207). It must be that of the provider, and is required if the discovery document promises it.',
  ),
})
export type ProviderCallbackQuery = z.infer<typeof ProviderCallbackQuery>

export const ProviderAuthenticateRequest = z
  .object({
    ...AuthenticateAdminQuery.shape,
    idToken: optional(z.string().max(LONGEST_ID_TOKEN)).openapi({
      description: 'An ID token from one of the identity providers of the tenant, unchanged (JWT).',
      example: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwcyJ9.c2ln',
    }),
    nonce: OptionalLongName.describe(
      'The `nonce` that the client sent to the provider. Required if the token has one, and not allowed otherwise.',
    ),
    code: optional(z.string().max(LONGEST_CODE)).describe(
      'Instead of the tenant and `idToken`: the code that the console received at the end of its sign-in. It works once, within a minute, and in the same browser.',
    ),
  })
  .check(ctx => {
    if ((ctx.value.idToken === undefined) === (ctx.value.code === undefined))
      reportProblem(ctx, 'must be given, unless code is given', ['idToken'])
  })
  .openapi('ProviderAuthenticateRequest')
export type ProviderAuthenticateRequest = z.output<typeof ProviderAuthenticateRequest>
