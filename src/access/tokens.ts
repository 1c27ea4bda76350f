// JWTs: a request needs no look-up. Clients read claims with dots in their names (brief 0.13).

import { createHash, randomBytes } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { crc32 } from '../../packages/zip/crc32.ts'
import { type Refusal, unauthenticated } from '../kernel/errors.ts'
import { readUuid, type Uuid } from '../kernel/locators.ts'
import { Memo } from '../kernel/maps.ts'
import { type Instant, instant } from '../kernel/time.ts'
import type { Caller } from '../platform/context.ts'
import { AUTH_TOKEN_PREFIX } from '../platform/outbound/masking.ts'
import type { Tenant } from '../platform/tenancy.ts'
import { TOKEN_ALGORITHM, type TokenKeys, tokenKeys } from '../platform/token-keys.ts'

export const TOKEN_LIFE_MS = 60 * 60 * 1000

/** After the sign-in (brief 7). */
export const RENEWABLE_MS = 12 * 60 * 60 * 1000

/** Without a tenant: an administration account. */
export type TokenHolder = {
  readonly caller: Caller
  readonly accountName: string
  /** Number of revocations of the account; default 0. */
  readonly accountEpoch?: number
  /** Then the token can only be used to set a new password. */
  readonly isPasswordExpired?: boolean
  readonly isAdministration?: boolean
  /** `timeZone` is that of the newest configuration, for the claim only. */
  readonly tenant:
    | (Pick<Tenant, 'locator' | 'name' | 'type' | 'generation' | 'tokenEpoch'> & { timeZone: string })
    | undefined
  readonly signedInAt: Instant
}

/** The tenant or account may have been deleted, recreated or revoked since. */
type TokenClaims = {
  readonly caller: Caller
  readonly accountEpoch: number
  readonly isPasswordExpired: boolean
  /** Of an administration account, which may be signed in to a tenant. */
  readonly isAdministration: boolean
  readonly tenant: { locator: Uuid; generation: number; tokenEpoch: number } | undefined
  readonly signedInAt: Instant
}

const seconds = (at: number): number => Math.floor(at / 1000)

export async function issueToken(
  env: TokenKeys,
  holder: TokenHolder,
  now: Instant,
): Promise<{ token: string; expiresAt: Instant }> {
  const { caller, accountName, accountEpoch = 0, tenant, signedInAt } = holder
  const { signing } = await tokenKeys(env)
  const expiresAt = (seconds(now + TOKEN_LIFE_MS) * 1000) as Instant
  const token = await new SignJWT({
    'account.name': accountName,
    'account.type': caller.accountType,
    'account.uuid': caller.accountLocator,
    ...(accountEpoch > 0 && { 'account.epoch': accountEpoch }),
    ...(holder.isPasswordExpired && { 'password.expired': true }),
    ...(holder.isAdministration && { 'account.administration': true }),
    ...(tenant && {
      'tenant.name': tenant.name,
      'tenant.timezone': tenant.timeZone,
      'tenant.type': tenant.type,
      'tenant.uuid': tenant.locator,
      'tenant.generation': tenant.generation,
      'tenant.epoch': tenant.tokenEpoch,
    }),
    ...(caller.permissions && { permissions: caller.permissions }),
    auth_time: seconds(signedInAt),
  })
    .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: 'JWT', kid: signing.kid })
    .setSubject(caller.username)
    .setIssuedAt(seconds(now))
    .setExpirationTime(seconds(expiresAt))
    .sign(signing.key)
  return { token, expiresAt }
}

/** Verified tokens that an isolate remembers; the least recently used is dropped first. */
const MOST_CHECKED = 1_000

type Checked = { readonly claims: TokenClaims; readonly expiresAt: number }

const checked = new Memo<string, Checked>(MOST_CHECKED)
let checkedWith: string | undefined

/** 401 for a token that has expired or that this service did not sign. */
export async function readToken(env: TokenKeys, token: string, now: Instant): Promise<TokenClaims> {
  if (checkedWith !== env.TOKEN_KEYS) checked.clear()
  checkedWith = env.TOKEN_KEYS
  const known = checked.get(token)
  if (known && known.expiresAt <= now) throw expired()
  const read = known ?? (await checkToken(env, token, now))
  checked.set(token, read)
  return read.claims
}

