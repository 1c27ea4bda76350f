// Reads a person's roles, name and e-mail address from the claims of an ID token.
import { createHash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { isLongerThan, removeUnstorable, withoutInvisible } from '../../kernel/text.ts'
import { ACCOUNT_TYPES_BY_RANK, type TestUserType } from '../../product/roles.ts'
import type { GivenRole } from '../rights.ts'
import type { Role } from '../roles/store.ts'
import type { RoleMapping } from '../tables.ts'
import type { Verified } from './id-token.ts'

/** Returns the account types and roles that the mappings give. */
export const mappedRoles = (mappings: readonly RoleMapping[], claims: JWTPayload): string[] => [
  ...new Set(
    mappings
      .filter(({ claim, value }) => valuesOf(claims, claim).includes(value))
      .flatMap(({ roles }) => roles),
  ),
]

type Grant = {
  /** Undefined if the person is not admitted. */
  readonly type: TestUserType | undefined
  /** Empty where the type alone decides. */
  readonly given: readonly GivenRole[]
}

/**
 * Returns the type and roles of an account. An account with roles but no type gets the type with the fewest rights; the roles
 * decide what it may do.
 */
export function grantOf(mapped: readonly string[], own: readonly Role[]): Grant {
  const type = ACCOUNT_TYPES_BY_RANK.find(one => mapped.includes(one))
  if (own.length === 0) return { type, given: [] }
  const given = [...(type ? [{ name: type, permissions: null }] : []), ...own]
  return {
    type: type ?? ACCOUNT_TYPES_BY_RANK.at(-1),
    given: given.sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

/**
 * Whether the provider states that the e-mail address is not verified: some providers let people enter any address. Many do not
 * send this claim and are trusted.
 */
const isUnverified = ({ email_verified: isVerified }: JWTPayload): boolean =>
  isVerified === false || isVerified === 'false'

/** Returns the texts of a claim, found by its whole name or else by a path into objects. */
function valuesOf(claims: JWTPayload, claim: string): string[] {
  if (claim === 'email' && isUnverified(claims)) return []
  let value: unknown = claims
  if (Object.hasOwn(claims, claim)) value = claims[claim]
  else
    for (const name of claim.split('.'))
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined
  return (Array.isArray(value) ? value : [value])
    .filter(one => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean')
    .map(String)
}

const LONGEST_NAME = 256

/** Returns undefined for a claim that is not a name: empty, too long, or with control characters. */
function nameIn(claim: unknown): string | undefined {
  if (typeof claim !== 'string') return undefined
  const text = removeUnstorable(claim).trim()
  return text === '' || isLongerThan(text, LONGEST_NAME - 20) || /\p{Cc}/u.test(text) ? undefined : text
}

const nameAsRead = (claim: unknown): string | undefined => {
  const name = nameIn(claim)
  return name === undefined ? undefined : nameIn(withoutInvisible(name.normalize('NFC')))
}

/** Returns names for a new account, best first. An account never gets the name of another one, because the last name is unique. */
export function usernamesOf({ claims, subject, hash, issuer }: Verified): string[] {
  const name =
    nameAsRead(claims.preferred_username) ??
    nameAsRead(claims.email) ??
    nameAsRead(subject) ??
    hash.slice(0, 16)
  return [name, `${name}#${shortHash(`${issuer}\n${subject}`)}`]
}

/** 64 bits, so that nobody can find a subject whose name is also taken. */
const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/**
 * Returns the name and address of an account from its claims. Without a usable name it is the user name, without an address null.
 */
export function personOf(claims: JWTPayload, username: string): { name: string; email: string | null } {
  const email = claims.email
  const isEmail = typeof email === 'string' && email.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(email)
  return { name: nameIn(claims.name) ?? username, email: isEmail ? removeUnstorable(email) : null }
}
