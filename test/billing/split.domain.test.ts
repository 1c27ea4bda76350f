import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CurrencyCode, fromMinor, LARGEST_MINOR, money, sum, toText } from '../../src/kernel/money.ts'
import { splitBy } from '../../src/policy/fold/shares.ts'

const EUR = 'EUR' as CurrencyCode
const twelve = new Array<bigint>(12).fill(1n)
const split = (amount: string, currency: string, weights: bigint[]): string[] =>
  splitBy(weights)(money(amount, currency as CurrencyCode)).map(toText)
const eleven = (part: string): string[] => new Array<string>(11).fill(part)

describe('Splitting an amount over installments', () => {
  test('the last part includes what rounding down left over', () => {
    expect(split('100.00', 'EUR', twelve)).toEqual([...eleven('8.33'), '8.37'])
  })

  test('the last part is reduced by what rounding up added', () => {
    expect(split('200.00', 'EUR', twelve)).toEqual([...eleven('16.67'), '16.63'])
  })

  test('parts are whole minor units in currencies with no digits and with three', () => {
    expect(split('10000', 'JPY', twelve)).toEqual([...eleven('833'), '837'])
    expect(split('10.000', 'BHD', twelve)).toEqual([...eleven('0.833'), '0.837'])
  })

  test('an amount too small to divide is entirely on the last part', () => {
    expect(split('0.07', 'EUR', twelve)).toEqual([...eleven('0.00'), '0.07'])
  })

  test('the last part is zero when rounding up leaves nothing', () => {
    expect(split('0.11', 'EUR', twelve)).toEqual([...eleven('0.01'), '0.00'])
    expect(split('0.01', 'EUR', [1n, 1n])).toEqual(['0.01', '0.00'])
  })

  test('a refund is split like the charge that it takes back', () => {
    expect(split('-200.00', 'EUR', twelve)).toEqual([...eleven('-16.67'), '-16.63'])
  })

  test('the remainder is on the last part with a weight', () => {
    expect(split('1.00', 'EUR', [0n, 1n, 1n, 1n, 0n])).toEqual(['0.00', '0.33', '0.33', '0.34', '0.00'])
  })

  test('a part of a period gets its share', () => {
    expect(split('123.00', 'EUR', [31n, 31n, 15n])).toEqual(['49.52', '49.52', '23.96'])
  })

  test('weights that are negative or all zero throw a RangeError', () => {
    expect(() => split('1.00', 'EUR', [1n, -1n])).toThrow(RangeError)
    expect(() => split('1.00', 'EUR', [0n])).toThrow(RangeError)
    expect(() => split('1.00', 'EUR', [])).toThrow(RangeError)
  })

  test('parts add up, keep the sign, are equal for equal weights, and are zero for weight zero', () => {
    const currency = fc.constantFrom('EUR', 'JPY', 'BHD').map(code => code as CurrencyCode)
    const minor = fc.oneof(
      fc.integer({ min: -2_000, max: 2_000 }),
      fc.integer({ min: -LARGEST_MINOR, max: LARGEST_MINOR }),
    )
    const weight = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 10n ** 25n))
    const weights = fc.array(weight, { minLength: 1, maxLength: 60 }).filter(all => all.some(one => one > 0n))
    fc.assert(
      fc.property(currency, minor, weights, (code, amount, all) => {
        const parts = splitBy(all)(fromMinor(amount, code))
        expect(parts).toHaveLength(all.length)
        expect(sum(parts, code).minor).toBe(amount)
        const last = all.findLastIndex(one => one > 0n)
        const seen = new Map<bigint, number>()
        for (const [index, part] of parts.entries()) {
          expect(part.minor * amount).toBeGreaterThanOrEqual(0)
          if (all[index] === 0n) expect(part.minor).toBe(0)
          if (index === last) continue
          expect(part.minor).toBe(seen.get(all[index]!) ?? part.minor)
          seen.set(all[index]!, part.minor)
        }
      }),
      { seed: 20_261_101, numRuns: 1_000 },
    )
  })

  test('every part but the last is less than one minor unit away from its exact share', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.array(fc.bigInt(0n, 1_000n), { minLength: 1, maxLength: 53 }),
        (amount, rest) => {
          const all = [...rest, 1n]
          const total = all.reduce((a, b) => a + b, 0n)
          for (const [index, part] of splitBy(all)(fromMinor(amount, EUR)).slice(0, -1).entries()) {
            const distance = BigInt(part.minor) * total - BigInt(amount) * all[index]!
            expect(distance < total && distance > -total).toBe(true)
          }
        },
      ),
      { seed: 20_261_102, numRuns: 300 },
    )
  })
})
