import Big from 'big.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalDecimal, sortableDecimal } from '../../../src/resources/data-tables/decimals.ts'
import { typedValue } from '../../../src/resources/data-tables/values.ts'

const digits = (most: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: most }).map(list => list.join(''))

const decimalText = fc
  .tuple(fc.constantFrom('', '-', '+'), digits(12), digits(12))
  .map(
    ([sign, whole, places]) => `${sign}${whole}${places === '' && whole !== '' ? '' : `.${places || '0'}`}`,
  )

const same = (text: string): Big => new Big(canonicalDecimal(text)!)

describe('decimals', () => {
  it('have one form for each value, and an order as text that is their own', () => {
    fc.assert(
      fc.property(decimalText, decimalText, (a, b) => {
        const [one, other] = [canonicalDecimal(a)!, canonicalDecimal(b)!]
        const [first, second] = [sortableDecimal(one), sortableDecimal(other)]
        const order = first < second ? -1 : first > second ? 1 : 0
        expect(order).toBe(same(a).cmp(same(b)))
        expect(one === other).toBe(order === 0)
      }),
      { numRuns: 5_000 },
    )
  })

  it.each([
    ['1.0', '1'],
    ['-0.00', '0'],
    ['+007.50', '7.5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['1e3', undefined],
    ['.', undefined],
    ['', undefined],
    ['1,000', undefined],
    ['9'.repeat(41), undefined],
    [`0.${'1'.repeat(41)}`, undefined],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalDecimal(text)).toBe(canonical)
  })
})

describe('typed cells', () => {
  it.each([
    ['decimal', '1.50', 1.5],
    ['decimal', '-0', 0],
    ['decimal', '0.1', 0.1],
    ['decimal', '0.0000001', 0.0000001],
    ['decimal', '100000000000000000000000', 1e23],
    ['decimal', '0.12345678901234567890', '0.12345678901234567890'],
    ['long', '9007199254740993', '9007199254740993'],
    ['long', '9007199254740992', 9007199254740992],
    ['int', '', null],
    ['boolean', 'TRUE', true],
    ['boolean', '', null],
    ['date', '2026-02-28', '2026-02-28'],
    ['string', '', ''],
    ['string', '007', '007'],
  ] as const)('%s %s is %s', (type, text, value) => {
    expect(typedValue(type, text)).toBe(value)
  })
})
