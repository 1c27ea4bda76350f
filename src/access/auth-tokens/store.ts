import { and, asc, desc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Database, Query } from '../../platform/database.ts'
import { configurationVersions } from '../../product/tables.ts'
import { rolePermissions } from '../roles.ts'
import type { StoredAccount } from '../store.ts'
import { accounts, authTokens } from '../tables.ts'
import { hashOfAuthToken, isAuthToken } from './text.ts'

/** A token as requests need it, with the account as it is now. */
export type FoundToken = {
  readonly accountLocator: Uuid
  readonly username: string
  readonly accountType: string
  /** What the roles of the tenant's newest configuration make of the account; absent: what its type may. */
  readonly accountPermissions?: readonly string[]
  /** The token's own. */
  readonly permissions: readonly string[]
  /** Of an administration account's: for which tenants it is. */
  readonly tenants?: readonly string[]
  readonly expiresAt: number
}

/** The token, if it and its account are there and the account is not disabled. */
export async function findToken(database: Database, text: string): Promise<FoundToken | undefined> {
  const [[row], [version]] = await database.batch([
    database.build
      .select({
        accountLocator: sql<Uuid>`${accounts.locator}`,
        username: accounts.username,
        accountType: sql<string>`${accounts.type}`,
        source: accounts.source,
        permissions: authTokens.permissions,
        expiresAt: authTokens.expiresAt,
      })
      .from(authTokens)
      .innerJoin(accounts, eq(accounts.locator, authTokens.accountLocator))
      .where(
        and(
          eq(authTokens.hash, hashOfAuthToken(text)),
          isNull(accounts.deletedAt),
          isNull(accounts.disabledAt),
        ),
      ),
    database.build
      .select({ roles: configurationVersions.roles })
      .from(configurationVersions)
      .orderBy(desc(configurationVersions.version))
      .limit(1),
  ])
  if (!row) return undefined
  const accountPermissions = rolePermissions(row, version?.roles)
  const { source: _, ...found } = row
  return { ...found, ...(accountPermissions && { accountPermissions }) }
}

/** The account's tokens in the order in which they were made. */
export const tokensQuery = (database: Database, accountLocator: Uuid) =>
  database.build
    .select()
    .from(authTokens)
    .where(eq(authTokens.accountLocator, accountLocator))
    .orderBy(asc(authTokens.createdAt), asc(authTokens.locator))

/** Queries that put the token there, and remove what has expired in the tenant. */
export const putTokenQueries = (
  database: Database,
  row: typeof authTokens.$inferInsert,
  now: number,
): Query[] => [
  database.build.delete(authTokens).where(lte(authTokens.expiresAt, now)),
  database.build.insert(authTokens).values(row),
]

/** Holds while the account, whose tokens nobody has revoked since it was read, may have one more token of that name. */
export const hasRoomFor = (
  { locator: accountLocator, tokenEpoch }: Pick<StoredAccount, 'locator' | 'tokenEpoch'>,
  name: string,
  most: number,
  now: number,
) =>
  sql`exists (select 1 from ${accounts} where ${accounts.locator} = ${accountLocator}
      and ${accounts.tokenEpoch} = ${tokenEpoch}
      and ${accounts.deletedAt} is null and ${accounts.disabledAt} is null)
    and not exists (select 1 from ${authTokens} where ${authTokens.accountLocator} = ${accountLocator}
      and ${authTokens.name} = ${name} and ${authTokens.expiresAt} > ${now})
    and (select count(*) from ${authTokens} where ${authTokens.accountLocator} = ${accountLocator}
      and ${authTokens.expiresAt} > ${now}) < ${most}`

/** The account's token of that value or name. */
export const isMeant = (accountLocator: Uuid, tokenOrName: string) =>
  and(
    eq(authTokens.accountLocator, accountLocator),
    isAuthToken(tokenOrName)
      ? eq(authTokens.hash, hashOfAuthToken(tokenOrName))
      : eq(authTokens.name, tokenOrName),
  )!
