// Reports of policies whose later transactions are taken back by one that takes effect before them. A year costs 1,200.00 and 10 %
// tax, from 1 January 2030.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { type Instant, LATEST, type TimeZone } from '../../src/kernel/time.ts'
import { openingsOf } from '../../src/policy/journal/history.ts'
import type { ReportedPolicy, ReportKind, ReportParameters } from '../../src/reporting/kind.ts'
import { bordereau } from '../../src/reporting/kinds/bordereau.ts'
import { charges } from '../../src/reporting/kinds/charges.ts'
import { earnedPremium, writtenPremium } from '../../src/reporting/kinds/premiums.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { month } from '../support/boat-product.ts'
import { expectJournalConsistent, expectRowsBalance } from '../support/journal-checks.ts'
import { attemptAt } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { BOOK_CONFIGURATION, Boat } from '../support/twelve-boats.ts'

const SEED = 20261201

const SURROUNDINGS = {
  configuration: BOOK_CONFIGURATION,
  timeZone: 'Europe/Berlin' as TimeZone,
  knownAt: LATEST,
}

function linesOf(kind: ReportKind, { loaded: { aggregate }, posted }: Boat, from: Instant, to: Instant) {
  const policy: ReportedPolicy = {
    policy: aggregate.policy,
    records: aggregate,
    journal: posted.map((row, id) => ({ ...row, id: id + 1, closedUntil: 0 as Instant })),
    segments: new Map(),
  }
  const parameters: ReportParameters = {
    from,
    to,
    at: to,
    by: [],
    products: [],
    earning: 'product',
    sums: [],
    columns: [],
  }
  const names = kind.columns(parameters, SURROUNDINGS).map(({ name }) => name)
  return [...kind.lines(policy, parameters, SURROUNDINGS)].map(({ cells }) =>
    Object.fromEntries(cells.map((cell, at) => [names[at]!, cell])),
  )
}

const START = month(0)
const total = (lines: readonly Record<string, unknown>[], name: string): number =>
  lines.reduce((sum, line) => sum + Number(line[name]), 0)

/** Written and unearned premium, of what is booked before the start of the month with that number. */
function premiumAt(boat: Boat, count: number): { written: number; unearned: number } {
  const lines = linesOf(earnedPremium, boat, START, month(count))
  return { written: total(lines, 'written') / 100, unearned: total(lines, 'unearned') / 100 }
}

const writtenIn = (boat: Boat, count: number): number[] =>
  linesOf(writtenPremium, boat, month(count), month(count + 1)).map(line => Number(line.premium) / 100)

const taxIn = (boat: Boat, count: number): number =>
  total(linesOf(charges, boat, month(count), month(count + 1)), 'amount') / 100

function expectNeverNegative(boat: Boat): void {
  expectRowsBalance(boat.posted)
  for (let count = 1; count <= 26; count += 1)
    expect([count, premiumAt(boat, count).unearned >= 0]).toEqual([count, true])
  expect(premiumAt(boat, 26).unearned).toBe(0)
}

/** The policy is renewed on 1 April for 2031. */
const renewed = async (): Promise<Boat> => (await Boat.made()).renew(month(3), month(24))

