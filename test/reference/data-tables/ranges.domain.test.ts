import Big from 'big.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Interpolation,
  type RangeOperation,
  rangeRecord,
} from '../../../src/reference/data-tables/interpolation.ts'
import { canonicalDecimal, sortableDecimal, typedValue } from '../../../src/reference/data-tables/values.ts'
import { timesAsLong } from '../../support/scaling.ts'

const digits = (most: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: most }).map(list => list.join(''))

const decimalText = fc
  .tuple(fc.constantFrom('', '-', '+'), digits(12), digits(12))
  .map(
    ([sign, whole, places]) => `${sign}${whole}${places === '' && whole !== '' ? '' : `.${places || '0'}`}`,
  )

const same = (text: string): Big => new Big(canonicalDecimal(text)!)

describe('decimals', () => {
  it('have one canonical form for each value, and sort as text in numeric order', () => {
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
  ])('are written canonically: %s is %s', (text, canonical) => {
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
  ] as const)('have JSON values: %s %s is %s', (type, text, value) => {
    expect(typedValue(type, text)).toBe(value)
  })
})

/** Starts of contiguous ranges, in order. Each range ends where the next one starts. */
const startsOfRanges = fc
  .uniqueArray(fc.tuple(fc.integer({ min: -10_000, max: 10_000 }), fc.integer({ min: 0, max: 99 })), {
    minLength: 2,
    maxLength: 30,
    selector: ([whole, places]) => whole * 100 + places,
  })
  .map(list =>
    list
      .map(([whole, places]) => canonicalDecimal(`${whole}.${String(places).padStart(2, '0')}`)!)
      .sort((a, b) => new Big(a).cmp(b))
      .filter((one, at, all) => one !== all[at - 1]),
  )
  .filter(list => list.length >= 2)

