import Big from 'big.js'
import type { RenderingContext } from '../context.ts'
import type { Filter, Filters } from '../filter.ts'
import { formatCurrency, formatNumber, formatPattern, NumberFormatError } from '../number-format.ts'
import { printed } from '../printing.ts'
import {
  asInteger,
  asNumber,
  asOperand,
  ceilingOf,
  floorOf,
  LARGEST_PLACES,
  type LiquidNumber,
  simplest,
} from '../values.ts'

/** Digits times digits is what a product costs. */
function countDigits(a: LiquidNumber, b: LiquidNumber, context: RenderingContext): void {
  context.budget.countWork(a.value.c.length * b.value.c.length)
}

/** Nothing, and text that is no number, counts as 0, as everywhere in Liquid. */
const binary =
  (compute: (a: Big, b: Big) => Big): Filter =>
  (input, args, context) => {
    const a = asOperand(input)
    const b = asOperand(args[0])
    countDigits(a, b, context)
    return simplest(compute(a.value, b.value), a.whole && b.whole)
  }

/** Whole by whole rounds down: 7 by 2 is 3, -7 by 2 is -4. Otherwise exact to 40 places, rounded half up. */
const dividedBy: Filter = (input, args, context) => {
  const a = asOperand(input)
  const b = asOperand(args[0])
  if (b.value.eq(0)) return context.reject('Division by zero. Test the divisor before dividing.') ?? 0
  countDigits(a, b, context)
  if (a.whole && b.whole) return simplest(floorQuotient(a.value, b.value), true)
  return simplest(a.value.div(b.value), false)
}

/** Has the sign of the divisor, as rounding down demands: -7 modulo 3 is 2. */
const modulo: Filter = (input, args, context) => {
  const a = asOperand(input)
  const b = asOperand(args[0])
  if (b.value.eq(0)) return context.reject('Modulo by zero. Test the divisor before dividing.') ?? 0
  countDigits(a, b, context)
  const rest = a.value.mod(b.value)
  return simplest(!rest.eq(0) && rest.lt(0) !== b.value.lt(0) ? rest.plus(b.value) : rest, a.whole && b.whole)
}

/** From the exact remainder: the rounded quotient of two long numbers may be one too high. */
function floorQuotient(a: Big, b: Big): Big {
  const rest = a.mod(b)
  const quotient = a.minus(rest).div(b)
  return !rest.eq(0) && rest.lt(0) !== b.lt(0) ? quotient.minus(1) : quotient
}

const unary =
  (compute: (value: Big) => Big, whole: (value: LiquidNumber) => boolean): Filter =>
  input => {
    const value = asOperand(input)
    return simplest(compute(value.value), whole(value))
  }

/** Half away from zero: 346.5 gives 347, -346.5 gives -347. Without places the result is whole. */
const round: Filter = (input, args) => {
  const value = asOperand(input)
  const places = Math.max(-LARGEST_PLACES, Math.min(LARGEST_PLACES, asInteger(args[0]) ?? 0))
  return simplest(value.value.round(places, Big.roundHalfUp), places <= 0 || value.whole)
}

const bound =
  (keeps: (value: Big, limit: Big) => boolean): Filter =>
  (input, args) => {
    const value = asOperand(input)
    const limit = asOperand(args[0])
    const kept = keeps(value.value, limit.value) ? value : limit
    return simplest(kept.value, kept.whole)
  }

/** Arithmetic on exact decimals, never on binary floats. */
export const arithmeticFilters: Filters = {
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

/** Nothing and blank text print nothing; other text that is no number prints as it is. */
const ofNumber =
  (format: (value: Big, args: unknown[], context: RenderingContext) => string): Filter =>
  (input, args, context) => {
    const number = asNumber(input)
    if (!number) return printed(input)
    try {
      return format(number.value, args, context)
    } catch (error) {
      if (error instanceof NumberFormatError) return context.reject(`${error.message}.`)
      throw error
    }
  }

/** `"en", "US"` as a locale; English of the United States when left out. */
function localeOf([language, country]: unknown[]): string {
  if (language === undefined) return 'en-US'
  return country === undefined ? printed(language) : `${printed(language)}-${printed(country)}`
}

/** Arguments: language and country, with the tenant's currency; or a currency code, written as in English. */
const currency: Filter = ofNumber((value, args, context) => {
  const code = printed(args[0])
  if (args.length === 1 && context.state.dialect.isCurrency(code)) return formatCurrency(value, 'en-US', code)
  return formatCurrency(value, localeOf(args), context.state.environment.currency)
})

export const numberFormatFilters: Filters = {
  format_number: ofNumber((value, args) => formatNumber(value, localeOf(args))),
  format_number_currency: currency,
  format_number_pattern: ofNumber((value, [pattern]) => formatPattern(value, printed(pattern))),
}
