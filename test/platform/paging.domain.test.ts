import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid, type PolicyLocator, type Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import {
  mergedPage,
  POLICY_FORM,
  type Position,
  type Positions,
  readPagingToken,
  type ShardRows,
  UUID_FORM,
  writePagingToken,
} from '../../src/platform/paging.ts'

const SEED = 20_261_121

const byOrder = (a: Position<Uuid>, b: Position<Uuid>): number =>
  a.createdAt - b.createdAt || (a.locator < b.locator ? -1 : a.locator > b.locator ? 1 : 0)

/** The answer of a shard: rows after the position, at most `most` of them even if it found more. */
function shardRows(
  stored: readonly Position<Uuid>[],
  after: Position<Uuid> | undefined,
  pageSize: number,
  most: number,
): ShardRows<Position<Uuid>> {
  const found = stored
    .filter(row => !after || byOrder(row, after) > 0)
    .sort(byOrder)
    .slice(0, pageSize + 1)
  return { rows: found.slice(0, most), found: found.length }
}

const position = fc
  .integer({ min: 0, max: 20 })
  .map((ms): Position<Uuid> => ({ createdAt: ms as Instant, locator: newUuid(0) }))

describe('Pages over shards', () => {
  it('contain every row once and in order, for any size of pages and answers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(position, { maxLength: 12 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 8 }),
        (stored, pageSize, most) => {
          const seen: Position<Uuid>[] = []
          let positions: Positions<Uuid> | undefined = []
          while (positions) {
            const at: Positions<Uuid> = readPagingToken(
              positions.length === 0 ? undefined : writePagingToken(positions, UUID_FORM),
              UUID_FORM,
            )
            const page: { rows: Position<Uuid>[]; next?: Positions<Uuid> } = mergedPage(
              stored.map((rows, shard) => shardRows(rows, at[shard], pageSize, most)),
              at,
              pageSize,
            )
            expect(page.rows.length).toBeLessThanOrEqual(pageSize)
            if (page.next) expect(page.rows.length).toBeGreaterThan(0)
            seen.push(...page.rows)
            positions = page.next
          }
          expect(seen).toEqual(stored.flat().sort(byOrder))
        },
      ),
      { seed: SEED },
    )
  })

  it('end without a token when nothing is left', () => {
    const row = { createdAt: 1 as Instant, locator: newUuid(0) }
    expect(mergedPage([{ rows: [row], found: 1 }], [], 1)).toEqual({ rows: [row] })
    expect(mergedPage([{ rows: [], found: 0 }], [], 1)).toEqual({ rows: [] })
  })
})

describe('Paging tokens', () => {
  it('are rejected when the service did not issue them', () => {
    const shards = (count: number): Positions<Uuid> =>
      Array(count).fill({ createdAt: 1 as Instant, locator: newUuid(0) })
    const good = writePagingToken([undefined, ...shards(1)], UUID_FORM)
    const bytes = (change: (bytes: Buffer) => void): string => {
      const changed = Buffer.from(good, 'base64url')
      change(changed)
      return changed.toString('base64url')
    }
    for (const token of [
      'x',
      '%%%',
      'null',
      good.slice(1),
      `${good}=`,
      `${good.slice(0, 8)} ${good.slice(8)}`,
      writePagingToken(shards(65), UUID_FORM),
      writePagingToken([{ createdAt: 1 as Instant, locator: 100_000_064 as PolicyLocator }], POLICY_FORM),
      bytes(all => all.writeBigInt64BE(2n ** 62n, 24)),
      bytes(all => all.fill(0, 32)),
      Buffer.from(JSON.stringify([1, newUuid(0)])).toString('base64url'),
    ])
      expect(() => readPagingToken(token, UUID_FORM), token).toThrow(Refusal)
    expect(readPagingToken(good, UUID_FORM)).toEqual([
      undefined,
      { createdAt: 1, locator: expect.any(String) },
    ])
  })

  it('need no escaping in a query string', () => {
    const token = writePagingToken(
      Array(64).fill({ createdAt: 253_402_300_799_999, locator: newUuid(63) }),
      UUID_FORM,
    )
    expect(token).toMatch(/^[\w-]{1,2048}$/)
  })

  it('hold positions of policies, and are rejected by another kind of list', () => {
    const positions = [100_000_064, 2 ** 53 - 65].map(locator => ({
      createdAt: 1 as Instant,
      locator: locator as PolicyLocator,
    }))
    expect(readPagingToken(writePagingToken(positions, POLICY_FORM), POLICY_FORM)).toEqual(positions)
    const other = writePagingToken([{ createdAt: 1 as Instant, locator: newUuid(0) }], UUID_FORM)
    expect(() => readPagingToken(other, POLICY_FORM)).toThrow(Refusal)
  })
})
