import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { PolicyLocator } from '../../src/kernel/locators.ts'

type Locators = typeof import('../../src/kernel/locators.ts')

let derivedUuid: Locators['derivedUuid']
let newUuid: Locators['newUuid']
let orderedUuid: Locators['orderedUuid']
let policyOfUuid: Locators['policyOfUuid']
let readUuid: Locators['readUuid']
let shardOfUuid: Locators['shardOfUuid']
let uuidOfPolicy: Locators['uuidOfPolicy']

// An isolate continues from the last locator it created, even if its clock goes back. So each test imports the module again, under
// a separate address; vi.resetModules would make all later test files load all modules again.
let isolates = 0
beforeEach(async () => {
  isolates += 1
  const address = new URL(`../../src/kernel/locators.ts?isolate=${isolates}`, import.meta.url).href
  const fresh: Locators = await import(/* @vite-ignore */ address)
  ;({ derivedUuid, newUuid, orderedUuid, policyOfUuid, readUuid, shardOfUuid, uuidOfPolicy } = fresh)
})

/** A version 5 UUID according to RFC 9562, computed with the platform's SHA-1. The shard is in the last byte. */
function byThePlatform(shard: number, names: readonly string[]): string {
  const hash = createHash('sha1').update(names.join('\n')).digest().subarray(0, 16)
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  hash[15] = shard
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const shards = fc.integer({ min: 0, max: 63 })

it('a derived locator is the version 5 UUID of its names, for any length and characters', () => {
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

it('a derived locator is right for every length around the ends of SHA-1 blocks', () => {
  for (let length = 0; length <= 130; length += 1)
    expect(derivedUuid(7, 'a'.repeat(length))).toBe(byThePlatform(7, ['a'.repeat(length)]))
})

afterEach(() => vi.useRealTimers())

it('an ordered locator is a version 7 UUID: time, then random bits, then the shard', () => {
  vi.useFakeTimers({ now: 1_645_557_742_000 })
  fc.assert(
    fc.property(shards, shard => {
      const locator = orderedUuid(shard)
      // The time of the example in RFC 9562, appendix A.6.
      expect(locator).toMatch(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(readUuid(locator)).toBe(locator)
      expect(shardOfUuid(locator)).toBe(shard)
    }),
  )
  expect(new Set(Array.from({ length: 1_000 }, () => orderedUuid(5))).size).toBe(1_000)
})

it('ordered locators sort by time', () => {
  const times = [0, 1, 15, 16, 1_700_000_000_000, 1_700_000_000_001, 253_402_300_799_999]
  const made = times.map(at => {
    vi.useFakeTimers({ now: at })
    return orderedUuid(63)
  })
  expect(made.toSorted()).toEqual(made)
})

it('a locator that names its policy is a unique version 8 UUID that starts with the time', () => {
  vi.useFakeTimers({ now: 1_645_557_742_000 })
  const policies = fc.integer({
    min: 100_000_000,
    max: Number.MAX_SAFE_INTEGER,
  }) as fc.Arbitrary<PolicyLocator>
  const made = new Set<string>()
  fc.assert(
    fc.property(policies, policy => {
      const locator = uuidOfPolicy(policy)
      expect(locator).toMatch(/^017f22e2-79b0-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(readUuid(locator)).toBe(locator)
      expect([policyOfUuid(locator), shardOfUuid(locator)]).toEqual([policy, policy % 64])
      made.add(locator)
    }),
    { numRuns: 2_000 },
  )
  const one = 100_000_064 as PolicyLocator
  const many = Array.from({ length: 100_000 }, () => uuidOfPolicy(one))
  expect(new Set(many).size).toBe(100_000)
  expect(made.size).toBe(2_000)
})

it('other kinds of locators name no policy', () => {
  fc.assert(
    fc.property(shards, shard => {
      for (const locator of [newUuid(shard), orderedUuid(shard), derivedUuid(shard, 'a name')])
        expect(policyOfUuid(locator)).toBeUndefined()
    }),
  )
})

it('locators of an isolate increase even when its clock stands still or goes back', () => {
  const policy = 100_000_064 as PolicyLocator
  for (const make of [() => orderedUuid(5), () => uuidOfPolicy(policy)]) {
    let last = ''
    // More than fit into one millisecond.
    for (const at of [1_645_557_742_000, 1_645_557_741_000, 1_645_557_742_001, 1_645_557_800_000]) {
      vi.useFakeTimers({ now: at })
      for (let count = 0; count < (at === 1_645_557_742_000 ? 530_000 : 5_000); count += 1) {
        const locator = make()
        if (locator <= last) throw new Error(`${locator} was made after ${last}.`)
        last = locator
      }
    }
  }
  const many = Array.from({ length: 10 }, () => uuidOfPolicy(policy))
  expect(many.map(policyOfUuid)).toEqual(many.map(() => policy))
})
