// Signing in. Which tenant is meant may stand in the query or in the body (contract 1, Authentication).
import { z } from '@hono/zod-openapi'
import { LongName, OptionalLocator, OptionalLongName, Text, Timestamp } from '../platform/wire.ts'

/** Long enough for any passphrase, short enough to hash. */
const Password = z.string().min(1).max(1_024).openapi({ format: 'password' })

/** With neither hostName nor tenantName: the administration account. */
export const AuthenticateRequest = z
  .object({
    username: LongName,
    password: Password,
    hostName: OptionalLongName,
    tenantName: OptionalLongName,
  })
  .openapi('AuthenticateRequest')
export type AuthenticateRequest = z.infer<typeof AuthenticateRequest>

export const AuthenticateQuery = z.object({ hostName: OptionalLongName, tenantName: OptionalLongName })
export type AuthenticateQuery = z.infer<typeof AuthenticateQuery>

/** Exactly one of the three, here or in the body, names the tenant. */
export const AuthenticateAdminQuery = z.object({
  hostName: OptionalLongName,
  tenantLocator: OptionalLocator,
  tenantName: OptionalLongName,
})
export type AuthenticateAdminQuery = z.infer<typeof AuthenticateAdminQuery>

/**
 * A token and when it ends. POST /account/renewAuthentication answers it too: that call has no body, it renews
 * the token of its Authorization header.
 */
export const AuthenticateResponse = z
  .object({ authorizationToken: Text, expiresTimestamp: Timestamp })
  .openapi('AuthenticateResponse')
export type AuthenticateResponse = z.infer<typeof AuthenticateResponse>
