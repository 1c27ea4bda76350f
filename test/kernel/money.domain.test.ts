import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type CurrencyCode,
  decimal,
  exactMoney,
  fromMinor,
  LARGEST_MINOR,
  minus,
  money,
  negated,
  plus,
  sum,
  toNumber,
  toText,
} from '../../src/kernel/money.ts'

const CURRENCIES = ['EUR', 'JPY', 'BHD'] as CurrencyCode[]

const plainText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.integer({ min: 0, max: 899_999_999_999 }),
    fc.stringMatching(/^\d{0,4}$/),
  )
  .map(([sign, whole, decimals]) => `${sign}${whole}${decimals === '' ? '' : `.${decimals}`}`)

it('an amount is the same read from a text and from the exact decimal of that text', () => {
  fc.assert(
    fc.property(plainText, fc.constantFrom(...CURRENCIES), (text, currency) => {
      expect(exactMoney(text, currency)).toEqual(exactMoney(decimal(text), currency))
    }),
    { numRuns: 2_000 },
  )
})

it.each([
  ['12.50', 'EUR', 1_250],
  ['-0.05', 'EUR', -5],
  ['-0', 'EUR', 0],
  ['1.5', 'BHD', 1_500],
  ['7', 'JPY', 7],
])('reads %s %s as %d minor units', (text, currency, minor) => {
  expect(exactMoney(text, currency as CurrencyCode)).toEqual(fromMinor(minor, currency as CurrencyCode))
})

it.each([
  // ISO 4217 defines these digits, even if cash or the runtime uses others.
  ['1234.56', 'HUF', 123_456],
  ['1234.56', 'RSD', 123_456],
  ['1234.56', 'COP', 123_456],
  ['1234.567', 'IQD', 1_234_567],
  ['1234', 'ISK', 1_234],
])('reads %s %s as %d minor units in every runtime', (text, code, minor) => {
  const amount = exactMoney(text, code as CurrencyCode)!
  expect(amount.minor).toBe(minor)
  expect(toText(amount)).toBe(text)
})

it.each([
  ['12.505', 'EUR'],
  ['0.5', 'JPY'],
  ['1.0005', 'BHD'],
])('%s %s has more decimal places than the currency', (text, currency) => {
  expect(exactMoney(text, currency as CurrencyCode)).toBeUndefined()
})

it('the JSON number of an amount is the number that its decimal text parses to', () => {
  const minor = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(minor, fc.constantFrom(...CURRENCIES), (some, currency) => {
      const amount = fromMinor(some, currency)
      expect(toNumber(amount)).toBe(Number(toText(amount)))
    }),
    { numRuns: 2_000 },
  )
})

it('sum adds ten of the largest amounts, and rejects larger totals and other currencies', () => {
  const [euro, yen] = CURRENCIES as [CurrencyCode, CurrencyCode]
  const largest = fromMinor(LARGEST_MINOR, euro)
  const ten = Array.from({ length: 10 }, () => largest)
  expect(sum([fromMinor(105, euro), fromMinor(-5, euro)], euro)).toEqual({ minor: 100, currency: 'EUR' })
  expect(sum(ten, euro).minor).toBe(10 * LARGEST_MINOR)
  expect(() => sum([...ten, largest, negated(largest)], euro)).toThrow(/too large to be exact/)
  expect(() => sum([fromMinor(1, yen)], euro)).toThrow(/cannot be combined/)
})

it.each([
  ['0.125', 'EUR', 13],
  ['-0.125', 'EUR', -13],
  ['0.124999', 'EUR', 12],
  ['2.5', 'JPY', 3],
])('%s %s is rounded half away from zero to %d minor units', (text, currency, minor) => {
  expect(money(text, currency as CurrencyCode).minor).toBe(minor)
})

it('amounts of two currencies are neither added nor subtracted', () => {
  const [euro, yen] = CURRENCIES as [CurrencyCode, CurrencyCode]
  expect(() => plus(fromMinor(1, euro), fromMinor(1, yen))).toThrow(/cannot be combined/)
  expect(() => minus(fromMinor(1, euro), fromMinor(1, yen))).toThrow(/cannot be combined/)
})

it('an amount beyond the largest one is rejected', () => {
  expect(money('9000000000000', 'EUR' as CurrencyCode).minor).toBe(LARGEST_MINOR)
  expect(() => money('9000000000000.01', 'EUR' as CurrencyCode)).toThrow(/exceeds/)
  expect(() => exactMoney('900000000001', 'BHD' as CurrencyCode)).toThrow(/exceeds/)
})
