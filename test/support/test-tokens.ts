// Tokens that a test creates itself: for any account type, with their own permissions, expired or changed.
import { env } from 'cloudflare:workers'
import { issueToken } from '../../src/access/access-tokens.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import { type Instant, now } from '../../src/kernel/time.ts'
import type { TenantType } from '../../src/platform/tenancy.ts'

export type Claims = {
  accountLocator: string
  accountType: string
  permissions?: readonly string[]
  /** Undefined for an administration account. */
  tenantLocator: string | undefined
  /** How many epochs behind the tenant's current tokens it is. */
  epochsAgo?: number
  /** How long ago it was issued. */
  ageMs?: number
}

/** A token that the service accepts unless the claims make it invalid. */
export async function madeToken(claims: Claims): Promise<string> {
  const { accountLocator, accountType, permissions, tenantLocator, epochsAgo = 0, ageMs = 0 } = claims
  const row =
    tenantLocator === undefined
      ? undefined
      : await env.CONTROL.prepare('select name, type, generation, token_epoch from tenant where locator = ?')
          .bind(tenantLocator)
          .first<{ name: string; type: TenantType; generation: number; token_epoch: number }>()
  const issuedAt = (now() - ageMs) as Instant
  const tenant = row && {
    locator: tenantLocator as Uuid,
    name: row.name,
    type: row.type,
    generation: row.generation,
    tokenEpoch: row.token_epoch - epochsAgo,
    timeZone: 'UTC',
  }
  const caller = {
    accountLocator: accountLocator as Uuid,
    username: 'someone',
    accountType,
    ...(permissions && { permissions }),
  }
  const { token } = await issueToken(
    env,
    { caller, accountName: 'Someone', tenant: tenant ?? undefined, signedInAt: issuedAt },
    issuedAt,
  )
  return token
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The token's claims under a header that requires no signature, with the old signature or another one. */
export function unsigned(token: string, signature = token.split('.')[2]!): string {
  return `${encoded({ alg: 'none', typ: 'JWT' })}.${token.split('.')[1]}.${signature}`
}

/** The token with one bit of its signature changed. */
export function withBrokenSignature(token: string): string {
  const [header, claims, signature] = token.split('.') as [string, string, string]
  const bytes = Buffer.from(signature, 'base64url')
  bytes[0]! ^= 1
  return `${header}.${claims}.${bytes.toString('base64url')}`
}

/** The token with other claims under its old signature. */
export function withClaims(token: string, changes: object): string {
  const [header, claims, signature] = token.split('.') as [string, string, string]
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString())
  return `${header}.${encoded({ ...said, ...changes })}.${signature}`
}
