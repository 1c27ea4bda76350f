// Plain rates are read without the schema, with the same result as by the schema.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PerilRatesResult } from '../../src/extension/plugins/contract.ts'
import { plainRates, readPerilRates } from '../../src/extension/plugins/translation.ts'
import { processorClock } from '../support/scaling.ts'

const plainAmount = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, 0, 12.5, '0', '007.10', '999999999999.99', 1e-7),
  fc.nat(1_000_000).map(minor => (minor / 100).toFixed(2)),
)
const oddAmount = fc.constantFrom<unknown>(
  '-1',
  -0.5,
  ' 12 ',
  '1e3',
  '+4',
  '',
  'x',
  '.5',
  '5.',
  1e21,
  '9'.repeat(13),
  true,
  [],
  {},
)
const amount = fc.oneof({ weight: 30, arbitrary: plainAmount }, { weight: 1, arbitrary: oddAmount })
const older = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(undefined, null) },
  { weight: 1, arbitrary: amount },
)
const odd = fc.constantFrom<unknown>(undefined, null, 'text', 3, [], [[]], {})

const commission = fc.record(
  {
    recipient: fc.oneof(
      { weight: 30, arbitrary: fc.string({ minLength: 1, maxLength: 5 }) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>('', 'x'.repeat(129), '\0', '\ud800', 7, undefined) },
    ),
    yearlyAmount: amount,
    exactAmount: amount,
    amount: older,
  },
  { requiredKeys: ['recipient'] },
)

const rate = fc.record(
  {
    yearlyPremium: amount,
    exactPremium: amount,
    yearlyTechnicalPremium: amount,
    exactTechnicalPremium: amount,
    premium: older,
    technicalPremium: older,
    commissions: fc.oneof(
      { weight: 20, arbitrary: fc.array(commission, { maxLength: 3 }) },
      { weight: 1, arbitrary: odd },
    ),
    note: fc.string(),
  },
  { requiredKeys: ['yearlyPremium'] },
)

const answers = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record(
      {
        pricedPerilCharacteristics: fc.dictionary(
          fc.uuid(),
          fc.oneof({ weight: 40, arbitrary: rate }, { weight: 1, arbitrary: odd }),
          { maxKeys: 4 },
        ),
        exceptionMessage: fc.oneof(
          { weight: 20, arbitrary: fc.constantFrom(undefined, null) },
          { weight: 1, arbitrary: fc.string() },
        ),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: odd },
)

