// Amounts of a request, exact to the currency's places (rule 11 of resources brief 9.3).
import { Refusal } from '../../../kernel/errors.ts'
import {
  type CurrencyCode,
  exactMoney,
  fromMinor,
  LARGEST_MINOR,
  type Money,
  toText,
} from '../../../kernel/money.ts'

/** The amount, or the rule that it breaks, as the end of a sentence that names it. */
export function readAmount(text: string, currency: CurrencyCode): Money | string {
  try {
    const amount = exactMoney(text, currency)
    return amount ?? `${text} must have no more decimal places than ${currency} has.`
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    const largest = toText(fromMinor(LARGEST_MINOR, currency))
    return `${text} must not be beyond ${largest} ${currency}, the largest amount that is kept.`
  }
}
