// Text that people read as a number and arithmetic does not.
import { isNumeric } from './domains.ts'

/** Digits, mixed with letters that look like digits, commas, currencies or a percent sign. */
const LOOKS_LIKE_NUMBER = /^\s*[$€£]?\s*[+-]?[\dOolI][\dOolI.,'’\u00a0 ]*\s*(?:%|[$€£]|[A-Z]{3})?\s*$/

/** Returns advice on how to write a text that looks like a number but is not one; undefined for any other text. */
export function malformedNumberAdvice(text: string): string | undefined {
  if (isNumeric(text) || !/\d/.test(text) || text.length > 40) return undefined
  if (!LOOKS_LIKE_NUMBER.test(text)) return undefined
  if (/[OolI]/.test(text.replace(/[A-Z]{3}\s*$/, ''))) {
    const digits = text.replace(/[Oo]/g, '0').replace(/[lI]/g, '1').trim()
    return `It has a letter that looks like a digit: write '${digits}'.`
  }
  if (/%/.test(text)) return `Write a percentage as a share: '${shareOf(text)}'.`
  if (/^\s*[+-]?\d+,\d+\s*$/.test(text))
    return `Write a decimal with a point, not a comma: '${text.trim().replace(',', '.')}'.`
  return 'Write only digits with a decimal point.'
}

/** Converts a percentage to the factor that arithmetic needs. */
function shareOf(text: string): string {
  const number = Number(text.replace('%', '').replace(',', '.').trim())
  return Number.isFinite(number) ? String(Number((number / 100).toPrecision(12))) : '0.05'
}