async function checkToken(env: TokenKeys, token: string, now: Instant): Promise<Checked> {
  const { verifying } = await tokenKeys(env)
  const keyOf = ({ kid = '' }: { kid?: string }): CryptoKey => {
    const key = verifying.get(kid)
    if (!key) throw invalid()
    return key
  }
  const { payload } = await jwtVerify(token, keyOf, {
    algorithms: [TOKEN_ALGORITHM],
    requiredClaims: ['sub', 'exp', 'auth_time'],
    currentDate: new Date(now),
  }).catch((problem: { code?: string }) => {
    throw problem.code === 'ERR_JWT_EXPIRED' ? expired() : invalid()
  })
  const accountLocator = readUuid(String(payload['account.uuid']))
  const signedInAt = instant(Number(payload.auth_time) * 1000)
  if (accountLocator === undefined || signedInAt === undefined || payload.sub === undefined)
    throw unauthenticated('The token is of another kind; sign in with POST /account/authenticate.')
  const tenantLocator = readUuid(String(payload['tenant.uuid']))
  const claims: TokenClaims = {
    caller: {
      accountLocator,
      username: payload.sub,
      accountType: String(payload['account.type']),
      ...(Array.isArray(payload.permissions) && { permissions: payload.permissions.map(String) }),
    },
    accountEpoch: Number(payload['account.epoch'] ?? 0),
    isPasswordExpired: payload['password.expired'] === true,
    isAdministration: tenantLocator === undefined || payload['account.administration'] === true,
    tenant: tenantLocator && {
      locator: tenantLocator,
      generation: Number(payload['tenant.generation']),
      tokenEpoch: Number(payload['tenant.epoch']),
    },
    signedInAt,
  }
  return { claims, expiresAt: payload.exp! * 1000 }
}

const invalid = (): Refusal =>
  unauthenticated('The token is not valid; sign in with POST /account/authenticate.')
const expired = (): Refusal => unauthenticated('The token has expired; sign in again.')

const AUTHORIZATION = /^(?:(?:bearer|jwt)\s+)?([\w-]+\.[\w-]+\.[\w-]+|bdy_[0-9A-Za-z]+)$/i

/** Accepts a bare token, or one after `Bearer` or `JWT` in any case (brief 0.7). */
export function tokenOf(request: Request): string {
  const header = request.headers.get('authorization')?.trim() ?? ''
  if (header === '')
    throw unauthenticated(
      'The Authorization header is missing; send the token of POST /account/authenticate.',
    )
  const match = header.length > 8_192 ? null : AUTHORIZATION.exec(header)
  if (!match?.[1])
    throw unauthenticated('The Authorization header has no token; send `Bearer <token>` or the token alone.')
  return match[1]
}

// A long-lived token is `bdy_`, the tenant, 30 random characters and a checksum. Scanners for leaked secrets recognise it, a typing
// error costs no look-up, and only one tenant's database is searched.
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(DIGITS.length)

/** 62^22 is more than 2^128. */
const TENANT_CHARACTERS = 22
/** 178 bits. */
const RANDOM_CHARACTERS = 30
/** 62^6 is more than 2^32. */
const CHECKSUM_CHARACTERS = 6

const SHAPE = new RegExp(
  `^${AUTH_TOKEN_PREFIX}([${DIGITS}]{${TENANT_CHARACTERS}})[${DIGITS}]{${RANDOM_CHARACTERS}}([${DIGITS}]{${CHECKSUM_CHARACTERS}})$`,
)

/** In tokens of administration accounts. */
export const NO_TENANT = '00000000-0000-4000-8000-000000000000' as Uuid

/** Checks the prefix only. */
export const isAuthToken = (text: string): boolean => text.startsWith(AUTH_TOKEN_PREFIX)

export function newAuthToken(tenant: Uuid): string {
  const bare =
    AUTH_TOKEN_PREFIX + encode(BigInt(`0x${tenant.replaceAll('-', '')}`), TENANT_CHARACTERS) + randomText()
  return bare + checksum(bare)
}

/** Undefined for a malformed token, such as one with a typing error. */
export function tenantOfAuthToken(text: string): Uuid | undefined {
  const [, tenant, sum] = SHAPE.exec(text) ?? []
  if (tenant === undefined || sum !== checksum(text.slice(0, -CHECKSUM_CHARACTERS))) return undefined
  const hex = [...tenant]
    .reduce((value, digit) => value * BASE + BigInt(DIGITS.indexOf(digit)), 0n)
    .toString(16)
    .padStart(32, '0')
  return readUuid(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
}

export const hashOfAuthToken = (text: string): string => createHash('sha256').update(text).digest('hex')

const checksum = (bare: string): string =>
  encode(BigInt(crc32(new TextEncoder().encode(bare))), CHECKSUM_CHARACTERS)

function encode(value: bigint, characters: number): string {
  let text = ''
  for (let rest = value; text.length < characters; rest /= BASE) text = DIGITS[Number(rest % BASE)]! + text
  return text
}

/** Skips bytes that would favour the first characters. */
function randomText(): string {
  let text = ''
  while (text.length < RANDOM_CHARACTERS)
    for (const byte of randomBytes(RANDOM_CHARACTERS * 2))
      if (byte < 248 && text.length < RANDOM_CHARACTERS) text += DIGITS[byte % DIGITS.length]
  return text
}
