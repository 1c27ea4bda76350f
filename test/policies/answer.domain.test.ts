import { expect, it } from 'vitest'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { beginStory } from '../support/policy-story.ts'

/** The paths of properties that are computed when read. */
const getters = (value: unknown, path = ''): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(Object.getOwnPropertyDescriptors(value)).flatMap(([name, { get, value: own }]) =>
        get ? [`${path}/${name}`] : getters(own, `${path}/${name}`),
      )

it('a policy response has no getters, which would double the time to serialize it', async () => {
  const { loaded } = await beginStory('motor', { which: 0, schedule: 0, startDays: 0, days: 365 })
  const answer = policyResponse(loaded.aggregate, loaded.product, { summarizeQuotes: true })
  expect(answer.characteristics[0]!.grossPremium).toBeGreaterThan(0)
  expect(getters(answer)).toEqual([])
})