describe('contiguous ranges', () => {
  const layout = {
    columns: [
      { name: 'from', type: 'decimal' as const },
      { name: 'to', type: 'decimal' as const },
      { name: 'name', type: 'string' as const },
    ],
    keys: [],
    range: { start: 0, end: 1 },
  }
  /** Returns the neighbours as the database does: by text that sorts like the numbers. */
  const neighboursIn = (starts: readonly string[], bound: string) => {
    const rows = starts.slice(0, -1).map((start, at) => ({
      start: sortableDecimal(start),
      cells: [start, starts[at + 1]!, `from ${start}`],
      holds: sortableDecimal(bound) <= sortableDecimal(starts[at + 1]!),
    }))
    const key = sortableDecimal(bound)
    return {
      below: rows
        .filter(({ start }) => start <= key)
        .reverse()
        .slice(0, 2),
      above: rows.filter(({ start }) => start >= key).slice(0, 2),
    }
  }
  const found = (starts: readonly string[], bound: string) =>
    rangeRecord(layout, neighboursIn(starts, bound), bound, 'record', {})?.name

  it('match every bound between the first start and the last end, and none outside', () => {
    fc.assert(
      fc.property(startsOfRanges, fc.integer({ min: -1_200_000, max: 1_200_000 }), (starts, hundredths) => {
        const bound = new Big(hundredths).div(100).toFixed()
        const [first, last] = [starts[0]!, starts.at(-1)!]
        const inside = new Big(bound).gte(first) && new Big(bound).lte(last)
        // By plain arithmetic: the last start up to the bound. The last end belongs to the last range.
        const expected = starts
          .slice(0, -1)
          .filter(start => new Big(start).lte(bound))
          .at(-1)
        expect(found(starts, bound)).toBe(inside ? `from ${expected}` : undefined)
      }),
      { numRuns: 2_000 },
    )
  })

  it('match an exact start with the row that starts there, which is also both neighbours', () => {
    fc.assert(
      fc.property(startsOfRanges, starts => {
        for (const start of starts.slice(0, -1)) {
          expect(found(starts, start)).toBe(`from ${start}`)
          const near = neighboursIn(starts, start)
          for (const operation of ['lowerAdjacent', 'upperAdjacent', 'interpolate'] as const)
            expect(rangeRecord(layout, near, start, operation, { name: 'stepUp' })?.name).toBe(
              `from ${start}`,
            )
        }
      }),
      { numRuns: 500 },
    )
  })

  it('interpolate linearly between neighbours, or step down or up to one of them', () => {
    const figures = {
      ...layout,
      columns: [layout.columns[0]!, { name: 'value', type: 'decimal' as const }],
      range: { start: 0 },
    }
    fc.assert(
      fc.property(
        fc.integer({ min: -1_000, max: 1_000 }),
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: -9_999, max: 9_999 }),
        fc.integer({ min: -9_999, max: 9_999 }),
        fc.integer({ min: 0, max: 4 }),
        (s1, width, v1, v2, quarters) => {
          const row = (start: Big, value: number) => ({
            cells: [start.toFixed(), String(value)],
            holds: true,
          })
          const [from, to] = [new Big(s1), new Big(s1).plus(width)]
          const bound = from.plus(new Big(width).times(quarters).div(4)).toFixed()
          const near = {
            below: [row(quarters === 4 ? to : from, quarters === 4 ? v2 : v1)],
            above: [row(quarters === 0 ? from : to, quarters === 0 ? v1 : v2)],
          }
          const value = (how: Interpolation) =>
            rangeRecord(figures, near, bound, 'interpolate', { value: how })?.value
          expect(value('linear')).toBe(Number(new Big(v2).minus(v1).times(quarters).div(4).plus(v1)))
          expect(value('stepDown')).toBe(quarters === 4 ? v2 : v1)
          expect(value('stepUp')).toBe(quarters === 0 ? v1 : v2)
        },
      ),
      { numRuns: 1_000 },
    )
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
  ] as const)('at %s: %s %s gives %s', (bound, operation, how, value) => {
    expect(factor(bound, operation, how)).toBe(value)
  })

  it('round half to even at the 15th decimal place', () => {
    const row = (start: string, value: string) => ({ cells: [start, value, 'x'], holds: true })
    const halfway = (v1: string, v2: string) =>
      rangeRecord(layout, { below: [row('0', v1)], above: [row('2', v2)] }, '1', 'interpolate', {
        factor: 'linear',
      })?.factor
    // Half of the last place, up and down, after an even and after an odd digit.
    expect(String(halfway('0.000000000000002', '0.000000000000003'))).toBe('2e-15')
    expect(String(halfway('0.000000000000003', '0.000000000000004'))).toBe('4e-15')
    expect(String(halfway('-0.000000000000002', '-0.000000000000003'))).toBe('-2e-15')
  })

  it('keep an empty cell empty', () => {
    const near = {
      below: [{ cells: ['0', '', 'a'], holds: true }],
      above: [{ cells: ['2', '4', 'b'], holds: true }],
    }
    expect(rangeRecord(layout, near, '1', 'interpolate', { factor: 'linear' })?.factor).toBe(null)
    expect(rangeRecord(layout, near, '1', 'interpolate', { factor: 'stepUp' })?.factor).toBe(4)
  })

  it("return the lower row's value for columns without an interpolation", () => {
    expect(rangeRecord(layout, neighbours('15'), '15', 'interpolate', { factor: 'linear' })).toEqual({
      from: 0,
      factor: 3,
      name: 'b',
    })
  })
})

it('takes time in proportion to the zeros of a decimal, as of 8,192 in one cell', async () => {
  const read = (zeros: number) => () => canonicalDecimal(`1.${'0'.repeat(zeros)}1`)
  expect(canonicalDecimal('1.2000')).toBe('1.2')
  expect(canonicalDecimal(`1.${'0'.repeat(8_000)}`)).toBe('1')
  // With quadratic work, the large one would take seconds.
  expect(await timesAsLong(read(1_000), read(32_000), { most: 100, leastMs: 2 })).toBeLessThan(100)
})
