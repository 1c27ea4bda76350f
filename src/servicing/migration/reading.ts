// Reads of migrations: progress, accounts, mappings and failures.
import { asc, eq, type SQL, sql } from 'drizzle-orm'
import { notFound } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { type OffsetPage, offsetPage, pageOfShards } from '../../platform/paging.ts'
import { type RecordPlace, recordPlace } from '../../platform/tenancy.ts'
import type * as contract from './contract.ts'
import type { ListedKind, MappingNode, StoredProblem } from './item.ts'
import * as store from './store.ts'
import { migrationAccounts, migrationFailures, migrationMappings, migrations } from './tables.ts'

/** Throws 404 for text that cannot be a migration's locator. */
export const migrationPlace = (context: RequestContext, text: string): RecordPlace =>
  recordPlace(context, text, 'migration')

/** One round trip. Throws 404 if there is no such migration. */
export async function readMigration({
  database,
  locator,
}: RecordPlace): Promise<{ migration: store.Migration; counts: store.AccountCounts }> {
  const [rows, counts] = await database.batch([
    store.migrationQuery(database, locator),
    store.countsQuery(database, locator),
  ])
  if (!rows[0]) throw notFound('migration', locator)
  return { migration: rows[0] as store.Migration, counts: store.readCounts(counts) }
}

/** Returns the progress of a migration. Throws 404 if there is none. Takes one round trip. */
export async function getMigration(
  context: RequestContext,
  text: string,
): Promise<contract.MigrationResponse> {
  const { migration, counts } = await readMigration(migrationPlace(context, text))
  return migrationResponse(migration, counts, now())
}

function conditionsOf(open: boolean | undefined): SQL[] {
  if (open === undefined) return []
  // Written out, since SQLite does not look into parameters for a partial index.
  return [open ? sql`${migrations.state} <> 'finished'` : sql`${migrations.state} = 'finished'`]
}

/** Lists migrations in the order of submission; with `open`, those that are not finished. One round trip for each shard. */
export async function listMigrations(
  context: RequestContext,
  { open, ...page }: contract.MigrationListQuery,
): Promise<contract.MigrationListResponse> {
  const { rows, pagingToken } = await pageOfShards(context, migrations, conditionsOf(open), page)
  return {
    listCompleted: pagingToken === undefined,
    items: rows.map(
      ({ locator, state, type, totalAccounts, validateOnly, username, createdAt, updatedAt }) => ({
        locator,
        migrationState: state,
        migrationType: type,
        totalAccounts,
        validateOnly,
        username,
        createdAt: dateTime(createdAt),
        updatedAt: dateTime(updatedAt as Instant),
      }),
    ),
    ...(pagingToken !== undefined && { pagingToken }),
  }
}

/** Returns the progress of one account. Throws 404 if the migration has no such account. Takes one round trip. */
export async function getAccount(
  context: RequestContext,
  migration: string,
  account: string,
): Promise<contract.AccountMigrationResponse> {
  return accountResponse((await accountAt(context, migration, account)).row)
}

/** Returns mappings of the account from all migrations. */
export async function getMappings(
  context: RequestContext,
  migration: string,
  account: string,
  by: MappingKey,
): Promise<contract.AccountMigrationIdMappingsResponse> {
  const { row, database } = await accountAt(context, migration, account)
  const [mappings] = await database.batch([store.mappingsOfQuery(database, row.accountLocator)])
  return mappingsResponse(row, mappings as store.MappingRow[], by)
}

async function accountAt(
  context: RequestContext,
  migration: string,
  text: string,
): Promise<{ row: store.MigrationAccount; database: Database }> {
  const place = migrationPlace(context, migration)
  const account = readUuid(text)
  const [rows] = account ? await place.database.batch([store.accountQuery(place, account)]) : []
  if (!rows?.[0]) throw notFound('account of the migration', text)
  return { row: rows[0] as store.MigrationAccount, database: place.database }
}