describe('a cancellation from 1 July', () => {
  it('takes an issued renewal back when the renewal would have begun', async () => {
    const boat = await renewed()
    await boat.cancel(month(5), month(6))
    expect(premiumAt(boat, 7)).toEqual({ written: 600, unearned: 0 })
    expect([writtenIn(boat, 6), taxIn(boat, 6)]).toEqual([[-600], -60])
    expect([writtenIn(boat, 12), taxIn(boat, 12)]).toEqual([[1_200, -1_200], 0])
    expectNeverNegative(boat)
  })

  it('takes an endorsement from October back in October', async () => {
    const boat = await Boat.made()
    await boat.endorse(month(2), month(9), 2_400)
    await boat.cancel(month(5), month(6))
    expect(premiumAt(boat, 7)).toEqual({ written: 600, unearned: 0 })
    expect([writtenIn(boat, 6), writtenIn(boat, 9)]).toEqual([[-600], [300, -300]])
    expectNeverNegative(boat)
  })

  it('takes an earlier cancellation from October back in October', async () => {
    const boat = await Boat.made()
    await boat.cancel(month(2), month(9))
    await boat.cancel(month(5), month(6))
    expect(premiumAt(boat, 7)).toEqual({ written: 600, unearned: 0 })
    expect([writtenIn(boat, 6), writtenIn(boat, 9)]).toEqual([[-600], [-300, 300]])
    expectNeverNegative(boat)
  })

  it('gives the renewal back on its own date when it is reinstated', async () => {
    const boat = await renewed()
    await boat.cancel(month(5), month(6))
    await boat.reinstate(month(6))
    expect(premiumAt(boat, 7)).toEqual({ written: 1_200, unearned: 500 })
    expect(writtenIn(boat, 12)).toEqual([1_200, -1_200, 1_200])
    expect(premiumAt(boat, 26)).toEqual({ written: 2_400, unearned: 0 })
    expectNeverNegative(boat)
  })

  it('takes back what an endorsement changed of the renewal', async () => {
    const boat = await renewed()
    await boat.endorse(month(4), month(5), 2_400)
    await boat.cancel(month(5), month(6))
    expect(premiumAt(boat, 7)).toEqual({ written: 700, unearned: 0 })
    expect(writtenIn(boat, 12)).toEqual([1_200, 1_200, -2_400])
    expectNeverNegative(boat)
  })

  it('is booked as of its own time first and then in the order of what it takes back', async () => {
    const boat = await renewed()
    await boat.endorse(month(4), month(9), 2_400)
    const before = boat.posted.length
    await boat.cancel(month(5), month(6))
    expect(boat.posted.slice(before).map(row => row.effectiveAt)).toEqual([month(6), month(9), month(12)])
    expect([writtenIn(boat, 6), writtenIn(boat, 9)]).toEqual([[-600], [300, -300]])
    expect(writtenIn(boat, 12)).toEqual([1_200, 1_200, -2_400])
    expectNeverNegative(boat)
  })

  it('leaves a cancellation from 1 June nothing to book of the renewal, and no line in the bordereau', async () => {
    const boat = await renewed()
    await boat.cancel(month(5), month(6))
    await boat.cancel(month(5, 10), month(5))
    expect([writtenIn(boat, 5), writtenIn(boat, 6)]).toEqual([[-700], [-600, 600]])
    expect(writtenIn(boat, 12)).toEqual([1_200, -1_200])
    expect(linesOf(bordereau, boat, month(12), month(13)).map(line => line.premium)).toEqual([
      120_000, -120_000,
    ])
    expectNeverNegative(boat)
  })
})

it('a policy that was migrated with an issued renewal begins with it when the renewal begins', async () => {
  const boat = await renewed()
  boat.posted.splice(0, boat.posted.length, ...openingsOf(boat.loaded.aggregate, month(4)))
  expect(boat.posted.map(row => row.effectiveAt)).toEqual([month(4), month(12)])
  expect(premiumAt(boat, 5)).toEqual({ written: 1_200, unearned: 700 })
  // The other system wrote the first year; the renewal is written here.
  const opening = (count: number): number =>
    total(linesOf(writtenPremium, boat, month(count), month(count + 1)), 'openingPremium') / 100
  const openingTax = (count: number): number =>
    total(linesOf(charges, boat, month(count), month(count + 1)), 'openingAmount') / 100
  expect([opening(4), openingTax(4), writtenIn(boat, 4), taxIn(boat, 4)]).toEqual([1_200, 120, [0], 0])
  expect([opening(12), openingTax(12), writtenIn(boat, 12), taxIn(boat, 12)]).toEqual([0, 0, [1_200], 120])
  const listedIn = (count: number): unknown[][] =>
    linesOf(bordereau, boat, month(count), month(count + 1)).map(one => [
      one.effectiveAt,
      one.premium,
      one.taxes,
    ])
  expect([listedIn(4), listedIn(12)]).toEqual([[], [[month(12), 120_000, 12_000]]])
  await boat.cancel(month(5), month(6))
  expect(listedIn(12)).toEqual([
    [month(12), 120_000, 12_000],
    [month(12), -120_000, -12_000],
  ])
  expect([writtenIn(boat, 12), taxIn(boat, 12)]).toEqual([[1_200, -1_200], 0])
  expect([7, 13].map(count => premiumAt(boat, count))).toEqual([
    { written: 600, unearned: 0 },
    { written: 600, unearned: 0 },
  ])
  expectNeverNegative(boat)
})

