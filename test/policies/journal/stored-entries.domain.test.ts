// Stored journal entries: they are read as they were written, and their size does not depend on the size of the policy.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Uuid } from '../../../src/kernel/locators.ts'
import type { Instant } from '../../../src/kernel/time.ts'
import { entriesText, readEntries } from '../../../src/policy/journal/entries.ts'
import { journalOf } from '../../../src/policy/journal/history.ts'
import type { JournalEntry } from '../../../src/policy/journal/rows.ts'
import type { Peril, PerilRun, PolicyAggregate } from '../../../src/policy/records/aggregate.ts'
import { ACCOUNT_NAMES } from '../../../src/product/books.ts'
import { expectRowsBalance } from '../../support/journal-checks.ts'
import { beginStory } from '../../support/policy-story.ts'
import { carryOutStep } from '../../support/story-runner.ts'
import type { Step } from '../../support/story-steps.ts'

const SEED = 20261126
const PERILS = 10_000
/** The most characters of a row's entries. */
const LARGEST = 4_000

const time = fc.integer({ min: 0, max: 4_000_000_000_000 }) as fc.Arbitrary<Instant>
const uuid = fc.uuid() as fc.Arbitrary<Uuid>

const entry = fc.record(
  {
    account: fc.constantFrom(...ACCOUNT_NAMES),
    minor: fc.maxSafeInteger().filter(minor => minor !== 0),
    peril: fc.string(),
    name: fc.string({ unit: 'binary' }),
    start: time,
    end: time,
    invoice: uuid,
    due: time,
    payment: uuid,
  },
  { requiredKeys: ['account', 'minor'] },
) as fc.Arbitrary<JournalEntry>

describe('Stored entries', () => {
  it(`are the same after writing and reading (seed ${SEED})`, () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), entries => {
        expect(readEntries(entriesText(entries))).toEqual(entries)
      }),
      { seed: SEED, numRuns: 500 },
    )
  })

  it('keep the format of earlier releases', () => {
    const [premium, receivable, cash] = [
      {
        account: 'premium',
        minor: -17_360,
        peril: 'theft',
        start: 1_798_758_000_000,
        end: 1_830_294_000_000,
      },
      { account: 'receivable', minor: 28_155, invoice: 'i', due: 1_798_758_000_000 },
      { account: 'cash', minor: 28_155, invoice: 'i', payment: 'p' },
    ] as JournalEntry[]
    expect(entriesText([premium!, receivable!, cash!])).toBe(
      '[["premium",-17360,"theft",null,1798758000000,1830294000000],' +
        '["receivable",28155,null,null,null,null,"i",1798758000000],' +
        '["cash",28155,null,null,null,null,"i",null,"p"]]',
    )
  })
})

/** Copies the policy's perils with their history until there are this many. */
function enlarged(aggregate: PolicyAggregate): PolicyAggregate {
  const copies = Array.from({ length: Math.ceil(PERILS / aggregate.perils.size) }, (_, copy) => copy)
  const copied = (locator: Uuid, copy: number) =>
    `${locator.slice(0, 24)}${String(copy).padStart(12, '0')}` as Uuid
  const many = <R extends { locator: Uuid }>(records: ReadonlyMap<Uuid, R>, copy: (one: R, n: number) => R) =>
    new Map(
      copies.flatMap(n => [...records.values()].map(one => copy(one, n))).map(one => [one.locator, one]),
    )
  return {
    ...aggregate,
    perils: many<Peril>(aggregate.perils, (one, n) => ({ ...one, locator: copied(one.locator, n) })),
    perilRuns: many<PerilRun>(aggregate.perilRuns, (one, n) => ({
      ...one,
      locator: copied(one.locator, n),
      perilLocator: copied(one.perilLocator, n),
    })),
  }
}

const CANCELLED: Step = {
  kind: 'cancel',
  which: 0,
  at: { thousandths: 500, midnight: true },
  later: 0,
  firmly: false,
  days: 1,
  changes: [],
  far: 3,
  atOnce: true,
  reprice: false,
}

describe(`a policy of ${PERILS} perils`, () => {
  it('has small rows, because perils of one name and span share one entry', async () => {
    const begun = await beginStory('motor', { which: 0, schedule: 0, startDays: 0, days: 365 })
    const { story } = await carryOutStep(begun, CANCELLED)
    const large = enlarged(story.loaded.aggregate)
    const rows = journalOf(large)
    const names = new Set([...large.perils.values()].map(one => one.name))
    expect(large.perils.size).toBeGreaterThanOrEqual(PERILS)
    expect(rows.map(({ kind }) => kind)).toContain('cancellation')
    expectRowsBalance(rows)
    for (const { kind, entries } of rows) {
      const premiums = entries.filter(one => one.account === 'premium')
      const spans = { creation: 1, cancellation: 2 }[kind as string] ?? 0
      expect(premiums).toHaveLength(spans * names.size)
      expect(entriesText(entries).length).toBeLessThan(LARGEST)
    }
  })
})
