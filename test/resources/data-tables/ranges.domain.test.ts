import Big from 'big.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalDecimal, sortableDecimal } from '../../../src/resources/data-tables/decimals.ts'
import {
  type Interpolation,
  type RangeOperation,
  rangeRecord,
} from '../../../src/resources/data-tables/interpolation.ts'
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

describe('operations of range tables', () => {
  const layout = {
    columns: [
      { name: 'from', type: 'decimal' as const },
      { name: 'factor', type: 'decimal' as const },
      { name: 'name', type: 'string' as const },
    ],
    keys: [],
    range: { start: 0 },
  }
  const rows = [
    ['-10', '1', 'a'],
    ['0', '2', 'b'],
    ['30', '4', 'c'],
  ]
  const neighbours = (bound: string) => {
    const side = (fits: (start: number) => boolean) =>
      rows.filter(([start]) => fits(Number(start))).map(cells => ({ cells, holds: true }))
    return {
      below: side(start => start <= Number(bound))
        .reverse()
        .slice(0, 2),
      above: side(start => start >= Number(bound)).slice(0, 2),
    }
  }
  const factor = (bound: string, operation: RangeOperation, how: Interpolation = 'linear') =>
    rangeRecord(layout, neighbours(bound), bound, operation, { factor: how })?.factor

  it.each([
    ['-10', 'interpolate', 'linear', 1],
    ['-5', 'interpolate', 'linear', 1.5],
    ['-2.5', 'interpolate', 'linear', 1.75],
    ['10', 'interpolate', 'linear', 2.666666666666667],
    ['10', 'interpolate', 'stepUp', 4],
    ['10', 'interpolate', 'stepDown', 2],
    ['0', 'interpolate', 'stepUp', 2],
    ['31', 'interpolate', 'linear', undefined],
    ['-11', 'interpolate', 'linear', undefined],
    ['60', 'extrapolate', 'linear', 6],
    ['60', 'extrapolate', 'stepUp', 4],
    ['60', 'extrapolate', 'stepDown', 4],
    ['-20', 'extrapolate', 'linear', 0],
    ['-20', 'extrapolate', 'stepUp', 1],
    ['10', 'extrapolate', 'linear', undefined],
    ['10', 'lowerAdjacent', 'linear', 2],
    ['10', 'upperAdjacent', 'linear', 4],
    ['31', 'upperAdjacent', 'linear', undefined],
    ['31', 'record', 'linear', 4],
    ['-11', 'record', 'linear', undefined],
  ] as const)('at %s: %s %s is %s', (bound, operation, how, value) => {
    expect(factor(bound, operation, how)).toBe(value)
  })

  it('leave columns that are not named as the lower row has them', () => {
    expect(rangeRecord(layout, neighbours('15'), '15', 'interpolate', { factor: 'linear' })).toEqual({
      from: 0,
      factor: 3,
      name: 'b',
    })
  })
})