it('an endorsement changes the premium of a renewal when the renewal begins', async () => {
  const boat = await renewed()
  await boat.endorse(month(5), month(6), 600)
  expect(premiumAt(boat, 7)).toEqual({ written: 900, unearned: 250 })
  expect([writtenIn(boat, 6), taxIn(boat, 6)]).toEqual([[-300], -30])
  expect([writtenIn(boat, 12), taxIn(boat, 12)]).toEqual([[1_200, -600], 60])
  expectNeverNegative(boat)
})

describe('a year that costs 12,000.00 from October on, and then 1,200.00 again from July on', () => {
  const backAgain = async (): Promise<Boat> => {
    const boat = await Boat.made()
    await boat.endorse(month(2), month(9), 12_000)
    return await boat.endorse(month(3), month(6), 1_200)
  }

  it('gives October back in October', async () => {
    const boat = await backAgain()
    expect([7, 9, 10].map(count => premiumAt(boat, count))).toEqual([
      { written: 1_200, unearned: 500 },
      { written: 1_200, unearned: 300 },
      { written: 1_200, unearned: 200 },
    ])
    expect([writtenIn(boat, 6), writtenIn(boat, 9)]).toEqual([[], [2_700, -2_700]])
    expect([taxIn(boat, 6), taxIn(boat, 9)]).toEqual([0, 0])
    expectNeverNegative(boat)
  })

  it('is cancelled from September and reinstated', async () => {
    const boat = await backAgain()
    await boat.cancel(month(4), month(8))
    expect([7, 9, 10].map(count => premiumAt(boat, count))).toEqual([
      { written: 1_200, unearned: 500 },
      { written: 800, unearned: 0 },
      { written: 800, unearned: 0 },
    ])
    expectNeverNegative(boat)
    await boat.reinstate(month(4, 2))
    expect(premiumAt(boat, 9)).toEqual({ written: 1_200, unearned: 300 })
    expectNeverNegative(boat)
  })
})

it('an endorsement changes a peril at once that the endorsement of a later time does not rate', async () => {
  const boat = await Boat.made()
  const endorse = (now: Instant, from: Instant, changes: object): Promise<Boat> =>
    boat.record(now, async loaded => {
      const request = EndorsementCreateRequest.parse({
        endorsementName: 'change',
        startTimestamp: from,
        state: 'issued',
        ...changes,
      })
      return (await decideEndorsement(loaded, { action: 'create', request }, attemptAt(now))).planned
    })
  await endorse(month(1), month(1), {
    addExposures: [{ exposureName: 'hull', fieldValues: { yearly: '2400' }, perils: [{ name: 'sinking' }] }],
  })
  const second = [...boat.loaded.aggregate.exposures.keys()][1]
  const dearer = { exposureLocator: second, fieldValues: { yearly: '12000' } }
  await endorse(month(2), month(9), { updateExposures: [dearer] })
  await boat.endorse(month(3), month(6), 1_800)
  expect([writtenIn(boat, 6), writtenIn(boat, 9)]).toEqual([[300], [2_400]])
  expectNeverNegative(boat)
})

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('endorse' as const),
        from: fc.nat(23),
        yearly: fc.constantFrom(12, 1_200, 2_400, 12_000),
      }),
    },
    fc.record({ kind: fc.constant('renew' as const) }),
    fc.record({ kind: fc.constant('cancel' as const), from: fc.nat(23) }),
    fc.record({ kind: fc.constant('reinstate' as const), from: fc.option(fc.nat(23), { nil: undefined }) }),
  ),
  { minLength: 2, maxLength: 7 },
)

