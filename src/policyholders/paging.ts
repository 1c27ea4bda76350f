// Pages of a list that lies in several shards: each shard is read on its own, in the order of (createdAt,
// locator), and the token tells where each goes on.
import { Refusal } from '../platform/errors.ts'
import { readUuid, SHARDS, type Uuid } from '../platform/locators.ts'
import { type Instant, instant } from '../platform/time.ts'

/** The last row that a page had of a shard. */
export type Position = { readonly createdAt: Instant; readonly locator: Uuid }

/** For each shard where it goes on; undefined: from its beginning. */
export type Positions = readonly (Position | undefined)[]

/** Bytes of one position in a token: the time, and the locator. A shard to begin with has zeros. */
const POSITION_BYTES = 8 + 16

/** The positions as opaque text; 2,048 characters for the most shards that there can be. */
export function writePagingToken(positions: Positions): string {
  const bytes = Buffer.alloc(positions.length * POSITION_BYTES)
  for (const [index, position] of positions.entries()) {
    if (!position) continue
    const at = bytes.writeBigInt64BE(BigInt(position.createdAt), index * POSITION_BYTES)
    bytes.write(position.locator.replaceAll('-', ''), at, 'hex')
  }
  return bytes.toString('base64url')
}

/** The positions that a token holds; 400 when it is none of ours. */
export function readPagingToken(token: string | undefined): Positions {
  if (token === undefined) return []
  const bytes = Buffer.from(token, 'base64url')
  const positions = Array.from({ length: bytes.length / POSITION_BYTES }, (_, index) =>
    readPosition(bytes.subarray(index * POSITION_BYTES, (index + 1) * POSITION_BYTES)),
  )
  const whole = bytes.toString('base64url') === token && bytes.length % POSITION_BYTES === 0
  if (!whole || positions.length > SHARDS || positions.includes('unreadable'))
    throw new Refusal(
      'invalidParameter',
      "'pagingToken' is not one that this list gave; send the one of the page before, or none to begin.",
    )
  return positions as Positions
}

function readPosition(bytes: Buffer): Position | undefined | 'unreadable' {
  if (bytes.every(byte => byte === 0)) return undefined
  const createdAt = instant(Number(bytes.readBigInt64BE()))
  const locator = readUuid(bytes.toString('hex', 8).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'))
  return createdAt !== undefined && locator ? { createdAt, locator } : 'unreadable'
}

/** What a shard has after its position: the first rows, and how many were found, of which some may be left out. */
export type ShardRows<T> = { readonly rows: readonly T[]; readonly found: number }

/**
 * The first `pageSize` rows of all shards in order; `next` when there are more. The page is shorter where the
 * order depends on a row that a shard left out.
 */
export function mergedPage<T extends Position>(
  shards: readonly ShardRows<T>[],
  positions: Positions,
  pageSize: number,
): { rows: T[]; next?: Positions } {
  const rows: T[] = []
  const taken = shards.map(() => 0)
  while (rows.length < pageSize) {
    const unread = shards.some((shard, at) => taken[at] === shard.rows.length && shard.found > taken[at]!)
    const heads = shards.map((shard, at) => shard.rows[taken[at]!])
    const first = heads.reduce((a, b) => (!a || (b && precedes(b, a)) ? b : a), undefined)
    if (unread || !first) break
    rows.push(first)
    taken[heads.indexOf(first)]! += 1
  }
  if (shards.every(({ found }, at) => found === taken[at])) return { rows }
  const last = shards.map((shard, at) => shard.rows[taken[at]! - 1] ?? positions[at])
  return { rows, next: last.map(row => row && { createdAt: row.createdAt, locator: row.locator }) }
}

const precedes = (a: Position, b: Position): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.locator < b.locator)
