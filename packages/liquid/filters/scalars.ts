// Filters of single values: text, numbers, times and documents.
import Big from 'big.js'
import { filters as libraryFilters } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import {
  type Calendar,
  type CalendarUnit,
  DatePatternError,
  formatDate,
  formatDirectives,
} from '../date-format.ts'
import { type Filter, type Filters, isTrue, timestampOf } from '../evaluation.ts'
import { formatCurrency, formatNumber, formatPattern, NumberFormatError } from '../number-format.ts'
import { firstPlace, lastPlace, splitBy } from '../search.ts'
import {
  asInteger,
  asNumber,
  asOperand,
  ceilingOf,
  escapeHtml,
  floorOf,
  LARGEST_PLACES,
  type LiquidNumber,
  normalizeNumber,
  printedText,
} from '../values.ts'

/** A filter of text whose text arguments are optional. */
const text =
  (change: (input: string, ...args: string[]) => string): Filter =>
  (input, args, context) =>
    change(context.print(input), ...args.map(arg => context.print(arg)))

const KNOWN_ENTITY = /&(?!(?:[a-z][a-z0-9]*|#\d+|#x[0-9a-f]+);)|[<>"']/gi

/** Counts before joining, because the result may be as long as the product of its parts. */
const replaceAll: Filter = (input, args, context) => {
  const whole = context.print(input)
  const pattern = context.print(args[0])
  const replacement = context.print(args[1])
  context.budget.countMemory(whole.length)
  const parts = splitBy(whole, pattern)
  context.budget.countMemory(parts.length * replacement.length)
  return parts.join(replacement)
}

const replaceAt = (whole: string, index: number, length: number, replacement: string): string =>
  index < 0 ? whole : whole.slice(0, index) + replacement + whole.slice(index + length)

const truncate: Filter = (input, args, context) => {
  const whole = context.print(input)
  const length = args[0] === undefined ? 50 : (asInteger(args[0]) ?? 0)
  const ellipsis = args[1] === undefined ? '...' : context.print(args[1])
  if (whole.length <= length) return whole
  return whole.slice(0, Math.max(0, length - ellipsis.length)) + ellipsis
}

const truncateWords: Filter = (input, args, context) => {
  const whole = context.print(input)
  context.budget.countMemory(whole.length)
  const words = whole.trim().split(/\s+/)
  const count = Math.max(1, args[0] === undefined ? 15 : (asInteger(args[0]) ?? 1))
  const ellipsis = args[1] === undefined ? '...' : context.print(args[1])
  return words.length <= count ? whole : words.slice(0, count).join(' ') + ellipsis
}

/** Drops empty pieces at the end, as Liquid does. */
const split: Filter = (input, args, context) => {
  const whole = context.print(input)
  context.budget.countMemory(whole.length)
  const parts = splitBy(whole, context.print(args[0]))
  while (parts.at(-1) === '') parts.pop()
  return parts
}

/** `default: value`, `default: value, allow_false: true`. Replaces nil, false and empty values. */
const fallback: Filter = (input, args) => {
  const allowFalse = args.some(arg => Array.isArray(arg) && arg[0] === 'allow_false' && arg[1] === true)
  if (input === false && allowFalse) return false
  const empty = input === '' || (Array.isArray(input) && input.length === 0)
  return isTrue(input) && !empty ? input : args[0]
}

type LibraryFilter = (this: { context: RenderingContext }, input: string) => unknown

/** The library's own filters that read only text. */
const fromLibrary: Filters = Object.fromEntries(
  (['strip_html', 'url_encode', 'url_decode', 'base64_encode', 'base64_decode'] as const).map(name => {
    const filter = libraryFilters[name] as unknown as LibraryFilter
    const guarded: Filter = (input, _args, context) => {
      try {
        return filter.call({ context }, context.print(input))
      } catch (error) {
        const reason = error instanceof Error ? error.message : error
        return context.reject(`${name} cannot process its input: ${reason}.`)
      }
    }
    return [name, guarded]
  }),
)

/** Standard text filters. `capitalize` leaves the rest of the text unchanged, as Liquid on Java does. */
const textFilters: Filters = {
  append: text((input, suffix = '') => input + suffix),
  prepend: text((input, prefix = '') => prefix + input),
  capitalize: text(input => input.charAt(0).toUpperCase() + input.slice(1)),
  downcase: text(input => input.toLowerCase()),
  upcase: text(input => input.toUpperCase()),
  strip: text(input => input.trim()),
  lstrip: text(input => input.trimStart()),
  rstrip: text(input => input.trimEnd()),
  squish: text(input => input.trim().replace(/\s+/g, ' ')),
  strip_newlines: text(input => input.replace(/\r?\n/g, '')),
  newline_to_br: text(input => input.replace(/\r?\n/g, '<br />\n')),
  escape: text(escapeHtml),
  escape_once: text(input => input.replace(KNOWN_ENTITY, escapeHtml)),
  ...fromLibrary,
  remove: (input, [pattern], context) => replaceAll(input, [pattern, ''], context),
  remove_first: text((input, part = '') => replaceAt(input, firstPlace(input, part), part.length, '')),
  remove_last: text((input, part = '') => replaceAt(input, lastPlace(input, part), part.length, '')),
  replace: replaceAll,
  replace_first: text((input, part = '', by = '') =>
    replaceAt(input, firstPlace(input, part), part.length, by),
  ),
  replace_last: text((input, part = '', by = '') =>
    replaceAt(input, lastPlace(input, part), part.length, by),
  ),
  split,
  truncate,
  truncatewords: truncateWords,
  default: fallback,
}

/** Prints placeholders for page numbers. The PDF stage fills them in, because only it knows the pages. */
const documentFilters: Filters = {
  page_number: () => '<bindery-page-number></bindery-page-number>',
  page_count: () => '<bindery-page-count></bindery-page-count>',
  image_url: (input, _args, context) =>
    context.state.environment.imageUrl?.(context.print(input)) ?? context.print(input),
}

/** Returns nothing for an empty input. Fails for any other input that is not a time. */
const ofTime =
  (compute: (at: number, args: unknown[], context: RenderingContext) => unknown): Filter =>
  (input, args, context) => {
    if (input === undefined || input === null || input === '') return undefined
    const at = timestampOf(input, context)
    if (at !== undefined) return compute(at, args, context)
    const message = `'${printedText(input)}' is not a time. Give milliseconds, "now" or a date such as "2026-01-31".`
    return context.reject(message)
  }

function printedBy(format: typeof formatDate): Filter {
  return ofTime((at, [pattern], context) => {
    if (typeof pattern !== 'string') return context.reject('The date pattern is missing. Write it in quotes.')
    context.budget.countMemory(pattern.length)
    try {
      return format(at, pattern, context.state.environment.timeZone, context.state.dialect.calendar)
    } catch (error) {
      if (error instanceof DatePatternError) return context.reject(`The ${error.message}.`)
      throw error
    }
  })
}

const UNITS = new Set<string>(['year', 'month', 'week', 'day', 'hour', 'minute', 'second'])

const addTime = ofTime((at, [unitName, count], context) => {
  const unit = context.print(unitName).toLowerCase().replace(/s$/, '')
  const steps = asInteger(count)
  if (!UNITS.has(unit))
    return context.reject(
      `'${printedText(unitName)}' is not a unit of time. Write one of ${[...UNITS].join(', ')}.`,
    )
  if (steps === undefined) return context.reject('timestamp_millis_add needs a whole number after the unit.')
  try {
    const { dialect, environment } = context.state
    const reached = dialect.calendar.add(at, steps, unit as CalendarUnit, environment.timeZone)
    const moved = dialect.calendar.instant(reached)
    if (moved !== undefined) return moved
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return context.reject('The result of timestamp_millis_add is outside the years 1 to 9999.')
})

const dayCount = ofTime((start, [other], context) => {
  const end = timestampOf(other, context)
  if (end === undefined)
    return context.reject('get_30_360_day_count needs the end as a time in milliseconds.')
  return days30360(start, end, context.state.environment.timeZone, context.state.dialect.calendar)
})

/** Larger numbers are milliseconds, like all times of the data. As seconds they would be past the year 5138. */
const LARGEST_SECONDS = 100_000_000_000

const printedByDirectives = printedBy(formatDirectives)

const standardDate: Filter = (input, args, context) => {
  const number = asNumber(input)?.value
  if (number?.abs().lt(LARGEST_SECONDS)) return printedByDirectives(number.times(1000), args, context)
  return printedByDirectives(input, args, context)
}

/** Times are milliseconds. Arithmetic and printing use the tenant's zone. */
const dateFilters: Filters = {
  date: standardDate,
  timestamp_millis_print: printedBy(formatDate),
  timestamp_millis_add: addTime,
  timestamp_millis_round_day_floor: ofTime((at, _args, context) =>
    context.state.dialect.calendar.startOfDay(at, context.state.environment.timeZone),
  ),
  /** Rounds up to the start of the next day. A time at the start of a day is unchanged. */
  timestamp_millis_round_day_ceiling: ofTime((at, _args, context) => {
    const zone = context.state.environment.timeZone
    const { calendar } = context.state.dialect
    return calendar.startOfDay(at, zone) === at ? at : calendar.endOfDay(at, zone) + 1
  }),
  get_timestamp_millis: ofTime(at => at),
  get_30_360_day_count: dayCount,
}

/**
 * Counts the days from `start` to `end` by the 30/360 bond basis. Day 31 of the start counts as 30; so does day 31 of the end if
 * the start is on day 30 or 31. Negative if `end` is before `start`.
 */
function days30360(start: number, end: number, zone: string, { localParts }: Calendar): number {
  const from = localParts(start, zone)
  const to = localParts(end, zone)
  const firstDay = Math.min(from.day, 30)
  const lastDay = to.day === 31 && firstDay === 30 ? 30 : to.day
  return (to.year - from.year) * 360 + (to.month - from.month) * 30 + (lastDay - firstDay)
}

/** Multiplication takes time in proportion to the product of the numbers of digits. */
function countDigits(a: LiquidNumber, b: LiquidNumber, context: RenderingContext): void {
  context.budget.countWork(a.value.c.length * b.value.c.length)
}

/** Nil, and text that is not a number, count as 0, as everywhere in Liquid. */
const binary =
  (compute: (a: Big, b: Big) => Big): Filter =>
  (input, args, context) => {
    const a = asOperand(input)
    const b = asOperand(args[0])
    countDigits(a, b, context)
    return normalizeNumber(compute(a.value, b.value), a.whole && b.whole)
  }

/** Two whole numbers round down: 7 by 2 is 3, -7 by 2 is -4. Otherwise the result is exact to 40 places, rounded half up. */
const dividedBy: Filter = (input, args, context) => {
  const a = asOperand(input)
  const b = asOperand(args[0])
  if (b.value.eq(0)) return context.reject('Division by zero. Test the divisor before dividing.') ?? 0
  countDigits(a, b, context)
  if (a.whole && b.whole) return normalizeNumber(floorQuotient(a.value, b.value), true)
  return normalizeNumber(a.value.div(b.value), false)
}

/** The result has the sign of the divisor, because division rounds down: -7 modulo 3 is 2. */
const modulo: Filter = (input, args, context) => {
  const a = asOperand(input)
  const b = asOperand(args[0])
  if (b.value.eq(0)) return context.reject('Modulo by zero. Test the divisor before dividing.') ?? 0
  countDigits(a, b, context)
  const rest = a.value.mod(b.value)
  return normalizeNumber(
    !rest.eq(0) && rest.lt(0) !== b.value.lt(0) ? rest.plus(b.value) : rest,
    a.whole && b.whole,
  )
}

/** Uses the exact remainder: the rounded quotient of two long numbers may be one too high. */
function floorQuotient(a: Big, b: Big): Big {
  const rest = a.mod(b)
  const quotient = a.minus(rest).div(b)
  return !rest.eq(0) && rest.lt(0) !== b.lt(0) ? quotient.minus(1) : quotient
}

const unary =
  (compute: (value: Big) => Big, whole: (value: LiquidNumber) => boolean): Filter =>
  input => {
    const value = asOperand(input)
    return normalizeNumber(compute(value.value), whole(value))
  }

/** Rounds half away from zero: 346.5 to 347, -346.5 to -347. Rounds to no places by default. */
const round: Filter = (input, args) => {
  const value = asOperand(input)
  const places = Math.max(-LARGEST_PLACES, Math.min(LARGEST_PLACES, asInteger(args[0]) ?? 0))
  return normalizeNumber(value.value.round(places, Big.roundHalfUp), places <= 0 || value.whole)
}

const bound =
  (keeps: (value: Big, limit: Big) => boolean): Filter =>
  (input, args) => {
    const value = asOperand(input)
    const limit = asOperand(args[0])
    const kept = keeps(value.value, limit.value) ? value : limit
    return normalizeNumber(kept.value, kept.whole)
  }

/** Exact decimals, never binary floats. */
const arithmeticFilters: Filters = {
  plus: binary((a, b) => a.plus(b)),
  minus: binary((a, b) => a.minus(b)),
  times: binary((a, b) => a.times(b)),
  divided_by: dividedBy,
  modulo,
  abs: unary(
    value => value.abs(),
    value => value.whole,
  ),
  ceil: unary(ceilingOf, () => true),
  floor: unary(floorOf, () => true),
  round,
  at_least: bound((value, limit) => value.gte(limit)),
  at_most: bound((value, limit) => value.lte(limit)),
}

/** Nil and blank text print nothing. Other text that is not a number prints unchanged. */
const ofNumber =
  (format: (value: Big, args: unknown[], context: RenderingContext) => string): Filter =>
  (input, args, context) => {
    const number = asNumber(input)
    if (!number) return context.print(input)
    try {
      return format(number.value, args, context)
    } catch (error) {
      if (error instanceof NumberFormatError) return context.reject(`${error.message}.`)
      throw error
    }
  }

/** Returns the locale of `"en", "US"`. The default is US English. */
function localeOf([language, country]: unknown[]): string {
  if (language === undefined) return 'en-US'
  return country === undefined ? printedText(language) : `${printedText(language)}-${printedText(country)}`
}

/** With language and country, prints the tenant's currency. With a currency code, prints in English. */
const currency: Filter = ofNumber((value, args, context) => {
  const code = context.print(args[0])
  const { dialect, environment } = context.state
  const isNamed = args.length === 1 && dialect.isCurrency(code)
  const shown = isNamed ? code : environment.currency
  const locale = isNamed ? 'en-US' : localeOf(args)
  return formatCurrency(value, locale, shown, dialect.digitsOfCurrency(shown), context.budget)
})

const numberFormatFilters: Filters = {
  format_number: ofNumber((value, args, { budget }) => formatNumber(value, localeOf(args), budget)),
  format_number_currency: currency,
  format_number_pattern: ofNumber((value, [pattern]) => formatPattern(value, printedText(pattern))),
}

/** Filters of text, numbers, times and documents. */
export const scalarFilters: Filters = {
  ...textFilters,
  ...arithmeticFilters,
  ...dateFilters,
  ...numberFormatFilters,
  ...documentFilters,
}
