// A page of a table's rows from all shards of a tenant, oldest first: logs and trails, whose rows lie where they arose.
import { and, asc, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { RequestContext } from './context.ts'
import type { Database } from './database.ts'
import { mergedPage, readPagingToken, UUID_FORM, writePagingToken } from './paging.ts'
import { shardDatabase } from './tenancy.ts'

type OrderedTable = SQLiteTable & { createdAt: SQLiteColumn; locator: SQLiteColumn }

type Place = { locator: Uuid; createdAt: Instant }

export type PagedRow<T extends OrderedTable> = Omit<T['$inferSelect'], keyof Place> & Place

export type PageQuery = { readonly pageSize: number; readonly pagingToken?: string | undefined }

/** The rows that fit, in the order of (createdAt, locator); with a token where more follow. One round trip for each shard. */
export const pageOfShards = <T extends OrderedTable>(
  { env, tenant, calls }: Pick<RequestContext, 'env' | 'tenant' | 'calls'>,
  table: T,
  conditions: readonly SQL[],
  page: PageQuery,
): Promise<{ rows: PagedRow<T>[]; pagingToken?: string }> =>
  pageOfDatabases(
    tenant.shards.map((_, shard) => shardDatabase(env, tenant, shard, calls)),
    table,
    conditions,
    page,
  )

/** As `pageOfShards`, of any databases that have the table. */
export async function pageOfDatabases<T extends OrderedTable>(
  databases: readonly Database[],
  table: T,
  conditions: readonly SQL[],
  { pageSize, pagingToken }: PageQuery,
): Promise<{ rows: PagedRow<T>[]; pagingToken?: string }> {
  const positions = readPagingToken(pagingToken, UUID_FORM)
  const shards = await Promise.all(
    databases.map(async (database, shard) => {
      const after = positions[shard]
      const [rows] = await database.batch([
        database.build
          .select()
          .from(table as SQLiteTable)
          .where(
            and(
              ...conditions,
              after && sql`(${table.createdAt}, ${table.locator}) > (${after.createdAt}, ${after.locator})`,
            ),
          )
          .orderBy(asc(table.createdAt), asc(table.locator))
          .limit(pageSize + 1),
      ])
      return { rows: rows as Place[], found: rows.length }
    }),
  )
  const { rows, next } = mergedPage(shards, positions, pageSize)
  return { rows: rows as PagedRow<T>[], ...(next && { pagingToken: writePagingToken(next, UUID_FORM) }) }
}
