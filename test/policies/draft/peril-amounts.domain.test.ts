import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPerilAmounts, updatePerilAmounts } from '../../../src/policy/draft/additions.ts'

const DEFAULTS = { deductible: '500.00', indemnityPerItem: '100000', indemnityInAggregate: 'unlimited' }
const codes = (request: Parameters<typeof createPerilAmounts>[1]) =>
  createPerilAmounts({}, request).problems.map(({ fieldName, code }) => `${fieldName}: ${code}`)

describe('Peril amounts', () => {
  it('use the defaults when they are missing, null or ""', () => {
    expect(
      createPerilAmounts(DEFAULTS, { deductible: null, indemnityPerItem: '', lumpSumPayment: 25.5 }),
    ).toEqual({
      amounts: { ...DEFAULTS, lumpSumPayment: '25.5' },
      problems: [],
    })
  })

  it('accept numbers and numeric text, and keep the text as sent', () => {
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

  it('report each amount that is negative, not a number, or too large to store exactly', () => {
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

  it('can be `unlimited` only for indemnities', () => {
    expect(codes({ deductible: 'unlimited', indemnityPerItem: 'unlimited' })).toEqual([
      'deductible: INVALID_TYPE',
    ])
  })

  it('have an error message that names the accepted values', () => {
    expect(createPerilAmounts({}, { indemnityPerItem: -5 }).problems[0]?.message).toBe(
      "Field 'indemnityPerItem' must be a number from 0 to 900000000000000, or 'unlimited'.",
    )
  })

  it('remain on an update unless given, and a remove flag wins over any value', () => {
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

  it('never throw for any JSON, and accepted amounts are accepted again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.oneof(fc.jsonValue(), fc.double(), fc.integer()), (a, b) => {
        const { amounts } = createPerilAmounts({}, { deductible: a, indemnityPerItem: b })
        expect(createPerilAmounts({}, amounts)).toEqual({ amounts, problems: [] })
      }),
      { seed: 20_260_715, numRuns: 500 },
    )
  })
})
