// Who may do what in a tenant: its users with their permissions, and the roles that give them. Roles are written by deploying
// security/roles.json; these only show what came of it.
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { permissionsHeld } from '../../platform/http/permissions.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { newestConfiguration, versionQuery } from '../../product/cache.ts'
import { accountType, FROM_MOST_TO_LEAST, tenantRoles } from '../../product/roles.ts'
import type * as contract from '../contract.ts'
import { compactPermissions, listedPermissions, rolePermissions } from '../rights.ts'
import { accountWithRoles } from '../store.ts'
import { accounts } from '../tables.ts'
import { accountResponse } from './service.ts'

/** In the order in which they were made, without deleted ones. One round trip. */
export async function listUsers(
  { offset, count, ...choice }: contract.UsersQuery,
  context: RequestContext,
): Promise<contract.UserListResponse> {
  const database = homeDatabase(context)
  const [rows, [version]] = await database.batch([
    usersQuery(database, choice, { offset, count: count + 1 }),
    versionQuery(database, undefined),
  ])
  return {
    listCompleted: rows.length <= count,
    items: rows.slice(0, count).map(row => {
      const account = accountWithRoles(row, version?.roles)
      const permissions = compactPermissions(new Set(permissionsHeld(account)))
      return { ...accountResponse(account, context.tenant), permissions }
    }),
  }
}

type Choice = Omit<contract.UsersQuery, 'offset' | 'count'>

function usersQuery(
  { build }: Database,
  { username, accountType, disabled, service }: Choice,
  { offset, count }: { offset: number; count: number },
) {
  const when = <T>(value: T | undefined, condition: (value: T) => SQL): SQL | undefined =>
    value === undefined ? undefined : condition(value)
  return build
    .select()
    .from(accounts)
    .where(
      and(
        isNull(accounts.deletedAt),
        when(username, name => sql`substr(${accounts.username}, 1, ${[...name].length}) = ${name}`),
        when(accountType, type => eq(accounts.type, type)),
        when(disabled, is => sql`(${accounts.disabledAt} is not null) = ${is ? 1 : 0}`),
        when(service, is => eq(accounts.isService, is)),
      ),
    )
    .orderBy(asc(accounts.createdAt), asc(accounts.locator))
    .limit(count)
    .offset(offset)
}

/** Account types with what they may in this tenant, then the roles of the newest configuration by their names. */
export async function listRoles(context: RequestContext): Promise<contract.RoleResponse[]> {
  const configuration = await newestConfiguration(context)
  const grants = configuration && tenantRoles(configuration, false)
  const ofType = (type: contract.RoleResponse['accountType']): string[] => {
    const permissions = rolePermissions({ username: '', accountType: type, source: 'interface' }, grants)
    return compactPermissions(
      new Set(permissionsHeld({ accountType: type, ...(permissions && { permissions }) })),
    )
  }
  const types = FROM_MOST_TO_LEAST.map(type => ({
    ...{ name: type, accountType: type, source: 'accountType' as const, permissions: ofType(type) },
  }))
  const own = Object.entries(configuration?.roles ?? {}).map(([name, title]) => {
    const type = accountType({ roles: [name] })
    const listed = configuration?.rolePermissions?.[name]
    const permissions = listed ? compactPermissions(new Set(listedPermissions(listed))) : ofType(type)
    return { name, title, accountType: type, source: 'configuration' as const, permissions }
  })
  return [...types, ...own.sort((a, b) => (a.name < b.name ? -1 : 1))]
}
