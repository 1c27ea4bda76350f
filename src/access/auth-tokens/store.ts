import { and, asc, desc, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import type { Database, Query } from '../../platform/database.ts'
import { isAuthToken } from '../../platform/outbound/masking.ts'
import { administrationTokens, administrators } from '../../platform/tenancy/control-tables.ts'
import { configurationVersions } from '../../product/tables.ts'
import { rolePermissions } from '../rights.ts'
import { ADMINISTRATION_ACCOUNT, givenRolesQuery, type Keeping, type StoredAccount } from '../store.ts'
import { accounts, authTokens } from '../tables.ts'
import { hashOfAuthToken } from '../tokens.ts'

/** A token with the current state of its account. */
export type FoundToken = {
  readonly accountLocator: Uuid
  readonly username: string
  readonly accountType: string
  /** Granted by the roles of the account. Absent when the account type decides. */
  readonly accountPermissions?: readonly string[]
  readonly permissions: readonly string[]
  /** Only for tokens of administration accounts. */
  readonly tenants?: readonly string[]
  readonly expiresAt: number
  /** Absent for a token of an administration account, which the tenant's databases do not have. */
  readonly tokenLocator?: Uuid
}

/** Also returns undefined when the account is deleted or disabled. */
export async function findToken(
  database: Database,
  text: string,
  { keepsRoles }: Keeping,
): Promise<FoundToken | undefined> {
  const hash = hashOfAuthToken(text)
  const owner = sql`(select ${authTokens.accountLocator} from ${authTokens} where ${authTokens.hash} = ${hash})`
  const [[row], [version], given = []] = await database.batch([
    database.build
      .select({
        accountLocator: sql<Uuid>`${accounts.locator}`,
        username: accounts.username,
        accountType: sql<string>`${accounts.type}`,
        source: accounts.source,
        permissions: authTokens.permissions,
        expiresAt: authTokens.expiresAt,
        // D1 returns columns by name, and the account has a locator too.
        tokenLocator: sql<Uuid>`${authTokens.locator}`.as('token_locator'),
      })
      .from(authTokens)
      .innerJoin(accounts, eq(accounts.locator, authTokens.accountLocator))
      .where(and(eq(authTokens.hash, hash), isNull(accounts.deletedAt), isNull(accounts.disabledAt))),
    database.build
      .select({ roles: configurationVersions.roles })
      .from(configurationVersions)
      .orderBy(desc(configurationVersions.version))
      .limit(1),
    ...(keepsRoles ? [givenRolesQuery(database, owner)] : []),
  ])
  if (!row) return undefined
  const accountPermissions = rolePermissions({ ...row, given }, version?.roles)
  const { source: _, ...found } = row
  return { ...found, ...(accountPermissions && { accountPermissions }) }
}

type TokenTable = typeof authTokens | typeof administrationTokens

/** Selects tokens, oldest first, including expired ones until they are removed. */
export const tokensQuery = (database: Database, table: TokenTable, accountLocator: Uuid) =>
  database.build
    .select()
    .from(table as typeof authTokens)
    .where(eq(table.accountLocator, accountLocator))
    .orderBy(asc(table.createdAt), asc(table.locator))

/** Deletes the expired tokens of all accounts in the table. */
export const removeExpiredQuery = (database: Database, table: TokenTable, now: number): Query =>
  database.build.delete(table).where(lte(table.expiresAt, now))

/** Selects the account's token by its text, or by its name if `tokenOrName` does not look like a token. */
export const tokenMatches = (table: TokenTable, accountLocator: Uuid, tokenOrName: string): SQL =>
  and(
    eq(table.accountLocator, accountLocator),
    isAuthToken(tokenOrName) ? eq(table.hash, hashOfAuthToken(tokenOrName)) : eq(table.name, tokenOrName),
  )!

/** Guard: no revocation since the account was read, the name is free, and the limit is not reached. */
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

/** Finds a token by its text, even if it has expired. Returns undefined for an unknown one. One round trip. */
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

/** Inserts the token only if `holds` is true. Otherwise the batch goes on without it. */
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
 * Guard: like `hasRoomFor`, and the epoch of the session is still current. The end of a session takes up to 5 s to be known
 * everywhere. Until then, the session must not leave a lasting token behind.
 */
export const hasRoomForAdministration = (accountLocator: Uuid, epoch: number, name: string, most: number) =>
  sql`exists (select 1 from ${administrators}
      where ${administrators.locator} = ${accountLocator} and ${administrators.tokenEpoch} <= ${epoch})
    and not exists (select 1 from ${administrationTokens}
      where ${administrationTokens.accountLocator} = ${accountLocator} and ${administrationTokens.name} = ${name})
    and (select count(*) from ${administrationTokens}
      where ${administrationTokens.accountLocator} = ${accountLocator}) < ${most}`
