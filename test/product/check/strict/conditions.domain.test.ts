// Conditions that always or never hold. They are warnings in strict products too.
import { describe, expect, test } from 'vitest'
import { compiled, edited } from './strict-archive.ts'

const THEFT = 'exposures/bicycle/perils/theft.premium.liquid'

/** Returns the findings after replacing the condition of the starter's theft premium. */
async function foundFor(condition: string): Promise<string[]> {
  const { configuration, findings } = await compiled(
    edited('starter', { [THEFT]: ['values.kept == "street"', condition] }),
  )
  expect(configuration).toBeDefined()
  return findings.map(({ severity, line, code, message }) => `${severity} ${line} ${code} ${message}`)
}

describe('a text or number alone in a condition', () => {
  test.each([
    ['values.kept == "street" or "garage"', '"garage"'],
    ['values.kept != "street" or "garage" or values.kept == "home"', '"garage"'],
    ['"street"', '"street"'],
    ['values.value > 5000 and 100', '100'],
  ])('is reported as always true: %s', async (condition, alone) => {
    expect(await foundFor(condition)).toContain(
      `WARNING 5 alwaysHolds ${alone} alone always holds. Write a comparison, such as 'x == ${alone}', or remove it.`,
    )
  })
})

describe('a select field whose values are not numbers', () => {
  test.each(['values.kind > 3', '3 <= values.kind', 'values.kind < 10'])(
    'is reported when it is ordered against a number: %s',
    async condition => {
      expect(await foundFor(condition)).toEqual([
        expect.stringMatching(
          /^WARNING 5 textNotOrdered 'values\.kind' is never greater or less than \d+: it is one of city, electric, race\. Compare it with these\.$/,
        ),
      ])
    },
  )
})

test.each([
  'values.value > 3',
  'values.kind == "race" or values.value >= 100',
  'true',
  'values.kept',
  'values.kind < "d"',
])('the condition %s is not reported', async condition => {
  expect(await foundFor(condition)).toEqual([])
})
