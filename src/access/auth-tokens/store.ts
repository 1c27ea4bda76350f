import { and, asc, desc, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Database, Query } from '../../platform/database.ts'
import { administrationTokens, administrators } from '../../platform/tenancy/control-tables.ts'
import { configurationVersions } from '../../product/tables.ts'
import { rolePermissions } from '../rights.ts'
import { ADMINISTRATION_ACCOUNT, type StoredAccount } from '../store.ts'
import { accounts, authTokens } from '../tables.ts'
import { hashOfAuthToken, isAuthToken } from '../tokens.ts'

/** A token with its account as it is now. */
export type FoundToken = {
  readonly accountLocator: Uuid
  readonly username: string
  readonly accountType: string
  /** What the roles of the tenant's newest configuration grant the account; absent when its type decides. */
  readonly accountPermissions?: readonly string[]
  /** The token's own. */
  readonly permissions: readonly string[]
  /** The tenants of an administration account's token. */
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

/** Tokens of accounts of a tenant, or of administration accounts, which have theirs in the control database. */
type TokenTable = typeof authTokens | typeof administrationTokens

/** The account's tokens, oldest first, with expired ones until they are removed. */
export const tokensQuery = (database: Database, table: TokenTable, accountLocator: Uuid) =>
  database.build
    .select()
    .from(table as typeof authTokens)
    .where(eq(table.accountLocator, accountLocator))
    .orderBy(asc(table.createdAt), asc(table.locator))

/** Removes expired tokens of all accounts. */
export const removeExpiredQuery = (database: Database, table: TokenTable, now: number): Query =>
  database.build.delete(table).where(lte(table.expiresAt, now))

/** The account's token of that value or name. */
export const isMeant = (table: TokenTable, accountLocator: Uuid, tokenOrName: string): SQL =>
  and(
    eq(table.accountLocator, accountLocator),
    isAuthToken(tokenOrName) ? eq(table.hash, hashOfAuthToken(tokenOrName)) : eq(table.name, tokenOrName),
  )!

/**
 * True in the batch while the account's tokens have not been revoked since it was read, and it has room for one more of that
 * name.
 */
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

/** The token of an administration account, if it and its account are there. */
export async function findAdministrationToken(
  database: Database,
  text: string,
): Promise<FoundToken | undefined> {
  const [[row]] = await database.batch([
    database.build
      .select({
        accountLocator: sql<Uuid>`${administrators.locator}`,
        username: administrators.username,
        permissions: administrationTokens.permissions,
        tenants: administrationTokens.tenants,
        expiresAt: administrationTokens.expiresAt,
      })
      .from(administrationTokens)
      .innerJoin(administrators, eq(administrators.locator, administrationTokens.accountLocator))
      .where(eq(administrationTokens.hash, hashOfAuthToken(text))),
  ])
  return row && { ...row, accountType: ADMINISTRATION_ACCOUNT }
}

/** Inserts the token if `holds`. */
export const insertAdministrationTokenQuery = (
  database: Database,
  row: typeof administrationTokens.$inferInsert,
  holds: SQL,
) =>
  database.build.run(sql`
    insert into ${administrationTokens}
      (locator, account_locator, name, hash, permissions, tenants, created_at, expires_at)
    select ${row.locator}, ${row.accountLocator}, ${row.name}, ${row.hash}, ${JSON.stringify(row.permissions)},
      ${JSON.stringify(row.tenants)}, ${row.createdAt}, ${row.expiresAt}
    where ${holds}`)

/**
 * True in the batch while the account has room for one more token of that name and sessions of the epoch count. The end of a
 * session is known everywhere within 5 s; it must leave no lasting token behind.
 */
export const hasRoomForAdministration = (accountLocator: Uuid, epoch: number, name: string, most: number) =>
  sql`exists (select 1 from ${administrators}
      where ${administrators.locator} = ${accountLocator} and ${administrators.tokenEpoch} <= ${epoch})
    and not exists (select 1 from ${administrationTokens}
      where ${administrationTokens.accountLocator} = ${accountLocator} and ${administrationTokens.name} = ${name})
    and (select count(*) from ${administrationTokens}
      where ${administrationTokens.accountLocator} = ${accountLocator}) < ${most}`
