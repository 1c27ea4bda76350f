import { and, asc, desc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Database, Query } from '../../platform/database.ts'
import { administrationTokens, administrators } from '../../platform/tenancy/control-tables.ts'
import { configurationVersions } from '../../product/tables.ts'
import { rolePermissions } from '../roles.ts'
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

/** The account's tokens, oldest first. */
export const tokensQuery = (database: Database, accountLocator: Uuid) =>
  database.build
    .select()
    .from(authTokens)
    .where(eq(authTokens.accountLocator, accountLocator))
    .orderBy(asc(authTokens.createdAt), asc(authTokens.locator))

/** Queries that insert the token and remove the tenant's expired ones. */
export const putTokenQueries = (
  database: Database,
  row: typeof authTokens.$inferInsert,
  now: number,
): Query[] => [
  database.build.delete(authTokens).where(lte(authTokens.expiresAt, now)),
  database.build.insert(authTokens).values(row),
]

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

/** The account's token of that value or name. */
export const isMeant = (accountLocator: Uuid, tokenOrName: string) =>
  and(
    eq(authTokens.accountLocator, accountLocator),
    isAuthToken(tokenOrName)
      ? eq(authTokens.hash, hashOfAuthToken(tokenOrName))
      : eq(authTokens.name, tokenOrName),
  )!

// Administration accounts have their tokens in the control database.
/** The token, if it and its account are there. */
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

/** The account's tokens, oldest first. */
export const administrationTokensQuery = (database: Database, accountLocator: Uuid) =>
  database.build
    .select()
    .from(administrationTokens)
    .where(eq(administrationTokens.accountLocator, accountLocator))
    .orderBy(asc(administrationTokens.createdAt), asc(administrationTokens.locator))

export const expiredQuery = (database: Database, now: number) =>
  database.build.delete(administrationTokens).where(lte(administrationTokens.expiresAt, now))

/** Inserts the token if `holds`. */
export const insertQuery = (
  database: Database,
  row: typeof administrationTokens.$inferInsert,
  holds: ReturnType<typeof hasRoom>,
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
export const hasRoom = (accountLocator: Uuid, epoch: number, name: string, most: number) =>
  sql`exists (select 1 from ${administrators}
      where ${administrators.locator} = ${accountLocator} and ${administrators.tokenEpoch} <= ${epoch})
    and not exists (select 1 from ${administrationTokens}
      where ${administrationTokens.accountLocator} = ${accountLocator} and ${administrationTokens.name} = ${name})
    and (select count(*) from ${administrationTokens}
      where ${administrationTokens.accountLocator} = ${accountLocator}) < ${most}`

/** The account's token of that value or name. */
export const isMeantOfAdministration = (accountLocator: Uuid, tokenOrName: string) =>
  and(
    eq(administrationTokens.accountLocator, accountLocator),
    isAuthToken(tokenOrName)
      ? eq(administrationTokens.hash, hashOfAuthToken(tokenOrName))
      : eq(administrationTokens.name, tokenOrName),
  )!
