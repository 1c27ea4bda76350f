// Rows of long-lived tokens of administration accounts, in the control database.
import { and, asc, eq, lte, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import { administrationTokens, administrators } from '../../platform/control-tables.ts'
import type { Database } from '../../platform/database.ts'
import { ADMINISTRATION_ACCOUNT } from '../store.ts'
import type { FoundToken } from './store.ts'
import { hashOfAuthToken, isAuthToken } from './text.ts'

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

/** The account's tokens in the order in which they were made. */
export const administrationTokensQuery = (database: Database, accountLocator: Uuid) =>
  database.build
    .select()
    .from(administrationTokens)
    .where(eq(administrationTokens.accountLocator, accountLocator))
    .orderBy(asc(administrationTokens.createdAt), asc(administrationTokens.locator))

export const expiredQuery = (database: Database, now: number) =>
  database.build.delete(administrationTokens).where(lte(administrationTokens.expiresAt, now))

/** Puts the token there if `holds`. */
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
 * Holds while the account may have one more token of that name, and sessions of the epoch still count: one that has ended is
 * heard of everywhere within 5 s, and is to leave no token behind that goes on.
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