/** Lists the accounts in the order in which they were sent. Throws 404 if there is no such migration. Takes one round trip. */
export async function listAccounts(
  context: RequestContext,
  text: string,
  query: contract.MigrationPageQuery,
): Promise<OffsetPage<contract.AccountMigrationResponse>> {
  const { database, locator } = migrationPlace(context, text)
  const [migrations, accounts] = await database.batch([
    store.migrationQuery(database, locator),
    // One more than requested shows whether this is the last page.
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

/** Lists only the accounts with failures. Throws 404 if there is no such migration. */
export const listFailures = (context: RequestContext, text: string, query: contract.MigrationPageQuery) =>
  listWith(context, text, query, migrationFailures, (account, rows: store.FailureRow[]) =>
    failuresResponse(account, rows),
  )

/** Lists only the accounts with items that this migration has migrated. Throws 404 if there is no such migration. */
export const listMappings = (context: RequestContext, text: string, query: contract.MappingPageQuery) =>
  listWith(context, text, query, migrationMappings, (account, rows: store.MappingRow[]) =>
    mappingsResponse(account, rows, query.by),
  )

/** Returns a page of the accounts that have rows in the table, with these rows: one round trip. */
async function listWith<Row extends { accountLocator: string }, Response>(
  context: RequestContext,
  text: string,
  query: contract.MigrationPageQuery,
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
      .orderBy(table.accountLocator, table.kind, 'locator' in table ? table.locator : sql`rowid`),
  ])
  if (!migrations[0]) throw notFound('migration', text)
  const byAccount = Map.groupBy(rows as unknown as Row[], one => one.accountLocator)
  return offsetPage(accounts as store.MigrationAccount[], query, account =>
    response(account, byAccount.get(account.accountLocator) ?? []),
  )
}

const dateTime = (at: number): string => new Date(at).toISOString()

/** The rate is measured in real time (`realNow`), regardless of the tenant's clock. */
export function migrationResponse(
  migration: store.Migration,
  counts: store.AccountCounts,
  realNow: Instant,
): contract.MigrationResponse {
  const { locator, state, type, totalAccounts, validateOnly, createdAt, updatedAt } = migration
  return {
    locator,
    migrationState: state,
    migrationType: type,
    processedAccounts: counts.completed,
    totalAccounts,
    validateOnly,
    accounts: { ...counts },
    ...progressOf(migration, counts, realNow),
    createdAt: dateTime(createdAt),
    updatedAt: dateTime(updatedAt),
  }
}

/** Counts the accounts that have a result. `processedAccounts` of the response counts only those that completed. */
export const processedCountOf = ({ completed, failed, error }: store.AccountCounts): number =>
  completed + failed + error

function progressOf(
  { state, runningSince, doneBefore }: store.Migration,
  counts: store.AccountCounts,
  realNow: Instant,
): { accountsPerSecond?: number; secondsLeft?: number } {
  if (state !== 'processing' || runningSince === null) return {}
  const seconds = Math.max(realNow - runningSince, 1) / 1000
  const perSecond = Math.max(processedCountOf(counts) - doneBefore, 0) / seconds
  if (perSecond === 0) return { accountsPerSecond: 0 }
  const left = counts.pending + counts.processing
  return { accountsPerSecond: Math.round(perSecond * 100) / 100, secondsLeft: Math.ceil(left / perSecond) }
}

/** Builds the response for an account. `processedItems` includes items that earlier attempts migrated. */
export const accountResponse = (account: store.MigrationAccount): contract.AccountMigrationResponse => ({
  accountLocator: account.accountLocator,
  accountOriginalId: account.originalId,
  accountMigrationState: account.state,
  totalItems: account.totalItems,
  processedItems: account.processedItems,
  errorItems: account.errorItems,
  lastUpdated: dateTime(account.updatedAt),
  ...(account.warnings.length > 0 && { warnings: account.warnings.map(shownProblem) }),
})

const shownProblem = ({ elementType, locator, errors }: StoredProblem) => ({
  elementType,
  locator,
  errors: [...errors],
})

type Failure = Pick<store.FailureRow, 'kind' | 'originalId' | 'problems'>

const byKind = <T>(of: (kind: ListedKind) => T): Record<ListedKind, T> => ({
  policies: of('policies'),
  invoices: of('invoices'),
  payments: of('payments'),
  disbursements: of('disbursements'),
})

/** Groups the failures by kind and original id. `accountError` is a failure of the account as a whole. */
export function failuresResponse(
  { accountLocator, originalId }: Pick<store.MigrationAccount, 'accountLocator' | 'originalId'>,
  failures: readonly Failure[],
): contract.MigrationFailuresResponse {
  const ofAccount = failures.find(({ kind }) => kind === 'account')
  return {
    accountLocator,
    accountOriginalId: originalId,
    ...(ofAccount && { accountError: detailsOf(ofAccount) }),
    ...byKind(kind => {
      const ofKind = failures.filter(failure => failure.kind === kind)
      return Object.fromEntries(ofKind.map(one => [one.originalId, detailsOf(one)]))
    }),
  }
}

const detailsOf = ({ originalId, problems }: Failure): contract.ErrorDetailsResponse => ({
  originalId,
  errors: { success: false, validationItems: problems.map(shownProblem) },
})

type MappingKey = 'locator' | 'originalId'

/** Groups the mappings by kind, and within each by locator or by original id, as `by` says. */
export function mappingsResponse(
  { accountLocator, migrationLocator, originalId }: store.MigrationAccount,
  rows: readonly store.MappingRow[],
  by: MappingKey,
): contract.AccountMigrationIdMappingsResponse {
  return {
    accountLocator,
    migrationLocator,
    originalAccountId: originalId,
    ...byKind(kind => {
      const ofKind = rows.filter(row => row.kind === kind)
      return Object.fromEntries(
        ofKind.map(row => [row[by], mappingObject(row, dateTime(row.migratedAt), by)]),
      )
    }),
  }
}

const mappingObject = (
  { originalId, locator, children = [] }: MappingNode,
  migratedAt: string,
  by: MappingKey,
): contract.MappingObject => ({
  originalId,
  locator,
  migratedAt,
  childrenMappings: mappingsByKey(children, migratedAt, by),
})

/** Children with the same id (an item and an element may share one) get their index: `1`, `1[1]`. */
function mappingsByKey(
  children: readonly MappingNode[],
  migratedAt: string,
  by: MappingKey,
): Record<string, contract.MappingObject> {
  const seen = new Map<string, number>()
  return Object.fromEntries(
    children.map(child => {
      const key = child[by]
      const count = seen.get(key) ?? 0
      seen.set(key, count + 1)
      return [count === 0 ? key : `${key}[${count}]`, mappingObject(child, migratedAt, by)]
    }),
  )
}
