// The query or the body names the tenant (contract 1, Authentication).
import { z } from '@hono/zod-openapi'
import { withoutInvisible } from '../kernel/text.ts'
import { ACCOUNT_TYPES, TENANT_ACCOUNT_TYPES } from '../platform/http/account-types.ts'
import {
  booleanOr,
  component,
  DateTime,
  Flag,
  LONGEST_LIST,
  LongName,
  Name,
  OptionalLocator,
  OptionalLongName,
  optional,
  PageSize,
  RequestBoolean,
  RequestDateTime,
  requestInteger,
  Text,
  Texts,
  Timestamp,
  withDefaults,
} from '../platform/wire.ts'
import { reportProblem, rule } from '../platform/wire-problem.ts'
import { LONGEST_PASSWORD, SHORTEST_PASSWORD, STRICT_RULES } from './password-rules/rules.ts'

/** Long enough for any passphrase, short enough to hash. */
const Password = z.string().min(1).max(1_024).openapi({ format: 'password' })

/** Without hostName and tenantName, an administration account signs in. */
export const AuthenticateRequest = component('AuthenticateRequest', {
  username: LongName,
  password: Password,
  hostName: OptionalLongName,
  tenantName: OptionalLongName,
  tenantLocator: OptionalLocator.describe('Only for `/account/authenticateAdmin`.'),
})
export type AuthenticateRequest = z.infer<typeof AuthenticateRequest>

export const AuthenticateQuery = z.object({ hostName: OptionalLongName, tenantName: OptionalLongName })
export type AuthenticateQuery = z.infer<typeof AuthenticateQuery>

/** Exactly one of the three properties, here or in the body, names the tenant. */
export const AuthenticateAdminQuery = z.object({
  hostName: OptionalLongName,
  tenantLocator: OptionalLocator,
  tenantName: OptionalLongName,
})
export type AuthenticateAdminQuery = z.infer<typeof AuthenticateAdminQuery>

/** Also the response of POST /account/renewAuthentication, which renews the token of its Authorization header. */
export const AuthenticateResponse = component('AuthenticateResponse', {
  authorizationToken: Text,
  expiresTimestamp: Timestamp,
})
export type AuthenticateResponse = z.infer<typeof AuthenticateResponse>

export const AccountUnlockRequest = component('AccountUnlockRequest', {
  username: LongName,
  hostName: OptionalLongName,
  tenantName: OptionalLongName,
})
export type AccountUnlockRequest = z.infer<typeof AccountUnlockRequest>

export const PasswordChangeRequest = component('PasswordChangeRequest', {
  oldPassword: Password,
  password: Password,
})
export type PasswordChangeRequest = z.infer<typeof PasswordChangeRequest>

export const PasswordSetRequest = component('PasswordSetRequest', { password: Password })
export type PasswordSetRequest = z.infer<typeof PasswordSetRequest>

/** RFC 5321 allows 254 characters. Mail servers check the rest. */
const Email = z
  .string()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, rule('must be an e-mail address'))
  .openapi({ format: 'email' })

/** A user name that does not look like another one: records of who did what show it. */
const NewUsername = LongName.refine(
  name => name === withoutInvisible(name).trim() && !/\p{Cc}/u.test(name),
  rule('must have no blanks around it, and no control or invisible characters'),
)

export const AccountAddRequest = withDefaults(
  { password: '' },
  z.object({
    name: LongName.describe('The name of the person, or a description of the program.'),
    email: Email,
    password: z.string().max(1_024).openapi({
      format: 'password',
      description: 'A service account has none; a value that you send is not stored.',
    }),
    type: LongName.openapi({
      description:
        '`account.tenant.admin`, `account.tenant.employee`, `account.tenant.read.only.user`, `account.tenant.claims.only.user`, or in test tenants `account.test.tenant.admin`; or the last part, such as `employee`. `service`: a program, which signs in only with long-lived tokens.',
      example: 'account.tenant.employee',
    }),
    username: NewUsername,
  }),
).openapi('AccountAddRequest')
export type AccountAddRequest = z.output<typeof AccountAddRequest>

const SHOWN_TYPES = [...ACCOUNT_TYPES, 'account.unauthenticated'] as const

const account = {
  id: Text.describe("The account's locator: `account.uuid` in its tokens."),
  name: Text,
  createdTimestamp: Timestamp,
  accountType: z.enum(SHOWN_TYPES).describe('For a service account: locator of the account that created it.'),
  deleted: Flag,
  email: Text.describe('Empty if an archive created the account.'),
  locked: Flag.describe('Whether password sign-in is locked after too many failures.'),
  tenant: Text.describe('The name of the tenant.'),
  username: Text,
  disabled: Flag.describe('Whether an administrator disabled it.'),
  service: Flag.describe('Whether it is a service account.'),
  state: z.unknown().optional().openapi({ deprecated: true }),
}

