import Big from 'big.js'
import { digitsOfCurrency } from './currencies.ts'
import { Refusal } from './errors.ts'
import { Memo } from './maps.ts'

/** ISO 4217 alphabetic code, e.g. `EUR`. */
export type CurrencyCode = string & { readonly __brand: 'CurrencyCode' }

/** An exact decimal that is not money: a rate, a factor, a count of months. */
export type Decimal = Big

/** Decimal places of month rates and month counts (brief 3.1). */
export const RATE_PLACES = 7

/**
 * The largest amount, in minor units, of a price, a payment or the total of a policy. It is below 2^53 / 10: ten of them add up
 * exactly, in SQL too, and each sum survives as a JSON number. Stored amounts can therefore always be read, and so can their sums
 * over many policies.
 */
export const LARGEST_MINOR = 900_000_000_000_000

/**
 * An amount of one currency, as a whole number of its minor units. `+` does not type-check; use the functions below.
 * Only `money` rounds (half-up, brief 3.1).
 */
export type Money = { readonly minor: number; readonly currency: CurrencyCode }

export class MoneyError extends Error {}

/** Parses plain text (no separators) or a number. Throws `MoneyError` on anything else. */
export function decimal(value: string | number | Big): Decimal {
  if (value instanceof Big) return value
  try {
    return new Big(typeof value === 'string' ? value.trim() : value)
  } catch {
    throw new MoneyError(`'${value}' is not a decimal number.`)
  }
}

/** Returns the digits of the minor unit by ISO 4217: 2 for EUR, 0 for JPY, 3 for BHD. */
export const minorDigits: (currency: CurrencyCode) => number = digitsOfCurrency

let knownCurrencies: ReadonlySet<string> | undefined

/** Returns undefined for a code that is not in ISO 4217. */
export function currencyCode(text: string): CurrencyCode | undefined {
  knownCurrencies ??= new Set(Intl.supportedValuesOf('currency'))
  return knownCurrencies.has(text) ? (text as CurrencyCode) : undefined
}

const powers = new Memo<number, Decimal>(100)

const powerOfTen = (digits: number): Decimal => powers.getOrMake(digits, () => new Big(10).pow(digits))

/** Rounds `value` half-up (away from zero at .5) to minor units. Throws 422 for an amount that is too large to store. */
export function money(value: Decimal | string | number, currency: CurrencyCode): Money {
  const digits = minorDigits(currency)
  const scaled = decimal(value).round(digits, Big.roundHalfUp).times(powerOfTen(digits))
  return storableMoney(Number(scaled.toFixed(0)), currency)
}

/** A decimal short enough to be exact as one integer. */
const SHORT_DECIMAL = /^(-?)(\d{1,12})(?:\.(\d{1,3}))?$/

/** Converts short plain text to minor units. Returns undefined where exact decimals are needed. */
function shortMinor(text: string, digits: number): number | undefined {
  const [, sign, whole, decimals = ''] = SHORT_DECIMAL.exec(text) ?? []
  if (whole === undefined || decimals.length > digits) return undefined
  const minor = Number(whole + decimals.padEnd(digits, '0'))
  return sign === '-' ? -minor : minor
}

/** Converts `value` without rounding. Returns undefined when it has too many decimal places for the currency. */
export function exactMoney(value: Decimal | string, currency: CurrencyCode): Money | undefined {
  const short = typeof value === 'string' ? shortMinor(value, minorDigits(currency)) : undefined
  if (short !== undefined) return storableMoney(short, currency)
  const amount = money(value, currency)
  return toDecimal(amount).eq(decimal(value)) ? amount : undefined
}

/** Converts minor units as the database stores and sums them. Throws 422 for a sum that is too large to be exact. */
export function fromMinor(minor: number, currency: CurrencyCode): Money {
  assertExact(minor, currency)
  return { minor: minor === 0 ? 0 : minor, currency }
}

function storableMoney(minor: number, currency: CurrencyCode): Money {
  assertStorable({ minor, currency })
  return fromMinor(minor, currency)
}

/** Throws 422 for an amount that is too large to store. */
export function assertStorable({ minor, currency }: Money): void {
  if (Math.abs(minor) > LARGEST_MINOR)
    throw new Refusal(
      'amountOutOfRange',
      `An amount of ${minor} exceeds ${LARGEST_MINOR} minor units of ${currency}, the largest amount that can be stored.`,
    )
}

function assertExact(minor: number, currency: CurrencyCode): void {
  if (!Number.isSafeInteger(minor))
    throw new Refusal(
      'amountOutOfRange',
      `A sum of ${minor} minor units of ${currency} is too large to be exact.`,
    )
}

export const zero = (currency: CurrencyCode): Money => ({ minor: 0, currency })

function assertSameCurrency(a: Money, b: Money): void {
  if (a.currency !== b.currency)
    throw new MoneyError(`Amounts in ${a.currency} and ${b.currency} cannot be combined.`)
}

/** Throws `MoneyError` for two currencies, and 422 for a sum that is too large to be exact. */
export function plus(a: Money, b: Money): Money {
  assertSameCurrency(a, b)
  return fromMinor(a.minor + b.minor, a.currency)
}

/** Throws `MoneyError` for two currencies, and 422 for a difference that is too large to be exact. */
export function minus(a: Money, b: Money): Money {
  assertSameCurrency(a, b)
  return fromMinor(a.minor - b.minor, a.currency)
}

/** Returns the amount with the opposite sign. Zero stays 0 and never becomes -0. */
export const negated = (a: Money): Money => fromMinor(-a.minor, a.currency)

/** Adds the amount to the sum under the name. */
export function addByName(sums: Map<string, Money>, name: string, amount: Money): void {
  const earlier = sums.get(name)
  sums.set(name, earlier ? plus(earlier, amount) : amount)
}

/** Returns zero of `currency` when there are no amounts. */
export function sum(amounts: Iterable<Money>, currency: CurrencyCode): Money {
  const total = { minor: 0, currency }
  for (const amount of amounts) {
    assertSameCurrency(total, amount)
    total.minor += amount.minor
    assertExact(total.minor, currency)
  }
  return total
}

/** Returns zero of `currency` when there are no items. */
export const sumOf = <Item>(
  items: Iterable<Item>,
  amountOf: (item: Item) => Money,
  currency: CurrencyCode,
): Money => sum(Array.from(items, amountOf), currency)

/** Converts to a decimal in major units. */
export function toDecimal(amount: Money): Decimal {
  return new Big(amount.minor).div(powerOfTen(minorDigits(amount.currency)))
}

/** Formats as decimal text in major units, with all minor digits: `379.15`. */
export function toText({ minor, currency }: Money): string {
  const digits = minorDigits(currency)
  if (digits === 0) return String(minor)
  const text = String(Math.abs(minor)).padStart(digits + 1, '0')
  return `${minor < 0 ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/**
 * Converts to the JSON number of a response (brief 0.2). Both operands are exact, so the quotient equals the parsed decimal text.
 */
export const toNumber = ({ minor, currency }: Money): number => minor / 10 ** minorDigits(currency)

/**
 * Returns the name of the property that has the currency of an amount. The contract gives the technical premium of a segment no
 * currency property of its own: it shares that of the premium.
 */
export function currencyNameOf(name: string, record: object): string | undefined {
  const own = `${name}Currency`
  if (own in record) return own
  return name === 'technicalPremium' && 'premiumCurrency' in record ? 'premiumCurrency' : undefined
}
