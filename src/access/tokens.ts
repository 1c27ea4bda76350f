// Long-lived tokens, and the lives of access tokens (access-tokens.ts, which an isolate imports only when it needs it).

import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from '../../packages/zip/crc32.ts'
import { readUuid, type Uuid } from '../kernel/locators.ts'
import { AUTH_TOKEN_PREFIX } from '../platform/outbound/masking.ts'

/** Life of an access token. */
export const TOKEN_LIFE_MS = 60 * 60 * 1000

// A long-lived token is `bdy_`, the tenant, 30 random characters and a checksum. Scanners for leaked secrets recognise it, a typo
// costs no look-up, and only one tenant's database is searched.
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

/** The tenant in tokens of administration accounts. */
export const NO_TENANT = '00000000-0000-4000-8000-000000000000' as Uuid

/** Returns a new long-lived token. `tenant` is `NO_TENANT` for an administration account. */
export function newAuthToken(tenant: Uuid): string {
  const bare =
    AUTH_TOKEN_PREFIX + encode(BigInt(`0x${tenant.replaceAll('-', '')}`), TENANT_CHARACTERS) + randomText()
  return bare + checksum(bare)
}

/** Returns undefined for a malformed token, such as one with a typo. */
export function tenantOfAuthToken(text: string): Uuid | undefined {
  const [, tenant, sum] = SHAPE.exec(text) ?? []
  if (tenant === undefined || sum !== checksum(text.slice(0, -CHECKSUM_CHARACTERS))) return undefined
  const hex = [...tenant]
    .reduce((value, digit) => value * BASE + BigInt(DIGITS.indexOf(digit)), 0n)
    .toString(16)
    .padStart(32, '0')
  return readUuid(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
}

/** Returns the SHA-256 of a token in hexadecimal, the only form in which it is stored. */
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
