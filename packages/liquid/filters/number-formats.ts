import type Big from 'big.js'
import { currencyCode } from '../../../src/kernel/money.ts'
import type { RenderingContext } from '../context.ts'
import { formatCurrency, formatNumber, formatPattern, NumberFormatError } from '../format/number-format.ts'
import { asNumber } from '../numbers.ts'
import { printed } from '../printing.ts'
import type { Filter, Filters } from './filter.ts'

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
  const code = args.length === 1 ? currencyCode(printed(args[0])) : undefined
  if (code) return formatCurrency(value, 'en-US', code)
  return formatCurrency(value, localeOf(args), context.state.environment.currency)
})

export const numberFormatFilters: Filters = {
  format_number: ofNumber((value, args) => formatNumber(value, localeOf(args))),
  format_number_currency: currency,
  format_number_pattern: ofNumber((value, [pattern]) => formatPattern(value, printed(pattern))),
}
