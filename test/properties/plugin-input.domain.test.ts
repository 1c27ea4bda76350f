// What plugins see of policies with random histories: the same as responses show, with numbers as text, packed or not.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pack, unpack } from '../../src/extension/plugins/runners/packing.ts'
import { asPluginInput } from '../../src/extension/plugins/translation.ts'
import { type CurrencyCode, minorDigits } from '../../src/kernel/money.ts'
import type { Example } from '../support/configurations.ts'
import { beginStory } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'
import { answerNow } from '../support/story-checks.ts'
import { carryOutStep } from '../support/story-runner.ts'
import { newBusiness, steps } from '../support/story-steps.ts'

/** The response as JSON with its numbers as text, amounts with all of their digits (brief 5.5). */
const textual = (answer: object): string =>
  JSON.stringify(answer, function (this: Record<string, unknown>, name, value: unknown) {
    if (typeof value !== 'number') return value
    const currency =
      this[`${name}Currency`] ?? (name === 'technicalPremium' ? this.premiumCurrency : undefined)
    return typeof currency === 'string' ? value.toFixed(minorDigits(currency as CurrencyCode)) : String(value)
  })

const examples: Example[] = ['motor', 'home']

describe.each(examples)('A policy of the %s example as plugins see it', example => {
  it(
    'equals the response with its numbers as text, in every property and in the same order',
    async () => {
      await fc.assert(
        fc.asyncProperty(newBusiness, steps, async (business, all) => {
          let story = await beginStory(example, business)
          for (const one of [undefined, ...all]) {
            if (one) ({ story } = await carryOutStep(story, one))
            const { answer } = answerNow(story)
            const before = JSON.stringify(answer)
            const input = [{ policy: asPluginInput(answer) }]
            const seen = unpack(pack(input), [record => ({ ...record })])
            expect(JSON.stringify(seen)).toBe(`[{"policy":${textual(answer)}}]`)
            expect(JSON.stringify(input)).toBe(JSON.stringify(seen))
            expect(JSON.stringify(answer)).toBe(before)
          }
        }),
        { seed: 20261121, numRuns: size(3, 300) },
      )
    },
    size(60_000, 1_200_000),
  )
})
