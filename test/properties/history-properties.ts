// Random histories on an example (histories.*.domain.test.ts): in any order of operations, the service and a naive second model
// agree to the cent, and all invariants hold.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { journalOfChange } from '../../src/policy/journal/history.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import type { Example } from '../support/configurations.ts'
import { expectJournalConsistent } from '../support/journal-checks.ts'
import { beginStory, type Story } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { storedAggregate } from '../support/stored-aggregate.ts'
import {
  answerNow,
  expectModelAgrees,
  expectOutcomeMatches,
  expectSegmentsMatchModel,
  expectSnapshotsMatch,
  expectSumsMatch,
  figures,
  invoiceTotalsByLocator,
  priceOf,
} from '../support/story-checks.ts'
import { carryOutStep, carryOutSteps, endStory } from '../support/story-runner.ts'
import { newBusiness, step, steps } from '../support/story-steps.ts'

const SEED = 20261121

/** With the seed and the path of a shrunk counterexample, it can be run again. */
const runs = (small: number, full: number) => ({ seed: SEED, numRuns: size(small, full) })

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** The response of GET as text, with each locator replaced by the place of its first occurrence. */
function tale(story: Story): string {
  const places = new Map<string, string>()
  const placed = (locator: string): string => {
    const place = places.get(locator) ?? `#${places.size}`
    places.set(locator, place)
    return place
  }
  return JSON.stringify(answerNow(story).answer, (name, value) =>
    /(?:[lL]ocator|displayId)$/.test(name) && typeof value === 'string' ? placed(value) : value,
  ).replace(UUID, placed)
}

export function describeHistories(example: Example): void {
  describe(`a history on the ${example} example (seed ${SEED})`, () => {
    it(
      'agrees with the naive model after every step, changes no invoice, and is the same after storage',
      async () => {
        await fc.assert(
          fc.asyncProperty(newBusiness, steps, async (business, all) => {
            let story = await beginStory(example, business)
            expectModelAgrees(story)
            let asked = invoiceTotalsByLocator(story)
            const posted = journalOfChange(undefined, story.loaded.aggregate, story.now)
            const times = [story.now]
            for (const one of all) {
              const next = await carryOutStep(story, one)
              const was = story.loaded.aggregate
              posted.push(...journalOfChange(was, next.story.loaded.aggregate, next.story.now))
              times.push(next.story.now)
              expectOutcomeMatches(next)
              story = next.story
              asked = invoiceTotalsByLocator(story, asked)
              expectModelAgrees(story)
              expectSegmentsMatchModel(story)
            }
            expectSumsMatch(story)
            expectJournalConsistent(posted, story.loaded.aggregate, times)
            expect(invoiceTotalsByLocator(story)).toEqual(asked)
            const options = { summarizeQuotes: true }
            const { aggregate, product } = story.loaded
            expect(policyResponse(storedAggregate(aggregate), product, options)).toEqual(
              policyResponse(aggregate, product, options),
            )
          }),
          runs(10, 1_000),
        )
      },
      size(150_000, 3_000_000),
    )

    it(
      'has snapshots of every earlier moment that equal what GET returned then',
      async () => {
        await fc.assert(
          fc.asyncProperty(newBusiness, steps, async (business, all) => {
            let story = await beginStory(example, business)
            const answers = [answerNow(story)]
            for (const one of all) {
              ;({ story } = await carryOutStep(story, one))
              answers.push(answerNow(story))
            }
            expectSnapshotsMatch(story, answers)
          }),
          runs(3, 150),
        )
      },
      size(150_000, 3_000_000),
    )

    it(
      'gives the same policy when it is repeated',
      async () => {
        await fc.assert(
          fc.asyncProperty(newBusiness, steps, async (business, all) => {
            const [first, second] = [
              await carryOutSteps(await beginStory(example, business), all),
              await carryOutSteps(await beginStory(example, business), all),
            ]
            expect(figures(priceOf(second))).toEqual(figures(priceOf(first)))
            expect(tale(second)).toBe(tale(first))
          }),
          runs(3, 150),
        )
      },
      size(180_000, 600_000),
    )

    it(
      'has the same figures after a cancellation that is reinstated from its effective time',
      async () => {
        await fc.assert(
          fc.asyncProperty(newBusiness, steps, step, async (business, all, last) => {
            const before = await carryOutSteps(await beginStory(example, business), all)
            const cancelled = await endStory(before, last, 'cancelAndReinstate')
            fc.pre(cancelled !== undefined)
            expect(priceOf(cancelled!)).toEqual(priceOf(before))
            expect(cancelled!.loaded.aggregate.policy.effectiveEnd).toBe(
              before.loaded.aggregate.policy.effectiveEnd,
            )
            expectSumsMatch(cancelled!)
          }),
          runs(5, 250),
        )
      },
      size(180_000, 600_000),
    )

    it(
      'leaves a price of zero when it ends with a withdrawal',
      async () => {
        await fc.assert(
          fc.asyncProperty(newBusiness, steps, step, async (business, all, last) => {
            const before = await carryOutSteps(await beginStory(example, business), all)
            const withdrawn = await endStory(before, last, 'withdraw')
            fc.pre(withdrawn !== undefined)
            expect(priceOf(withdrawn!)).toMatchObject({
              grossPremium: 0,
              grossTaxes: 0,
              grossFees: 0,
              grossCommissions: 0,
              total: 0,
            })
            expectSumsMatch(withdrawn!)
          }),
          runs(3, 100),
        )
      },
      size(180_000, 600_000),
    )
  })
}
