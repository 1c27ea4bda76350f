// Random histories of policies whose product splits amounts by its own plugin (brief 5.6, getProrationResult).
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isStanding } from '../../src/policy/fold/line.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { comparable } from '../support/comparable.ts'
import type { Example } from '../support/configurations.ts'
import { beginStory, type Story } from '../support/policy-story.ts'
import { type ProraterName, prorations, withProrater } from '../support/prorater.ts'
import { size } from '../support/sizes.ts'
import { storedAggregate } from '../support/stored-aggregate.ts'
import {
  answerNow,
  billed,
  expectSegmentsMatchModel,
  expectSnapshotsMatch,
  invoiceTotalsByLocator,
  modificationsAddUp,
  priceOf,
  recordedChangesAddUp,
  same,
  viewOf,
} from '../support/story-checks.ts'
import { carryOutStep, carryOutSteps, endStory } from '../support/story-runner.ts'
import { type NewBusiness, newBusiness, step, steps } from '../support/story-steps.ts'

const SEED = 20261121

const runs = (small: number, full: number) => ({ seed: SEED, numRuns: size(small, full) })

const cents = (amount: number): number => Math.round(amount * 100)

const begin = async (example: Example, business: NewBusiness, name: ProraterName): Promise<Story> =>
  withProrater(await beginStory(example, business), name)

/** The billed amounts are the price of what is in force or accepted. */
function billsAddUp(story: Story): void {
  const { total } = policyPriceResponse(viewOf(story, isStanding))
  expect(cents(Number(billed(story.loaded.aggregate).toFixed()))).toBe(cents(total))
}

/** Checks that the policy has the premiums that the plugin returned since then. Returns the number of premiums found. */
function saidSince(story: Story, from: number): number {
  const { answer } = answerNow(story)
  const all = answer.exposures.flatMap(exposure => exposure.perils.flatMap(peril => peril.characteristics))
  const policy = answer.locator
  let found = 0
  for (const { input, answer: said } of prorations.slice(from)) {
    if (input.policy.locator !== policy) continue
    for (const [at, item] of input.items.entries()) {
      const { proratedAmount } = said.items[at]!
      const split = all.find(one => one.locator === item.perilCharacteristicsLocator)
      if (item.type !== 'premium' || !split) continue
      const isBack = input.operation === 'reinstatement'
      const [start, end] = isBack
        ? [input.segmentSplitTimestamp, item.segmentEndTimestamp]
        : [item.segmentStartTimestamp, input.segmentSplitTimestamp]
      const made = all.findLast(
        one =>
          one.perilLocator === split.perilLocator &&
          one.locator !== split.locator &&
          one.coverageStartTimestamp === start &&
          one.coverageEndTimestamp === end,
      )
      if (!made) continue
      const asSaid = isBack
        ? cents(Number(item.amount)) - cents(Number(proratedAmount))
        : cents(Number(proratedAmount))
      expect(cents(made.premium!)).toBe(asSaid)
      found += 1
    }
  }
  return found
}

describe.each<Example>(['motor', 'home'])(`a history on the %s example (seed ${SEED})`, example => {
  it(
    'has the same amounts to the cent whether the service or a plugin splits them in proportion',
    async () => {
      const before = prorations.length
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, async (business, all) => {
          let plain = await beginStory(example, business)
          let asked = await begin(example, business, 'proportional')
          for (const one of all) {
            const [first, second] = [await carryOutStep(plain, one), await carryOutStep(asked, one)]
            plain = first.story
            asked = second.story
            expect(second.refused?.code).toBe(first.refused?.code)
            same(comparable(second.previewed), comparable(first.previewed))
            same(comparable(second.recorded), comparable(first.recorded))
            same(comparable(answerNow(asked).answer), comparable(answerNow(plain).answer))
            same(comparable(priceOf(asked)), comparable(priceOf(plain)))
            expect([...invoiceTotalsByLocator(asked).values()]).toEqual([
              ...invoiceTotalsByLocator(plain).values(),
            ])
          }
        }),
        { seed: SEED, numRuns: size(5, 1_500) },
      )
      expect(prorations.length).toBeGreaterThan(before + 20)
    },
    size(150_000, 3_000_000),
  )

  it(
    'keeps its sums for any plugin answers, changes no invoice, and gives the previewed and stored result',
    async () => {
      let counted = 0
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, async (business, all) => {
          let story = await begin(example, business, 'whimsical')
          let asked = invoiceTotalsByLocator(story)
          const answers = [answerNow(story)]
          for (const one of all) {
            const from = prorations.length
            const { story: after, refused, previewed, recorded } = await carryOutStep(story, one)
            story = after
            if (!refused && recorded) counted += saidSince(story, from)
            if (previewed && recorded) same(comparable({ ...previewed, ...recorded }), comparable(previewed))
            asked = invoiceTotalsByLocator(story, asked)
            expectSegmentsMatchModel(story)
            modificationsAddUp(story)
            recordedChangesAddUp(story)
            billsAddUp(story)
            answers.push(answerNow(story))
          }
          expect(invoiceTotalsByLocator(story)).toEqual(asked)
          expectSnapshotsMatch(story, answers)
          const { aggregate, product } = story.loaded
          const answer = (of: typeof aggregate) => policyResponse(of, product, { summarizeQuotes: false })
          same(answer(storedAggregate(aggregate)), answer(aggregate))
        }),
        { seed: SEED, numRuns: size(5, 1_000) },
      )
      expect(counted).toBeGreaterThan(50)
    },
    size(150_000, 3_000_000),
  )

  it(
    'has the same price after a cancellation that is reinstated from its effective time, for any answers',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, step, async (business, all, last) => {
          const before = await carryOutSteps(await begin(example, business, 'whimsical'), all)
          const back = await endStory(before, last, 'cancelAndReinstate')
          fc.pre(back !== undefined)
          same(priceOf(back!), priceOf(before))
          billsAddUp(back!)
        }),
        runs(5, 250),
      )
    },
    size(180_000, 600_000),
  )

  it(
    'has a price of zero after a withdrawal, for any plugin answers',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, step, async (business, all, last) => {
          const before = await carryOutSteps(await begin(example, business, 'whimsical'), all)
          const withdrawn = await endStory(before, last, 'withdraw')
          fc.pre(withdrawn !== undefined)
          expect(priceOf(withdrawn!)).toMatchObject({
            grossPremium: 0,
            grossTaxes: 0,
            grossFees: 0,
            total: 0,
          })
          billsAddUp(withdrawn!)
        }),
        runs(3, 100),
      )
    },
    size(180_000, 600_000),
  )
})
