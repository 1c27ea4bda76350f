// Decimals of any length as text: the one form that equal numbers share, and one whose order as text is that of the
// numbers, so that an index of the database finds neighbours exactly.

/** Digits before the point and after it. */
export const MOST_DECIMAL_DIGITS = 40

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?$/

/** `01.50` as `1.5`, `-0` as `0`; undefined when the text is no plain decimal number, or too long a one. */
export function canonicalDecimal(text: string): string | undefined {
  const match = DECIMAL.exec(text)
  if (!match) return undefined
  const [, sign, whole = '', fraction = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = whole.replace(/^0+/, '')
  const places = fraction.replace(/0+$/, '')
  if (digits.length > MOST_DECIMAL_DIGITS || places.length > MOST_DECIMAL_DIGITS) return undefined
  const value = `${digits || '0'}${places && `.${places}`}`
  return sign === '-' && value !== '0' ? `-${value}` : value
}

/**
 * Texts of canonical decimals that sort, byte by byte, as the numbers do: `1` and how many digits stand before the
 * point, the digits, the point, the places; of a negative number every digit's complement, with an end that sorts
 * after digits.
 */
export function sortableDecimal(canonical: string): string {
  const isNegative = canonical.startsWith('-')
  const [whole = '', places = ''] = (isNegative ? canonical.slice(1) : canonical).split('.')
  const digits = whole === '0' ? '' : whole
  const text = `${String(digits.length).padStart(2, '0')}${digits}.${places}`
  if (!isNegative) return `1${text}`
  return `0${text.replace(/\d/g, digit => String(9 - Number(digit)))}~`
}
