// Text that people read: amounts, times in the tenant's zone, names.
import { digitsOfCurrency } from '../src/kernel/currencies.ts'
import { zone } from './session.ts'
import { FRAME } from './words.ts'

/** Returns `make`, which is called once for each key. */
export const cachedByKey = <Value>(make: (key: string) => Value): ((key: string) => Value) => {
  const made = new Map<string, Value>()
  return key => {
    if (!made.has(key)) made.set(key, make(key))
    return made.get(key)!
  }
}

const amountFormat = (currency: string, more: Intl.NumberFormatOptions = {}): Intl.NumberFormat => {
  const digits = digitsOfCurrency(currency)
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    ...more,
  })
}

const currencyFormat = cachedByKey(currency => amountFormat(currency))
const signedFormat = cachedByKey(currency => amountFormat(currency, { signDisplay: 'exceptZero' }))

/** Passes decimal text to Intl, which formats it exactly. */
const exact = (text: string): number => text as unknown as number

export const money = (amount: string | undefined, currency: string): string =>
  amount === undefined ? '–' : currencyFormat(currency).format(exact(amount))

/** Formats an amount with its sign, for changes. */
export const signedMoney = (amount: string | undefined, currency: string): string =>
  amount === undefined ? '–' : signedFormat(currency).format(exact(amount))

const dayFormat = cachedByKey(
  timeZone => new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'medium' }),
)
const timeFormat = cachedByKey(
  timeZone => new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'medium', timeStyle: 'short' }),
)
const shortFormat = cachedByKey(
  timeZone => new Intl.DateTimeFormat(undefined, { timeZone, day: 'numeric', month: 'short' }),
)
const clockFormat = cachedByKey(
  timeZone =>
    new Intl.DateTimeFormat('en', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    }),
)

/** Returns milliseconds. Times are milliseconds as text, or ISO 8601. */
export function msOf(time: string | number): number {
  if (typeof time === 'number') return time
  return /^-?\d+$/.test(time) ? Number(time) : Date.parse(time)
}

export const day = (time: string | number): string => dayFormat(zone()).format(msOf(time))
export const shortDay = (time: string | number): string => shortFormat(zone()).format(msOf(time))
export const moment = (time: string | number): string => timeFormat(zone()).format(msOf(time))

/** Formats only the day if the time is the beginning of a day, and otherwise the day and the time. */
export const dayOrMoment = (time: string | number): string =>
  clockFormat(zone()).format(msOf(time)) === '00:00:00' ? day(time) : moment(time)

const monthFormat = cachedByKey(
  timeZone => new Intl.DateTimeFormat(undefined, { timeZone, month: 'long', year: 'numeric' }),
)
const yearFormat = cachedByKey(timeZone => new Intl.DateTimeFormat(undefined, { timeZone, year: 'numeric' }))

/** Formats `2026-11` as November 2026. */
export const monthName = (month: string): string => monthFormat('UTC').format(msOf(`${month}-01T00:00:00Z`))

/** Formats a date to the precision of its field: second, day, month or year. */
export function date(time: string, precision: string | undefined): string {
  if (precision === 'year') return yearFormat(zone()).format(msOf(time))
  if (precision === 'month') return monthFormat(zone()).format(msOf(time))
  return precision === 'second' ? moment(time) : day(time)
}

/** A time in epoch milliseconds, from the year 2001 on. Locators are shorter, and quoted text is as somebody entered it. */
const EPOCH_MS = /(?<![\d.,'-])[1-9]\d{12,14}(?![\d'])(?![.,]\d)/g

/** The end of the year 9999, the latest time that the service accepts. */
const LATEST_MS = 253_402_300_799_999

/** Returns a message of the service with its times as people read them. */
export const readableTimes = (message: string): string =>
  message.replace(EPOCH_MS, time => (Number(time) <= LATEST_MS ? dayOrMoment(time) : time))

/** Formats a span. `to` is exclusive. */
export const span = (from: string | number, to: string | number): string =>
  `${dayOrMoment(from)} – ${dayOrMoment(to)}`

const TRANSACTIONS: Readonly<Record<string, string>> = FRAME.transactions

/** Returns the kind of a modification, or the type of an endorsement, as words. */
export function transaction(name: string): string {
  const kind = /^modification\.policy\.(\w+)$/.exec(name)?.[1]
  return (kind && TRANSACTIONS[kind]) ?? words(name)
}

/** Formats identifiers such as `own_damage`, `endorsement.issued` and `inGrace` as words. */
export function words(name: string): string {
  const text = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_.-]+/g, ' ')
    .toLowerCase()
    .trim()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const first = (values: Readonly<Record<string, string[]>>, pattern: RegExp): string | undefined =>
  Object.entries(values)
    .find(([name, list]) => pattern.test(name) && list.some(text => text.trim() !== ''))?.[1]
    .join(' ')

/** Returns the name of a policyholder from the fields in which data dictionaries usually have it, or else its first values. */
export function personName(values: Readonly<Record<string, string[]>>): string {
  const company = first(values, /company|organi[sz]ation|firm/i)
  const person = [first(values, /^(?:first|given|fore)/i), first(values, /^(?:last|family|sur)/i)]
  const named = person.filter(part => part !== undefined).join(' ')
  if (named && company) return `${named}, ${company}`
  return (
    named ||
    company ||
    first(values, /name/i) ||
    Object.values(values).flat().slice(0, 2).join(' ') ||
    FRAME.unnamed
  )
}

/** Returns a name without a title as words. Codes, such as `NY`, stay unchanged. */
export const titleOrWords = (value: string, displayName: string): string =>
  value === displayName && /[a-z]/.test(value) ? words(value) : displayName
