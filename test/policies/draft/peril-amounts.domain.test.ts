import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPerilAmounts, updatePerilAmounts } from '../../../src/policy/draft/additions.ts'

const DEFAULTS = { deductible: '500.00', indemnityPerItem: '100000', indemnityInAggregate: 'unlimited' }
const codes = (request: Parameters<typeof createPerilAmounts>[1]) =>
  createPerilAmounts({}, request).problems.map(({ fieldName, code }) => `${fieldName}: ${code}`)

describe('peril amounts', () => {
  it('come from the defaults where the request leaves them out, sends null or ""', () => {
    expect(
      createPerilAmounts(DEFAULTS, { deductible: null, indemnityPerItem: '', lumpSumPayment: 25.5 }),
    ).toEqual({
      amounts: { ...DEFAULTS, lumpSumPayment: '25.5' },
      problems: [],
    })
  })

  it('take numbers and numeric text, and keep the text as sent', () => {
    const { amounts, problems } = createPerilAmounts(DEFAULTS, {
      deductible: 250,
      lumpSumPayment: '0',
      indemnityInAggregate: '1000000.00',
      indemnityPerEvent: 'unlimited',
    })
    expect(problems).toEqual([])
    expect(amounts).toEqual({
      deductible: '250',
      lumpSumPayment: '0',
      indemnityInAggregate: '1000000.00',
      indemnityPerEvent: 'unlimited',
      indemnityPerItem: '100000',
    })
  })

  it('report every amount that is negative, no number, or past what can be stored exactly', () => {
    expect(
      codes({
        deductible: -1,
        lumpSumPayment: '1,000',
        indemnityInAggregate: true,
        indemnityPerEvent: 'Unlimited',
        indemnityPerItem: '900000000000001',
      }),
    ).toEqual([
      'deductible: INVALID_VALUE',
      'lumpSumPayment: INVALID_TYPE',
      'indemnityInAggregate: INVALID_TYPE',
      'indemnityPerEvent: INVALID_TYPE',
      'indemnityPerItem: INVALID_VALUE',
    ])
  })

  it('are unlimited only where they are indemnities', () => {
    expect(codes({ deductible: 'unlimited', indemnityPerItem: 'unlimited' })).toEqual([
      'deductible: INVALID_TYPE',
    ])
  })

  it('say what is wrong and what to do', () => {
    expect(createPerilAmounts({}, { indemnityPerItem: -5 }).problems[0]?.message).toBe(
      "Field 'indemnityPerItem' must be a number from 0 to 900000000000000, or 'unlimited'.",
    )
  })

  it('stay on update unless named, and a remove flag beats a value, even a wrong one', () => {
    const current = { deductible: '500', lumpSumPayment: '10', indemnityPerItem: '100' }
    expect(
      updatePerilAmounts(current, {
        deductible: 'much',
        removeDeductible: true,
        removeLumpSumPayment: false,
        removeIndemnityPerEvent: true,
        indemnityPerItem: '200',
      }),
    ).toEqual({ amounts: { lumpSumPayment: '10', indemnityPerItem: '200' }, problems: [] })
  })

  it('are read from any JSON without a throw, and what was accepted is accepted again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.oneof(fc.jsonValue(), fc.double(), fc.integer()), (a, b) => {
        const { amounts } = createPerilAmounts({}, { deductible: a, indemnityPerItem: b })
        expect(createPerilAmounts({}, amounts)).toEqual({ amounts, problems: [] })
      }),
      { seed: 20_260_715, numRuns: 500 },
    )
  })
})
