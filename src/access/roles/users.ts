// The users of a tenant with their permissions.
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { permissionsHeld } from '../../platform/http/permissions.ts'
import { homeDatabase, type Tenant } from '../../platform/tenancy.ts'
import { versionQuery } from '../../product/cache.ts'
import { accountResponse } from '../administration/service.ts'
import type { UsersQuery } from '../contract.ts'
import { compactPermissions } from '../rights.ts'
import { accountWithRoles, type StoredAccount } from '../store.ts'
import { accounts } from '../tables.ts'
import type { UserListResponse, UserResponse } from './contract.ts'
import { hasRole, providersOfAccounts, rolesOfPageQuery } from './store.ts'

/** Lists users in the order of their creation, without deleted ones. One round trip. */
export async function listUsers(
  { offset, count, ...choice }: UsersQuery,
  context: RequestContext,
): Promise<UserListResponse> {
  const database = homeDatabase(context)
  // Without a table of roles, no account has any.
  if (choice.role !== undefined && !context.tenant.keepsRoles) return { listCompleted: true, items: [] }
  const page = usersQuery(database, choice, { offset, count: count + 1 })
  const { keepsProviders, keepsRoles } = context.tenant
  const [[rows, [version]], [tied], [given]] = await Promise.all([
    database.sharedBatch([page, versionQuery(database, undefined)]),
    keepsProviders ? database.sharedBatch([providersOfAccounts(database, page)]) : [[]],
    keepsRoles ? database.sharedBatch([rolesOfPageQuery(database, page)]) : [[]],
  ])
  const providerOf = new Map(tied.map(({ accountLocator, provider }) => [accountLocator, provider]))
  const givenBy = Map.groupBy(given, ({ accountLocator }) => accountLocator)
  return {
    listCompleted: rows.length <= count,
    items: rows.slice(0, count).map(row => {
      const account = accountWithRoles(row, version?.roles, givenBy.get(row.locator) ?? [])
      const identityProvider = providerOf.get(row.locator)
      return {
        ...userResponse(account, context.tenant),
        ...(identityProvider !== undefined && { identityProvider }),
      }
    }),
  }
}

/** Returns the account with what it may do. `account` has its roles already (`accountWithRoles`). Whole groups are `group.*`. */
export const userResponse = (account: StoredAccount, tenant: Tenant): UserResponse => ({
  ...accountResponse(account, tenant),
  roles: [...(account.roles ?? [])],
  permissions: compactPermissions(new Set(permissionsHeld(account))),
})

type Choice = Omit<UsersQuery, 'offset' | 'count'>

function usersQuery(
  { build }: Database,
  { username, accountType, disabled, service, role }: Choice,
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
        when(role, hasRole),
      ),
    )
    .orderBy(asc(accounts.createdAt), asc(accounts.locator))
    .limit(count)
    .offset(offset)
}
