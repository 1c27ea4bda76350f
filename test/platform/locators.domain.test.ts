import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { derivedUuid, shardOfUuid } from '../../src/platform/locators.ts'

/** Version 5 as RFC 9562 has it, by the platform's SHA-1; the shard stands in the last byte. */
function byThePlatform(shard: number, names: readonly string[]): string {
  const hash = createHash('sha1').update(names.join('\n')).digest().subarray(0, 16)
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  hash[15] = shard
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const shards = fc.integer({ min: 0, max: 63 })

it('a derived locator is the version-5 UUID of its names, whatever their length and characters', () => {
  const name = fc.oneof(
    fc.uuid(),
    fc.string({ unit: 'grapheme', maxLength: 150 }),
    fc.stringMatching(/^[!-~]{0,140}$/),
  )
  fc.assert(
    fc.property(shards, fc.array(name, { maxLength: 4 }), (shard, names) => {
      const locator = derivedUuid(shard, ...names)
      expect(locator).toBe(byThePlatform(shard, names))
      expect(shardOfUuid(locator)).toBe(shard)
    }),
    { numRuns: 1_000 },
  )
})

it('holds for every length around the ends of the blocks that SHA-1 reads', () => {
  for (let length = 0; length <= 130; length += 1)
    expect(derivedUuid(7, 'a'.repeat(length))).toBe(byThePlatform(7, ['a'.repeat(length)]))
})