describe('rates that a plugin returned', () => {
  it('are read as the schema reads them, or are left to the schema', () => {
    let plain = 0
    fc.assert(
      fc.property(answers, answer => {
        const read = plainRates(answer)
        if (!read) return
        plain += 1
        const { success, data } = PerilRatesResult.safeParse(answer)
        expect(success).toBe(true)
        expect(data?.exceptionMessage).toBeUndefined()
        expect(Object.fromEntries(read)).toEqual(data?.pricedPerilCharacteristics)
      }),
      { numRuns: 3_000, seed: 20261122 },
    )
    expect(plain).toBeGreaterThan(500)
  })

  it('are rejected within a second if an amount has 40,000 digits', () => {
    const taken = processorClock()
    const yearlyPremium = `${'1'.repeat(40_000)}x`
    expect(PerilRatesResult.safeParse({ pricedPerilCharacteristics: { a: { yearlyPremium } } }).success).toBe(
      false,
    )
    expect(taken()).toBeLessThan(1_000)
  })

  it('are plain if a script writes them as the example does, as text or numbers', () => {
    const rates = {
      a: { yearlyPremium: '120.84', commissions: [{ recipient: 'b', exactAmount: 3.5 }] },
      b: { exactPremium: 0 },
    }
    expect([...(plainRates({ pricedPerilCharacteristics: rates }) ?? [])].length).toBe(2)
  })

  it('are exact if an older script returns premium, technicalPremium and amount', async () => {
    const older = { premium: 12.5, technicalPremium: '10', commissions: [{ recipient: 'b', amount: '1.25' }] }
    const newer = {
      exactPremium: '12.5',
      exactTechnicalPremium: 10,
      commissions: [{ recipient: 'b', exactAmount: 1.25 }],
    }
    const both = {
      ...newer,
      premium: '99',
      technicalPremium: '99',
      commissions: [{ ...newer.commissions[0], amount: 99 }],
    }
    const pricedPerilCharacteristics = { older, newer, both }
    const { rates } = await readPerilRates({ pricedPerilCharacteristics }, 'main/rater.js')
    expect(rates.get('older')).toEqual(rates.get('newer'))
    expect(rates.get('both')).toEqual(rates.get('newer'))
    expect(String(rates.get('older')!.exactPremium)).toBe('12.5')
  })

  it('can be negative, for a cover that is a discount', async () => {
    const text = await readPerilRates(
      { pricedPerilCharacteristics: { a: { yearlyPremium: '-120.50' } } },
      'main/rater.js',
    )
    const older = { premium: -1e-7, commissions: [{ recipient: 'b', amount: '-12' }] }
    const number = await readPerilRates({ pricedPerilCharacteristics: { a: older } }, 'main/rater.js')
    expect(String(text.rates.get('a')!.yearlyPremium)).toBe('-120.5')
    expect(String(number.rates.get('a')!.exactPremium)).toBe('-1e-7')
    expect(String(number.rates.get('a')!.commissions![0]!.exactAmount)).toBe('-12')
  })

  it('are rejected by the schema with the place and the reason', async () => {
    const answer = { pricedPerilCharacteristics: { a: { yearlyPremium: '1' }, b: { yearlyPremium: '1,5' } } }
    const perilOf = (locator: string): string => ` (peril of ${locator})`
    await expect(readPerilRates(answer, 'main/rater.js', perilOf)).rejects.toMatchObject({
      code: 'pluginFailed',
      message:
        "Plugin getPerilRates (main/rater.js) returned an invalid answer: 'pricedPerilCharacteristics.b.yearlyPremium' must be an amount: a number or its digits, below 10^13 (peril of b).",
    })
    expect(await readPerilRates({ exceptionMessage: 'too old' }, 'main/rater.js')).toEqual({
      rates: new Map(),
      exceptionMessage: 'too old',
    })
  })

  it('are ignored next to an exceptionMessage, even if they are invalid', async () => {
    for (const pricedPerilCharacteristics of [null, { a: null }, { a: { yearlyPremium: Number.NaN } }, []])
      expect(
        await readPerilRates({ pricedPerilCharacteristics, exceptionMessage: 'too old' }, 'main/rater.js'),
      ).toEqual({ rates: new Map(), exceptionMessage: 'too old' })
  })

  it('are rejected with the place stated once, and NaN is named', async () => {
    const refusal = async (answer: unknown): Promise<string> => {
      const problem = await readPerilRates(answer, 'main/rater.js').then(String, (one: Error) => one.message)
      return problem.replace('Plugin getPerilRates (main/rater.js) returned an invalid answer: ', '')
    }
    const of = (rate: unknown) => refusal({ pricedPerilCharacteristics: { 'a-1': rate } })
    expect([
      await refusal(null),
      await refusal({ pricedPerilCharacteristics: [] }),
      await of(100),
      await of({ yearlyPremium: 1, commissions: {} }),
      await of({ yearlyPremium: 'NaN' }),
      await of({ exactPremium: '$1' }),
    ]).toEqual([
      'the answer must be an object, not null.',
      "'pricedPerilCharacteristics' must be an object, not a list.",
      "'pricedPerilCharacteristics.a-1' must be an object, not a number.",
      "'pricedPerilCharacteristics.a-1.commissions' must be a list, not an object.",
      "'pricedPerilCharacteristics.a-1.yearlyPremium' must be an amount: a number or its digits, below 10^13, not NaN.",
      "'pricedPerilCharacteristics.a-1.exactPremium' must be an amount: a number or its digits, below 10^13.",
    ])
  })

  it('are used if exceptionMessage is blank', async () => {
    for (const exceptionMessage of ['', ' ', null]) {
      const answer = { pricedPerilCharacteristics: { a: { yearlyPremium: '1' } }, exceptionMessage }
      const { rates, exceptionMessage: told } = await readPerilRates(answer, 'main/rater.js')
      expect([rates.size, told]).toEqual([1, undefined])
    }
  })
})
