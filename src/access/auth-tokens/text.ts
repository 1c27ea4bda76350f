// A long-lived token is `bdy_`, the tenant, 30 random characters and a checksum, of 62 characters that need no quoting.
// Scanners for leaked secrets recognise it by prefix and checksum, and a typing error costs no look-up. With the tenant in it,
// only that tenant's database is searched.
import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from '../../../packages/zip/crc32.ts'
import { readUuid, type Uuid } from '../../kernel/locators.ts'
import { AUTH_TOKEN_PREFIX } from '../../platform/outbound/masking.ts'

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

/** In place of the tenant, in a token of an administration account. */
export const NO_TENANT = '00000000-0000-4000-8000-000000000000' as Uuid

/** Whether the text looks like a long-lived token, valid or not. */
export const isAuthToken = (text: string): boolean => text.startsWith(AUTH_TOKEN_PREFIX)

/** A new token of an account of the tenant, or with `NO_TENANT` of an administration account. */
export function newAuthToken(tenant: Uuid): string {
  const bare =
    AUTH_TOKEN_PREFIX + written(BigInt(`0x${tenant.replaceAll('-', '')}`), TENANT_CHARACTERS) + randomText()
  return bare + checksum(bare)
}

/** The tenant that a token names, or `NO_TENANT`; undefined for a text that was never a token, as one with a typing error. */
export function tenantOfAuthToken(text: string): Uuid | undefined {
  const [, tenant, sum] = SHAPE.exec(text) ?? []
  if (tenant === undefined || sum !== checksum(text.slice(0, -CHECKSUM_CHARACTERS))) return undefined
  const hex = [...tenant]
    .reduce((value, digit) => value * BASE + BigInt(DIGITS.indexOf(digit)), 0n)
    .toString(16)
    .padStart(32, '0')
  return readUuid(hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
}

/** The hash that is stored for a token. */
export const hashOfAuthToken = (text: string): string => createHash('sha256').update(text).digest('hex')

const checksum = (bare: string): string =>
  written(BigInt(crc32(new TextEncoder().encode(bare))), CHECKSUM_CHARACTERS)

function written(value: bigint, characters: number): string {
  let text = ''
  for (let rest = value; text.length < characters; rest /= BASE) text = DIGITS[Number(rest % BASE)]! + text
  return text
}

/** All characters are equally likely: bytes that would favour the first ones are skipped. */
function randomText(): string {
  let text = ''
  while (text.length < RANDOM_CHARACTERS)
    for (const byte of randomBytes(RANDOM_CHARACTERS * 2))
      if (byte < 248 && text.length < RANDOM_CHARACTERS) text += DIGITS[byte % DIGITS.length]
  return text
}