export const AccountResponse = component('AccountResponse', account)
export type AccountResponse = z.infer<typeof AccountResponse>

const integerOr = (value: number, minimum: number, maximum?: number) =>
  z
    .preprocess(
      wire => (wire === undefined || wire === null || wire === '' ? value : wire),
      requestInteger(minimum, maximum),
    )
    .openapi({ default: value })

export const AccountsQuery = z.object({
  offset: integerOr(0, 0).describe('Number of accounts to skip.'),
  count: PageSize,
})
export type AccountsQuery = z.output<typeof AccountsQuery>

export const AccountListResponse = component('AccountListResponse', {
  listCompleted: Flag.describe('Whether this is the last page.'),
  items: z.array(AccountResponse),
})
export type AccountListResponse = z.infer<typeof AccountListResponse>

export const UsersQuery = AccountsQuery.extend({
  username: OptionalLongName.describe('Beginning of the user name.'),
  accountType: optional(z.enum(TENANT_ACCOUNT_TYPES)).describe('Only accounts of this type.'),
  disabled: optional(RequestBoolean).describe('true: only disabled accounts; false: only enabled accounts.'),
  service: optional(RequestBoolean).describe('true: only service accounts; false: only people.'),
  role: OptionalLongName.describe('Only accounts that were given this role, named as in their `roles`.'),
})
export type UsersQuery = z.output<typeof UsersQuery>

/** Comparing a new password with a former one takes a fifth of a second. */
const LONGEST_HISTORY = 10

/** The defaults are the brief's stricter rules. */
export const PasswordRulesRequest = z
  .object({
    minimumLength: integerOr(STRICT_RULES.minimumLength, SHORTEST_PASSWORD, 64),
    maximumLength: integerOr(STRICT_RULES.maximumLength, SHORTEST_PASSWORD, LONGEST_PASSWORD),
    digit: booleanOr(STRICT_RULES.digit),
    upper: booleanOr(STRICT_RULES.upper),
    lower: booleanOr(STRICT_RULES.lower),
    special: booleanOr(STRICT_RULES.special),
    history: integerOr(STRICT_RULES.history, 0, LONGEST_HISTORY).describe(
      'Number of former passwords that cannot be used again.',
    ),
    expiryDays: integerOr(STRICT_RULES.expiryDays, 0, 3_650).describe(
      'After this many days, a password can only be used to choose another. 0: never. Passwords that an archive set do not expire.',
    ),
  })
  .check(ctx => {
    if (ctx.value.maximumLength < ctx.value.minimumLength)
      reportProblem(ctx, "must be at least 'minimumLength'", ['maximumLength'])
  })
  .openapi('PasswordRulesRequest')

export const PasswordRulesResponse = component('PasswordRulesResponse', {
  minimumLength: z.int(),
  maximumLength: z.int(),
  digit: Flag,
  upper: Flag,
  lower: Flag,
  special: Flag,
  history: z.int(),
  expiryDays: z.int(),
})

/** RFC 7517, RFC 8037. */
export const KeySetResponse = component('KeySetResponse', {
  keys: z.array(z.object({ kty: Text, crv: Text, x: Text, kid: Text, alg: Text, use: Text })),
})

// Contract 1, Accounts and auth tokens.

const TokenName = Name.refine(
  name => !name.startsWith('bdy_'),
  rule("must not begin with 'bdy_', which is the beginning of tokens"),
)

const Listed = z.array(Text).max(LONGEST_LIST)

export const AuthTokenCreateRequest = withDefaults(
  { permissions: [], tenants: [] },
  z.object({
    name: TokenName.describe('Unique among the tokens of the account.'),
    expiresAt: RequestDateTime.describe('At most five years ahead.'),
    permissions: Listed.openapi({
      description:
        'Permissions of the token, as `group.action` or `group.*`: only those that its account, and the account that creates it, have. Without any, it cannot be used where a permission is needed.',
      example: ['policies.read', 'invoices.*'],
    }),
    tenants: Listed.describe(
      'Tenants in which the token is valid, by name, host name or locator; also `any` and `type:test` or `type:production`. The account of a tenant can name only that tenant, which is also the default. An administration account must list at least one, each by its name or by one of these three words.',
    ),
  }),
).openapi('AuthTokenCreateRequest')
export type AuthTokenCreateRequest = z.output<typeof AuthTokenCreateRequest>

/** Without the value of the token, which is returned only once, when it is created. */
export const AuthTokenResponse = component('AuthTokenResponse', {
  name: Text,
  expiresAt: DateTime,
  createdAt: DateTime,
  permissions: Texts.optional(),
  tenants: Texts.optional(),
})
export type AuthTokenResponse = z.infer<typeof AuthTokenResponse>

export const AuthTokens = z.array(AuthTokenResponse)
