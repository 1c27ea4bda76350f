// What there is to read of a migration: how far it is, its accounts, what became of their items, and what failed.

import { asc, eq, sql } from 'drizzle-orm'
import { notFound } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/locators.ts'
import { now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type OffsetPage, offsetPage } from '../../platform/paging.ts'
import type { RecordPlace } from '../../platform/tenancy.ts'
import type {
  AccountMigrationIdMappingsResponse,
  AccountMigrationResponse,
  MappingPageQuery,
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
import * as store from './store.ts'
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
  const [mappings] = await place.database.batch([store.mappingsOfQuery(place.database, rows.accountLocator)])
  return mappingsResponse(rows, mappings as store.MappingRow[], by)
}

async function accountAt(
  context: RequestContext,
  migration: string,
  text: string,
): Promise<{ rows: store.MigrationAccount; place: RecordPlace }> {
  const place = migrationPlace(context, migration)
  const account = readUuid(text)
  if (!account) throw notFound('account of the migration', text)
  const [rows] = await place.database.batch([store.accountQuery(place.database, place.locator, account)])
  if (!rows[0]) throw notFound('account of the migration', text)
  return { rows: rows[0] as store.MigrationAccount, place }
}

export async function listAccounts(
  context: RequestContext,
  text: string,
  query: MigrationPageQuery,
): Promise<OffsetPage<AccountMigrationResponse>> {
  const { database, locator } = migrationPlace(context, text)
  const [migrations, accounts] = await database.batch([
    store.migrationQuery(database, locator),
    // One more tells whether it was the last page.
    database.build
      .select()
      .from(migrationAccounts)
      .where(eq(migrationAccounts.migrationLocator, locator))
      .orderBy(asc(migrationAccounts.ordinal))
      .limit(query.count + 1)
      .offset(query.offset),
  ])
  if (!migrations[0]) throw notFound('migration', text)
  return offsetPage(accounts as store.MigrationAccount[], query, accountResponse)
}

export const listFailures = (context: RequestContext, text: string, query: MigrationPageQuery) =>
  listWith(context, text, query, migrationFailures, (account, rows: store.FailureRow[]) =>
    failuresResponse(account, rows),
  )

export const listMappings = (context: RequestContext, text: string, query: MappingPageQuery) =>
  listWith(context, text, query, migrationMappings, (account, rows: store.MappingRow[]) =>
    mappingsResponse(account, rows, query.by),
  )

/** A page of the accounts that have rows in the table, each with its rows: one round trip. */
async function listWith<Row extends { accountLocator: string }, Response>(
  context: RequestContext,
  text: string,
  query: MigrationPageQuery,
  table: typeof migrationFailures | typeof migrationMappings,
  response: (account: store.MigrationAccount, rows: Row[]) => Response,
): Promise<OffsetPage<Response>> {
  const { database, locator } = migrationPlace(context, text)
  const { build } = database
  const among = sql`(
    select account_locator from ${migrationAccounts} as m where m.migration_locator = ${locator} and exists (
      select 1 from ${table} r where r.migration_locator = m.migration_locator and r.account_locator = m.account_locator)
    order by m.ordinal limit ${query.count + 1} offset ${query.offset})`
  const [migrations, accounts, rows] = await database.batch([
    store.migrationQuery(database, locator),
    build
      .select()
      .from(migrationAccounts)
      .where(
        sql`${migrationAccounts.migrationLocator} = ${locator} and ${migrationAccounts.accountLocator} in ${among}`,
      )
      .orderBy(asc(migrationAccounts.ordinal)),
    build
      .select()
      .from(table)
      .where(sql`${table.migrationLocator} = ${locator} and ${table.accountLocator} in ${among}`)
      .orderBy(sql`rowid`),
  ])
  if (!migrations[0]) throw notFound('migration', text)
  const byAccount = Map.groupBy(rows as unknown as Row[], one => one.accountLocator)
  return offsetPage(accounts as store.MigrationAccount[], query, account =>
    response(account, byAccount.get(account.accountLocator) ?? []),
  )
}
