// Gives roles to accounts. They replace what the account type gives, so the caller must have all permissions of the roles.
import { sql } from 'drizzle-orm'
import { invalidRequest, wrongState } from '../../kernel/errors.ts'
import { jsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { permissionsHeld } from '../../platform/http/permissions.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { versionQuery } from '../../product/cache.ts'
import { typeOfRole } from '../../product/roles.ts'
import { changeAccount, requireNotSelf } from '../administration/service.ts'
import { managerStays, requireManager } from '../last-manager.ts'
import { type GivenRole, requireHeldPermissions, rolePermissions } from '../rights.ts'
import { isOfProvider, rolesQueries, type StoredAccount } from '../store.ts'
import { accounts } from '../tables.ts'
import type { UserRolesRequest } from './contract.ts'
import { mayManageUsers } from './managers.ts'
import { requireRoles } from './service.ts'
import * as store from './store.ts'
import { userResponse } from './users.ts'

/**
 * Replaces the roles of an account. Throws 400 for an unknown role; 409 for the caller's own account, for an account whose roles
 * come from elsewhere, and where nobody would be left who may change users; 422 `beyondOwner` for more than the caller may do. If
 * the roles differ, the access tokens of the account end. Its long-lived tokens keep those listed permissions that the roles still
 * give.
 */
export function giveRoles(
  locator: string,
  request: UserRolesRequest,
  context: RequestContext,
): Promise<JsonText> {
  const { tenant, caller } = context
  requireRoles(tenant)
  const names = [...new Set(request.roles.map(name => typeOfRole(name) ?? name))].sort()
  return changeAccount(context, locator, 'accounts.roles', async (account, _, { isFirst }) => {
    requireNotSelf(account.locator, context.caller, 'give roles to')
    const database = homeDatabase(context)
    await requireAssignableRoles(account, context)
    const [[version], present] = await database.batch([
      versionQuery(database, undefined),
      store.rolesQuery(database),
    ])
    const given = namedRoles(names, present)
    const { permissions: __, roles: ___, ...bare } = account
    const permissions = rolePermissions({ ...bare, given }, version?.roles)
    const after = { ...bare, ...(permissions && { permissions }), ...(given.length > 0 && { roles: names }) }
    requireHeldPermissions(
      permissionsHeld(after),
      permissionsHeld(caller),
      'The account would get permissions that you lack:',
    )
    const losesManager = mayManageUsers(account) && !mayManageUsers(after) && !account.isService
    const keepsManager = losesManager
      ? managerStays(version?.roles, { loses: sql`${accounts.locator} = ${account.locator}` })
      : sql`true`
    if (losesManager) await requireManager(database, keepsManager, isFirst)
    const own = present.filter(role => names.includes(role.name))
    return {
      set: {},
      endsAccess: names.join() !== (account.roles ?? []).join(),
      guards: [
        {
          name: 'guard_account',
          holds: sql`${keepsManager} and ${store.areUnchanged(
            own.map(({ name }) => name),
            own,
          )}`,
        },
      ],
      facts: rolesQueries(database, account.locator, names),
      details: { roles: names },
      answer: jsonAnswer(userResponse(after, tenant)),
    }
  })
}

/** Throws 409 for an account whose roles are set by a deploy or a sign-in. */
async function requireAssignableRoles(account: StoredAccount, context: RequestContext): Promise<void> {
  const { username, locator, source } = account
  if (source === 'archive')
    throw wrongState(
      `'${username}' and its roles come from the configuration (security/test_users.json); a deploy changes them.`,
    )
  if (await isOfProvider(homeDatabase(context), locator, context.tenant))
    throw wrongState(
      `'${username}' signs in by an identity provider, whose mappings set its roles at each sign-in. Change those (PUT /auth/providers/{name}).`,
    )
}

/** Throws 400 for a name that is neither an account type nor a role of the interface. */
function namedRoles(names: readonly string[], present: readonly store.Role[]): GivenRole[] {
  return names.map(name => {
    if (typeOfRole(name)) return { name, permissions: null }
    const role = present.find(one => one.name === name)
    if (role) return role
    throw invalidRequest(
      `There is no role '${name.slice(0, 80).toWellFormed()}' to give. Name an account type, such as account.tenant.employee, or a role of the interface (GET /auth/roles).`,
    )
  })
}
