import { describe, expect, it } from 'vitest'
import type { PolicyLocator } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import {
  DocumentTurns,
  MADE_AT_ONCE,
  TURN_MS,
  type WaitingPolicy,
} from '../../src/transactions/documents/turns.ts'

const at = (ms: number) => (1_000_000 + ms) as Instant
const policy = (number: number): WaitingPolicy => ({ policyLocator: number as PolicyLocator })
const locator = (number: number) => number as PolicyLocator
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, nth) => from + nth)

/** Finds policies that were never announced, and counts the searches. */
function untold(...found: WaitingPolicy[]) {
  const looks = { count: 0 }
  return {
    looks,
    look: async () => {
      looks.count += 1
      return found
    },
  }
}

describe('The document turns of a shard', () => {
  it('are at most sixteen at a time, and waiting policies follow in order without a search', async () => {
    const turns = new DocumentTurns()
    const { look, looks } = untold()
    const begun = range(0, 20).map(nth => turns.begin(policy(nth), false, at(0)))
    expect(begun).toEqual(range(0, 20).map(nth => nth < MADE_AT_ONCE))
    const next = []
    for (const nth of range(0, 6)) next.push(await turns.end(locator(nth), at(10), look))
    expect(next).toEqual([16, 17, 18, 19].map(policy).concat(undefined as never, undefined as never))
    expect(looks.count).toBe(0)
  })

  it('are one at a time for a policy, and a hint that arrives meanwhile is repeated at the end', async () => {
    const turns = new DocumentTurns()
    const { look } = untold()
    expect(turns.begin(policy(1), false, at(0))).toBe(true)
    expect(turns.begin({ ...policy(1), version: 7 }, false, at(5))).toBe(false)
    expect(turns.isUnderWay(locator(1), at(5))).toBe(true)
    expect(await turns.end(locator(1), at(10), look)).toEqual({ ...policy(1), version: 7 })
    expect(turns.isUnderWay(locator(1), at(10))).toBe(false)
    expect(turns.begin({ ...policy(1), version: 7 }, false, at(20))).toBe(true)
    expect(await turns.end(locator(1), at(30), look)).toBeUndefined()
  })

  it('expire by themselves after a crash', () => {
    const turns = new DocumentTurns()
    for (const nth of range(0, MADE_AT_ONCE)) turns.begin(policy(nth), false, at(0))
    expect(turns.begin(policy(99), false, at(TURN_MS - 1))).toBe(false)
    expect(turns.isUnderWay(locator(0), at(TURN_MS))).toBe(false)
    expect(turns.begin(policy(99), false, at(TURN_MS))).toBe(true)
  })

  it('are free when the clock was set back by an hour', async () => {
    const turns = new DocumentTurns()
    const later = 3_600_000
    for (const nth of range(0, MADE_AT_ONCE)) turns.begin(policy(nth), true, at(later))
    const { look, looks } = untold(policy(50))
    expect(await turns.end(locator(1), at(later), look)).toEqual(policy(50))
    expect(turns.isUnderWay(locator(0), at(0))).toBe(false)
    expect(turns.begin(policy(0), true, at(0))).toBe(true)
    expect(await turns.end(locator(0), at(10), look)).toEqual(policy(50))
    expect(looks.count).toBe(2)
  })

  it('search for unannounced policies at most once a second while hints are being withheld', async () => {
    const turns = new DocumentTurns()
    const { look, looks } = untold(policy(50), policy(51), policy(1))
    turns.begin(policy(1), true, at(0))
    turns.begin(policy(2), false, at(0))
    expect(await turns.end(locator(2), at(10), look)).toEqual(policy(50))
    expect(await turns.end(locator(50), at(20), look)).toEqual(policy(51))
    // Policy 1 is still in its turn.
    expect(await turns.end(locator(51), at(30), look)).toBeUndefined()
    expect(looks.count).toBe(1)
    expect(await turns.end(locator(1), at(40), look)).toEqual(policy(1))
    expect(looks.count).toBe(1)
    expect(await turns.end(locator(1), at(1_020), look)).toEqual(policy(50))
    expect(looks.count).toBe(2)
    // A minute later all were announced again.
    const later = untold(policy(60))
    for (const nth of range(0, 3)) await turns.end(locator(90 + nth), at(1_100), later.look)
    expect(await turns.end(locator(2), at(61_000), later.look)).toBeUndefined()
    expect(later.looks.count).toBe(0)
  })
})
