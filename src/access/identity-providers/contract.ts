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
import { breaks } from '../../platform/wire-problem.ts'
import { AuthenticateAdminQuery } from '../contract.ts'

/** Maximum number of providers of one tenant. */
export const MOST_PROVIDERS = 10

const MOST_MAPPINGS = 100
const MOST_SCOPES = 20

/** Compact ID tokens with many groups have a few kilobytes. */
export const LONGEST_ID_TOKEN = 16_384

/** The code contains a sealed ID token. */
const LONGEST_CODE = 32_768

/** The form of a name in a path. */
export const PROVIDER_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const Mapping = z.object({
  claim: LongName.openapi({
    description:
      'Name of a claim of the ID token, whole, as `https://acme.example/roles`; or a path into objects, as `realm_access.roles`.',
    example: 'groups',
  }),
  value: LongName.openapi({
    description: 'The claim is this text, or a list that contains it.',
    example: 'bindery-underwriters',
  }),
  roles: z
    .array(Name)
    .min(1)
    .max(4)
    .openapi({
      description:
        'Account types, whole or by their ends: `admin`, `employee`, `claims.only.user`, `read.only.user`; and roles of the interface (`POST /auth/roles`). Of several types the account gets the one with the most rights; with roles it may what all of them and that type give together.',
      example: ['account.tenant.employee'],
    }),
})

export const IdentityProviderRequest = z
  .object({
    issuer: OutboundUrl.max(512).openapi({
      description:
        "The provider's issuer, exactly as its discovery document and its tokens name it. It is an https address of the public internet, without query and fragment.",
      example: 'https://login.acme.example/realms/staff',
    }),
    clientId: LongName.openapi({ description: 'What the provider calls Bindery.', example: 'bindery' }),
    clientSecret: z.string().max(1_024).nullish().openapi({
      format: 'password',
      description:
        'For the code flow, where the provider requires one. Left out, the present one stays; null or an empty text removes it. It is stored encrypted and never shown.',
    }),
    label: OptionalName.openapi({
      description: 'What the button of the console says after `Sign in with`. Default: the name in the path.',
      example: 'Acme',
    }),
    audience: OptionalLongName.describe('What `aud` of ID tokens must contain. Default: `clientId`.'),
    scopes: optional(z.array(Name).max(MOST_SCOPES)).openapi({
      description:
        'What the code flow asks for, always with `openid`. Default: `openid`, `profile`, `email`.',
      example: ['openid', 'profile', 'email', 'groups'],
    }),
    mappings: z
      .array(Mapping)
      .min(1)
      .max(MOST_MAPPINGS)
      .describe('Which claims give which roles. Who has none of them is not admitted.'),
    replacesPasswords: booleanOr(false).describe(
      'Whether no password signs in to an account of this tenant. Needs an administrator who has signed in by this provider (409 before).',
    ),
  })
  .check(ctx => {
    const url = URL.parse(ctx.value.issuer)
    if (url && (url.search !== '' || url.hash !== '' || /[?#]/.test(ctx.value.issuer)))
      breaks(ctx, 'must have no query and no fragment', ['issuer'])
    for (const [at, scope] of (ctx.value.scopes ?? []).entries())
      if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
        breaks(ctx, 'must be one word of visible ASCII characters', ['scopes', at])
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
  providers: z.array(z.object({ name: Text, label: Text })).describe('Providers that sign people in.'),
  passwords: Flag.describe('Whether passwords of accounts of the tenant sign in.'),
})
export type SignInOptionsResponse = z.infer<typeof SignInOptionsResponse>

export const ProviderSignInRequest = component('ProviderSignInRequest', {
  ...AuthenticateAdminQuery.shape,
  provider: LongName.describe('Its name, of `GET /account/signInOptions`.'),
})
export type ProviderSignInRequest = z.infer<typeof ProviderSignInRequest>

export const ProviderSignInResponse = component('ProviderSignInResponse', {
  location: Text.describe('The address at the provider that the browser goes to.'),
})

const Short = optional(z.string().max(2_048))

/** RFC 6749, 4.1.2; a provider may send more. */
export const ProviderCallbackQuery = z.object({
  code: optional(z.string().max(4_096)).describe('What the provider exchanges for tokens.'),
  state: Short.describe('What the sign-in began with.'),
  error: Short.describe('Why the provider signed nobody in (RFC 6749).'),
  error_description: Short.describe('Not read.'),
  iss: Short.describe(
    'The issuer (RFC 9207). It must be that of the provider, and be there where the discovery document promises it.',
  ),
})
export type ProviderCallbackQuery = z.infer<typeof ProviderCallbackQuery>

export const ProviderAuthenticateRequest = z
  .object({
    ...AuthenticateAdminQuery.shape,
    idToken: optional(z.string().max(LONGEST_ID_TOKEN)).openapi({
      description: 'An ID token of one of the providers of the tenant, as the provider issued it (JWT).',
      example: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwcyJ9.c2ln',
    }),
    nonce: OptionalLongName.describe(
      'The `nonce` that the client sent to the provider. It must be given exactly when the token has one.',
    ),
    code: optional(z.string().max(LONGEST_CODE)).describe(
      'Instead of the tenant and `idToken`: what the console got at the end of its sign-in. It works once, for a minute, and in the same browser.',
    ),
  })
  .check(ctx => {
    if ((ctx.value.idToken === undefined) === (ctx.value.code === undefined))
      breaks(ctx, 'must be given, or code instead', ['idToken'])
  })
  .openapi('ProviderAuthenticateRequest')
export type ProviderAuthenticateRequest = z.output<typeof ProviderAuthenticateRequest>
