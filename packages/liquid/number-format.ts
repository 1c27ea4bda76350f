import Big from 'big.js'
import type { RenderBudget } from './limits.ts'

export class NumberFormatError extends Error {}

const formats = new Map<string, Intl.NumberFormat>()
/**
 * Also the limit for one rendering, since a format takes as long to create as a hundred nodes to render. There are about 180
 * currencies.
 */
const MOST_FORMATS = 250
const LONGEST_PATTERN = 100

function formatOf(
  locale: string,
  currency: string | undefined,
  digits: number,
  budget: RenderBudget,
): Intl.NumberFormat {
  const key = `${locale} ${currency} ${digits}`
  budget.countFormat(key, MOST_FORMATS)
  const known = formats.get(key)
  if (known) return known
  const plain = { minimumFractionDigits: 0, maximumFractionDigits: digits }
  const amount = {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  } as const
  try {
    const format = new Intl.NumberFormat(locale, currency ? amount : plain)
    if (formats.size >= MOST_FORMATS) formats.clear()
    formats.set(key, format)
    return format
  } catch {
    throw new NumberFormatError(`'${locale}' is not a locale with language and country, such as 'en-US'`)
  }
}

const exactText = (value: Big): `${number}` => value.toFixed() as `${number}`

const NUMBER_DIGITS = 3

/** Formats in the locale's form with at most 3 places, rounded half up: 123456.7 in `en-US` is `123,456.7`. */
export function formatNumber(value: Big, locale: string, budget: RenderBudget): string {
  const rounded = value.round(NUMBER_DIGITS, Big.roundHalfUp)
  return formatOf(locale, undefined, NUMBER_DIGITS, budget).format(exactText(rounded))
}

/**
 * Formats in the locale's form, with the symbol first (brief 5.4): 123456.7 in `de-DE` is `€123.456,70`. `digits` is the number
 * of digits of the minor unit; the runtime knows only the number that is usual for cash.
 */
export function formatCurrency(
  value: Big,
  locale: string,
  currency: string,
  digits: number,
  budget: RenderBudget,
): string {
  const format = formatOf(locale, currency, digits, budget)
  const rounded = value.round(digits, Big.roundHalfUp)
  const parts = format.formatToParts(exactText(rounded.abs()))
  const symbol = parts.find(part => part.type === 'currency')?.value ?? currency
  const written = parts
    .filter(({ type }) => type !== 'currency' && type !== 'literal')
    .map(({ value }) => value)
  return `${rounded.lt(0) ? '-' : ''}${symbol}${written.join('')}`
}

type Pattern = { prefix: string; digits: string; suffix: string }

/** Splits a pattern into prefix, digits and suffix. Quoted text belongs to the prefix or suffix. */
function patternOf(text: string): Pattern {
  const [, prefix = '', digits = '', suffix = ''] = PATTERN.exec(text) ?? []
  if (!/[#0]/.test(digits))
    throw new NumberFormatError(`'${text}' is not a number pattern such as '#,##0.00'`)
  return { prefix, digits, suffix }
}

const PATTERN = /^((?:'[^']*'|[^#0,.'])*)([#0,.]+)((?:'[^']*'|[^#0,.'])*)$/

const unquoteAffix = (affix: string): string => affix.replace(/'([^']*)'/g, (_, text: string) => text || "'")

function scaleOf(affixes: string): number {
  if (affixes.includes('%')) return 100
  return affixes.includes('‰') ? 1000 : 1
}

/**
 * Formats by a pattern of Java's DecimalFormat: `0` is a digit, `#` an optional digit, `,` sets the group size, `.` is the
 * point, `%` per cent, `;` precedes the form of negative numbers, and text is in single quotes. Rounds half up, unlike Java
 * (half even), so that a printed amount equals the amount charged.
 */
export function formatPattern(value: Big, pattern: string): string {
  if (pattern.length > LONGEST_PATTERN) throw new NumberFormatError('The number pattern is too long')
  const [positive = '', negative] = pattern.split(/;(?=(?:[^']*'[^']*')*[^']*$)/)
  const { prefix, digits, suffix } = patternOf(positive)
  const [whole = '', fraction = '', more] = digits.split('.')
  if (more !== undefined || fraction.includes(','))
    throw new NumberFormatError(`'${pattern}' is not a number pattern such as '#,##0.00'`)
  const affixes = unquotedOnly(prefix + suffix)
  const rounded = value.times(scaleOf(affixes)).round(fraction.length, Big.roundHalfUp)
  const [integer = '0', places = ''] = rounded.abs().toFixed(fraction.length).split('.')
  const printed = groupDigits(atLeast(integer, whole), whole) + point(places, fraction)
  if (!rounded.lt(0)) return unquoteAffix(prefix) + printed + unquoteAffix(suffix)
  if (negative === undefined) return `-${unquoteAffix(prefix)}${printed}${unquoteAffix(suffix)}`
  const form = patternOf(negative)
  return unquoteAffix(form.prefix) + printed + unquoteAffix(form.suffix)
}

const unquotedOnly = (affixes: string): string => affixes.replace(/'[^']*'/g, '')

function atLeast(integer: string, whole: string): string {
  const digits = whole.replace(/[^0]/g, '').length
  return digits === 0 && integer === '0' ? '' : integer.padStart(digits, '0')
}

function groupDigits(integer: string, whole: string): string {
  const size = whole.includes(',') ? whole.length - whole.lastIndexOf(',') - 1 : 0
  if (size === 0) return integer
  const first = integer.length % size
  const groups = first === 0 ? [] : [integer.slice(0, first)]
  for (let at = first; at < integer.length; at += size) groups.push(integer.slice(at, at + size))
  return groups.join(',')
}

/** Drops zeros beyond the minimum number of places. */
function point(places: string, fraction: string): string {
  const least = fraction.lastIndexOf('0') + 1
  let length = places.length
  while (length > least && places[length - 1] === '0') length -= 1
  return length > 0 ? `.${places.slice(0, length)}` : ''
}
