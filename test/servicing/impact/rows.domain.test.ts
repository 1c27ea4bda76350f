// The files with the rows of an impact: how many calls it takes to write and to read them (2,000 portions are about 100,000 policies).
import { expect, test } from 'vitest'
import type { Uuid } from '../../../src/kernel/locators.ts'
import { noCalls } from '../../../src/platform/calls.ts'
import type { Tenant, TenantPlace } from '../../../src/platform/tenancy.ts'
import { joinRows, putRows, rowsStream } from '../../../src/servicing/impact/files.ts'
import { noTotals } from '../../../src/servicing/impact/totals.ts'

const locator = '00000000-0000-8000-8000-000000000000' as Uuid

/** A place whose files are in `stored`. */
function placeWith(stored: Map<string, string | Uint8Array>): TenantPlace {
  const FILES = {
    put: async (key: string, content: string | Uint8Array) => void stored.set(key, content),
    get: async (key: string) => (stored.has(key) ? new Response(stored.get(key) as string) : null),
  }
  const tenant = { locator: '00000000-0000-4000-8000-000000000000', generation: 1 } as Tenant
  return { env: { FILES } as unknown as Env, tenant, calls: noCalls() }
}

/** Writes the portions as an impact does. The rows of a portion are its number. */
async function written(portions: number, abandoned: readonly number[] = [], joins = true) {
  const stored = new Map<string, string | Uint8Array>()
  const place = placeWith(stored)
  let most = 0
  for (let portion = 0; portion < portions; portion += 1) {
    const before = place.calls.r2
    await putRows(place, locator, portion, `${portion}\r\n`)
    const known = abandoned.filter(one => one <= portion)
    const totals = { ...noTotals(), ...(known.length > 0 && { abandoned: known }) }
    if (joins && !abandoned.includes(portion))
      await joinRows(place, { locator, portions: portion + 1, totals })
    most = Math.max(most, place.calls.r2 - before)
  }
  const reader = placeWith(stored)
  const totals = { ...noTotals(), ...(abandoned.length > 0 && { abandoned: [...abandoned] }) }
  const text = await new Response(rowsStream(reader, { locator, portions, totals }, 'head\r\n')).text()
  return { rows: text.trimEnd().split('\r\n'), reads: reader.calls.r2, writes: place.calls.r2, most }
}

const numbers = (count: number, without: readonly number[] = []): string[] => [
  'head',
  ...Array.from({ length: count }, (_, at) => at)
    .filter(at => !without.includes(at))
    .map(String),
]

test.each([
  [0, 0, 0],
  [63, 63, 63],
  [64, 1, 64 + 65],
  // 31 joined files of 64 portions, and 16 portions.
  [2_000, 31 + 16, 2_000 + 31 * 65],
])('%i portions are read in %i calls', async (portions, reads, writes) => {
  const found = await written(portions)
  expect(found.rows).toEqual(numbers(portions))
  expect([found.reads, found.writes]).toEqual([reads, writes])
  expect(found.most).toBeLessThanOrEqual(1 + 65)
})

test('rows of an earlier release, which are not joined, are read portion by portion', async () => {
  const { rows, reads } = await written(130, [], false)
  expect([rows, reads]).toEqual([numbers(130), 2 + 130])
})

test('abandoned portions are left out, and the rows around them are not joined', async () => {
  // 127 completes the second 64. The third 64 are joined.
  const { rows, reads } = await written(200, [3, 127])
  expect([rows, reads]).toEqual([numbers(200, [3, 127]), 63 + 63 + 1 + 8])
})
