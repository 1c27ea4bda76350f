// Whether who is signed in may call a route. Asked before the query and the body are read.

import { forbidden } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Caller } from '../context.ts'
import type { Tenant } from '../tenancy.ts'
import type { Exchange } from './exchange.ts'
import { requirePermission } from './permissions.ts'
import type { Access, Route } from './route.ts'

export type SignedIn = {
  readonly caller: Caller
  /** Undefined for an administration account. */
  readonly tenant: Tenant | undefined
  /** Undefined with a long-lived token. */
  readonly signedInAt: Instant | undefined
  readonly accountEpoch: number
  readonly isPasswordExpired: boolean
}

/** What a layer above knows of callers; `mount` takes it. */
export type Callers = {
  /** Who is signed in; throws a Refusal (401) when nobody is. */
  signedIn(exchange: Exchange, env: Env): Promise<SignedIn>
  /** Notes in the audit trail that the caller was refused the route. */
  recordRefusal(env: Env, exchange: Exchange, who: SignedIn, route: Route): Promise<void>
}

/** Refuses (403) whoever the route is not for, and whoever holds none of its permissions. */
export function requireAccess(
  { caller, tenant, isPasswordExpired }: Pick<SignedIn, 'caller' | 'tenant' | 'isPasswordExpired'>,
  access: Exclude<Access, { kind: 'public' }>,
): void {
  const isOwnSignIn = access.kind === 'signedIn' && !access.permissions
  if (isPasswordExpired && !isOwnSignIn)
    throw forbidden(
      'The password is older than the tenant allows; choose another with PATCH /account/v1/accounts/password.',
    )
  if (access.kind === 'tenant' && !tenant)
    throw forbidden(
      'This path serves accounts of a tenant; sign in with tenantName or hostName, or with authenticateAdmin.',
    )
  if (access.kind === 'administration' && tenant)
    throw forbidden(
      'This path serves administration accounts; sign in with user name and password only, without a tenant.',
    )
  if (access.permissions) requirePermission(caller, access.permissions)
}
