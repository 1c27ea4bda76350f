// What there is to read of a migration: how far it is, its accounts, what became of their items, and what failed.

import { asc, eq, type SQL, sql } from 'drizzle-orm'
import { notFound } from '../../kernel/errors.ts'
import { readUuid, type Uuid } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { type OffsetPage, offsetPage } from '../../platform/paging.ts'
import type { RecordPlace } from '../../platform/tenancy.ts'
import type {
  AccountMigrationIdMappingsResponse,
  AccountMigrationResponse,
  MappingPageQuery,
  MigrationFailuresResponse,
  MigrationPageQuery,
  MigrationResponse,
} from './contract.ts'
import {
  accountResponse,
  failuresResponse,
  type MappingKey,
  mappingsResponse,
  migrationResponse,
} from './projection.ts'
import { migrationPlace, readMigration } from './service.ts'
import {
  accountQuery,
  accountsAmong,
  type FailureRow,
  HAS_FAILURES,
  HAS_MAPPINGS,
  type MappingRow,
  type MigrationAccount,
  mappingsOfQuery,
  migrationQuery,
} from './store.ts'
import { migrationAccounts, migrationFailures, migrationMappings } from './tables.ts'

export async function getMigration(context: RequestContext, text: string): Promise<MigrationResponse> {
  const { migration, counts } = await readMigration(migrationPlace(context, text))
  return migrationResponse(migration, counts, now())
}

export async function getAccount(
  context: RequestContext,
  migration: string,
  account: string,
): Promise<AccountMigrationResponse> {
  const { rows } = await accountAt(context, migration, account)
  return accountResponse(rows)
}

/** What the account's items became, those of other migrations too. */
export async function getMappings(
  context: RequestContext,
  migration: string,
  account: string,
  by: MappingKey,
): Promise<AccountMigrationIdMappingsResponse> {
  const { rows, place } = await accountAt(context, migration, account)
  const [mappings] = await place.database.batch([mappingsOfQuery(place.database, rows.accountLocator)])
  return mappingsResponse(rows, mappings as MappingRow[], by)
}

async function accountAt(
  context: RequestContext,
  migration: string,
  text: string,
): Promise<{ rows: MigrationAccount; place: RecordPlace }> {
  const place = migrationPlace(context, migration)
  const account = readUuid(text)
  if (!account) throw notFound('account of the migration', text)
  const [rows] = await place.database.batch([accountQuery(place.database, place.locator, account)])
  if (!rows[0]) throw notFound('account of the migration', text)
  return { rows: rows[0] as MigrationAccount, place }
}

export async function listAccounts(
  context: RequestContext,
  text: string,
  query: MigrationPageQuery,
): Promise<OffsetPage<AccountMigrationResponse>> {
  const { database, locator } = migrationPlace(context, text)
  const [migrations, accounts] = await database.batch([
    migrationQuery(database, locator),
    accountsPageQuery(database, locator, query),
  ])
  if (!migrations[0]) throw notFound('migration', text)
  return offsetPage(accounts as MigrationAccount[], query, accountResponse)
}

export async function listFailures(
  context: RequestContext,
  text: string,
  query: MigrationPageQuery,
): Promise<OffsetPage<MigrationFailuresResponse>> {
  const { database, locator } = migrationPlace(context, text)
  const [migrations, accounts, failures] = await database.batch([
    migrationQuery(database, locator),
    ...failuresPageQueries(database, locator, query),
  ])
  if (!migrations[0]) throw notFound('migration', text)
  const byAccount = Map.groupBy(failures as FailureRow[], one => one.accountLocator)
  return offsetPage(accounts as MigrationAccount[], query, account =>
    failuresResponse(account, byAccount.get(account.accountLocator) ?? []),
  )
}

export async function listMappings(
  context: RequestContext,
  text: string,
  query: MappingPageQuery,
): Promise<OffsetPage<AccountMigrationIdMappingsResponse>> {
  const { database, locator } = migrationPlace(context, text)
  const [migrations, accounts, mappings] = await database.batch([
    migrationQuery(database, locator),
    ...mappingsPageQueries(database, locator, query),
  ])
  if (!migrations[0]) throw notFound('migration', text)
  const byAccount = Map.groupBy(mappings as MappingRow[], one => one.accountLocator)
  return offsetPage(accounts as MigrationAccount[], query, account =>
    mappingsResponse(account, byAccount.get(account.accountLocator) ?? [], query.by),
  )
}

export type Page = { readonly offset: number; readonly count: number }

/** A page of the accounts in their order, with one more that tells whether it was the last. */
export const accountsPageQuery = ({ build }: Database, locator: Uuid, { offset, count }: Page) =>
  build
    .select()
    .from(migrationAccounts)
    .where(eq(migrationAccounts.migrationLocator, locator))
    .orderBy(asc(migrationAccounts.ordinal))
    .limit(count + 1)
    .offset(offset)

/** The accounts of a page of those with failures, and their failures. */
export const failuresPageQueries = ({ build }: Database, locator: Uuid, page: Page) => {
  const among = pageOf(locator, HAS_FAILURES, page)
  return [
    accountsAmong(build, locator, among),
    build
      .select()
      .from(migrationFailures)
      .where(
        sql`${migrationFailures.migrationLocator} = ${locator} and ${migrationFailures.accountLocator} in ${among}`,
      )
      .orderBy(sql`rowid`),
  ] as const
}

/** The accounts of a page of those with mappings, and what their items became. */
export const mappingsPageQueries = ({ build }: Database, locator: Uuid, page: Page) => {
  const among = pageOf(locator, HAS_MAPPINGS, page)
  return [
    accountsAmong(build, locator, among),
    build
      .select()
      .from(migrationMappings)
      .where(
        sql`${migrationMappings.migrationLocator} = ${locator} and ${migrationMappings.accountLocator} in ${among}`,
      )
      .orderBy(sql`rowid`),
  ] as const
}

export const pageOf = (locator: Uuid, condition: SQL, { offset, count }: Page): SQL => sql`(
  select account_locator from ${migrationAccounts} as m where m.migration_locator = ${locator}
  and ${condition} order by m.ordinal limit ${count + 1} offset ${offset})`
