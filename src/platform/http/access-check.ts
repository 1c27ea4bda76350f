// Whether who is signed in may call a route. Asked before the query and the body are read.

import { Refusal } from '../../kernel/errors.ts'
import { requirePermission } from './permissions.ts'
import type { Access } from './route.ts'
import type { SignedIn } from './sign-in-check.ts'

/** Refuses (403) whoever the route is not for, and whoever holds none of its permissions. */
export function requireAccess(
  { caller, tenant, isPasswordExpired }: Pick<SignedIn, 'caller' | 'tenant' | 'isPasswordExpired'>,
  access: Exclude<Access, { kind: 'public' }>,
): void {
  const isOwnSignIn = access.kind === 'signedIn' && !access.permissions
  if (isPasswordExpired && !isOwnSignIn)
    throw new Refusal(
      'forbidden',
      'The password is older than the tenant allows; choose another with PATCH /account/v1/accounts/password.',
    )
  if (access.kind === 'tenant' && !tenant)
    throw new Refusal(
      'forbidden',
      'This path serves accounts of a tenant; sign in with tenantName or hostName, or with authenticateAdmin.',
    )
  if (access.kind === 'administration' && tenant)
    throw new Refusal(
      'forbidden',
      'This path serves administration accounts; sign in with user name and password only, without a tenant.',
    )
  if (access.permissions) requirePermission(caller, access.permissions)
}
