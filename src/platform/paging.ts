// Pages of a list that spans several shards. Each shard is read in the order of (createdAt, locator), and the token contains the
// position in each.

import { and, asc, desc, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { invalidParameter } from '../kernel/errors.ts'
import { type PolicyLocator, readDigits, readUuid, SHARDS, type Uuid } from '../kernel/locators.ts'
import { type Instant, instant } from '../kernel/time.ts'
import type { RequestContext } from './context.ts'
import type { Database } from './database.ts'
import { shardDatabase } from './tenancy.ts'
import type { Order } from './wire.ts'

/** The last row of a shard that is on the page. */
export type Position<L> = { readonly createdAt: Instant; readonly locator: L }

/** By shard. Undefined is the start. */
export type Positions<L> = readonly (Position<L> | undefined)[]

/** The encoding of a list's locators in tokens: 32 hexadecimal digits for 16 bytes. */
export type LocatorForm<L> = {
  write(locator: L): string
  /** Returns undefined for digits that cannot be a locator of this kind. */
  read(hex: string): L | undefined
}

export const UUID_FORM: LocatorForm<Uuid> = {
  write: locator => locator.replaceAll('-', ''),
  read: hex => readUuid(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')),
}

export const POLICY_FORM: LocatorForm<PolicyLocator> = {
  write: locator => locator.toString(16).padStart(32, '0'),
  read: hex => readDigits(String(Number.parseInt(hex, 16))) as PolicyLocator | undefined,
}

const LOCATOR_AT = 8

/** Size of one position in a token: time and locator. Zeros mean the start of a shard. */
const POSITION_BYTES = LOCATOR_AT + 16

/** Returns opaque text of at most 2,048 characters. */
export function writePagingToken<L>(positions: Positions<L>, form: LocatorForm<L>): string {
  const bytes = Buffer.alloc(positions.length * POSITION_BYTES)
  for (const [index, position] of positions.entries()) {
    if (!position) continue
    const at = bytes.writeBigInt64BE(BigInt(position.createdAt), index * POSITION_BYTES)
    bytes.write(form.write(position.locator), at, 'hex')
  }
  return bytes.toString('base64url')
}

/** Throws 400 for a token that is not from this list. */
export function readPagingToken<L>(token: string | undefined, form: LocatorForm<L>): Positions<L> {
  if (token === undefined) return []
  const bytes = Buffer.from(token, 'base64url')
  const positions = Array.from({ length: bytes.length / POSITION_BYTES }, (_, index) =>
    readPosition(bytes.subarray(index * POSITION_BYTES, (index + 1) * POSITION_BYTES), form),
  )
  const whole = bytes.toString('base64url') === token && bytes.length % POSITION_BYTES === 0
  if (!whole || positions.length > SHARDS || positions.includes('unreadable'))
    throw invalidParameter(
      "'pagingToken' is not from this list. Send the token of the previous page, or none for the first page.",
    )
  return positions as Positions<L>
}

function readPosition<L>(bytes: Buffer, form: LocatorForm<L>): Position<L> | undefined | 'unreadable' {
  if (bytes.every(byte => byte === 0)) return undefined
  const createdAt = instant(Number(bytes.readBigInt64BE()))
  const locator = form.read(bytes.toString('hex', LOCATOR_AT))
  return createdAt !== undefined && locator !== undefined ? { createdAt, locator } : 'unreadable'
}

/** The first rows after a position, and the number found. `rows` may leave out some of the rows found. */
export type ShardRows<T> = { readonly rows: readonly T[]; readonly found: number }

/** Merges the first `pageSize` rows. Returns `next` if there are more. Ends early where the order depends on a left-out row. */
export function mergedPage<T extends Position<string> | Position<PolicyLocator>>(
  shards: readonly ShardRows<T>[],
  positions: Positions<T['locator']>,
  pageSize: number,
  order: Order = 'oldestFirst',
): { rows: T[]; next?: Positions<T['locator']> } {
  const rows: T[] = []
  const takenCounts = shards.map(() => 0)
  while (rows.length < pageSize) {
    const unread = shards.some(
      (shard, at) => takenCounts[at] === shard.rows.length && shard.found > takenCounts[at]!,
    )
    const heads = shards.map((shard, at) => shard.rows[takenCounts[at]!])
    const first = heads.reduce((a, b) => (!a || (b && precedes(b, a, order)) ? b : a), undefined)
    if (unread || !first) break
    rows.push(first)
    takenCounts[heads.indexOf(first)]! += 1
  }
  if (shards.every(({ found }, at) => found === takenCounts[at])) return { rows }
  const last = shards.map((shard, at) => shard.rows[takenCounts[at]! - 1] ?? positions[at])
  return { rows, next: last.map(row => row && { createdAt: row.createdAt, locator: row.locator }) }
}

function precedes<T extends Position<string | number>>(a: T, b: T, order: Order): boolean {
  const [lower, higher] = order === 'newestFirst' ? [b, a] : [a, b]
  return (
    lower.createdAt < higher.createdAt ||
    (lower.createdAt === higher.createdAt && lower.locator < higher.locator)
  )
}

/** A page by offset and count (contract 2). With `extended` it shows whether more items follow. */
export type OffsetPage<T> = { listCompleted: boolean; items: T[] } | T[]

/** Builds a page. `rows` must have been queried with one more row than the page contains. */
export function offsetPage<Row, T>(
  rows: readonly Row[],
  { count, extended }: { readonly count: number; readonly extended: boolean },
  show: (row: Row) => T,
): OffsetPage<T> {
  const items = rows.slice(0, count).map(show)
  return extended ? { listCompleted: rows.length <= count, items } : items
}

// Rows of a table from all shards of a tenant in order of time, e.g. logs and audit trails.
type OrderedTable = SQLiteTable & { createdAt: SQLiteColumn; locator: SQLiteColumn }

type Place = { locator: Uuid; createdAt: Instant }

export type PagedRow<T extends OrderedTable> = Omit<T['$inferSelect'], keyof Place> & Place

export type PageQuery = {
  readonly pageSize: number
  readonly pagingToken?: string | undefined
  /** Default: oldest first. */
  readonly order?: Order | undefined
}

/** Returns a page ordered by (createdAt, locator) or the reverse, with a token if more follows. One round trip per shard. */
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

/** Like `pageOfShards`, for any databases that have the table. */
export async function pageOfDatabases<T extends OrderedTable>(
  databases: readonly Database[],
  table: T,
  conditions: readonly SQL[],
  { pageSize, pagingToken, order = 'oldestFirst' }: PageQuery,
): Promise<{ rows: PagedRow<T>[]; pagingToken?: string }> {
  const [beyond, inOrder] = order === 'newestFirst' ? [sql`<`, desc] : [sql`>`, asc]
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
              after &&
                sql`(${table.createdAt}, ${table.locator}) ${beyond} (${after.createdAt}, ${after.locator})`,
            ),
          )
          .orderBy(inOrder(table.createdAt), inOrder(table.locator))
          .limit(pageSize + 1),
      ])
      return { rows: rows as Place[], found: rows.length }
    }),
  )
  const { rows, next } = mergedPage(shards, positions, pageSize, order)
  return { rows: rows as PagedRow<T>[], ...(next && { pagingToken: writePagingToken(next, UUID_FORM) }) }
}