it(
  `in any order of changes, unearned premium is never negative (seed ${SEED})`,
  async () => {
    await fc.assert(
      fc.asyncProperty(steps, async all => {
        const boat = await Boat.made()
        for (const [at, step] of all.entries()) {
          const now = month(0, at + 2)
          try {
            if (step.kind === 'endorse') await boat.endorse(now, month(step.from), step.yearly)
            else if (step.kind === 'renew') await boat.renew(now, month(24))
            else if (step.kind === 'cancel') await boat.cancel(now, month(step.from))
            else if (boat.loaded.aggregate.cancellations.size > 0)
              await boat.reinstate(now, step.from === undefined ? undefined : month(step.from))
          } catch (problem) {
            // The policy does not allow the step.
            if (!(problem instanceof Refusal)) throw problem
          }
        }
        const moments = Array.from({ length: 25 }, (_, count) => month(count))
        expectJournalConsistent(boat.posted, boat.loaded.aggregate, moments)
        expectNeverNegative(boat)
      }),
      { seed: SEED, numRuns: size(40, 3_000) },
    )
  },
  size(60_000, 3_000_000),
)

it('the bordereau lists an endorsement that changes no amount', async () => {
  const boat = await Boat.made()
  await boat.endorse(month(1), month(3), 1_200)
  const lines = linesOf(bordereau, boat, month(3), month(4))
  expect(lines).toMatchObject([{ effectiveAt: month(3), premium: 0, taxes: 0, fees: 0, heldBack: 0 }])
})

describe('a gap from July to September', () => {
  const withGap = async (): Promise<Boat> =>
    (await (await Boat.made()).cancel(month(5, 5), month(6))).reinstate(month(6, 5), month(9))

  it('an endorsement from before it changes the cover after it when that begins', async () => {
    const boat = await withGap()
    await boat.endorse(month(6, 10), month(5), 600)
    // 50.00 less for June and, from October on, for each of the last three months.
    expect([writtenIn(boat, 5), writtenIn(boat, 6), writtenIn(boat, 9)]).toEqual([[-50], [-600], [300, -150]])
    expect([taxIn(boat, 5), taxIn(boat, 9)]).toEqual([-5, 15])
    expect([6, 7, 9, 10].map(count => premiumAt(boat, count))).toEqual([
      { written: 1_150, unearned: 600 },
      { written: 550, unearned: 0 },
      { written: 550, unearned: 0 },
      { written: 700, unearned: 100 },
    ])
    expectNeverNegative(boat)
  })

  it('a cancellation from before it takes back what an endorsement changed after it', async () => {
    const boat = await withGap()
    await boat.endorse(month(6, 10), month(5), 2_400)
    await boat.cancel(month(6, 12), month(5))
    expect([writtenIn(boat, 5), writtenIn(boat, 6)]).toEqual([
      [100, -800],
      [-600, 600],
    ])
    expect(writtenIn(boat, 9)).toEqual([300, 300, -600])
    expectNeverNegative(boat)
  })
})

it('a withdrawal takes an issued renewal back when the renewal would have begun', async () => {
  const boat = await renewed()
  await boat.withdraw(month(5))
  expect(premiumAt(boat, 6)).toEqual({ written: 0, unearned: 0 })
  expect([writtenIn(boat, 12), taxIn(boat, 12)]).toEqual([[1_200, -1_200], 0])
  expectNeverNegative(boat)
})
