import { type Decimal, decimal } from '../../kernel/money.ts'

/** Digits before and after the point, each: keeps the arithmetic of rating templates cheap. */
export const LARGEST_DIGIT_COUNT = 40

const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/

/** Plain decimal text: a minus sign, digits, a point; no separators, plus sign or exponent (brief 6.4). */
export const isPlainNumber = (text: string): boolean => PLAIN_NUMBER.test(text)

/** Digits after the point as written: 2 for `5.00`. The text must be a plain number. */
export const decimalPlacesOf = (text: string): number => {
  const point = text.indexOf('.')
  return point < 0 ? 0 : text.length - point - 1
}

/** The number, or undefined when the text is not plain or has more than 40 digits on a side of the point. */
export function plainDecimal(text: string): Decimal | undefined {
  if (!isPlainNumber(text)) return undefined
  const places = decimalPlacesOf(text)
  const whole = text.replace('-', '').length - (places > 0 ? places + 1 : 0)
  return places > LARGEST_DIGIT_COUNT || whole > LARGEST_DIGIT_COUNT ? undefined : decimal(text)
}
