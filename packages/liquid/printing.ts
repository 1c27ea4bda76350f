import Big from 'big.js'
import { toValue } from 'liquidjs/dist/liquid.browser.mjs'
import { TemplateError } from './limits.ts'
import { dataNumber, LiquidNumber } from './values.ts'

/**
 * The text that a value prints as: nothing for nil, numbers plain and without an exponent, lists item after item,
 * maps as JSON.
 */
export function printed(value: unknown): string {
  const plain = toValue(value)
  if (typeof plain === 'string') return plain
  if (plain === null || plain === undefined) return ''
  if (typeof plain === 'number')
    return Number.isSafeInteger(plain) ? String(plain) : String(dataNumber(plain) ?? '')
  if (plain instanceof LiquidNumber) return plain.toString()
  if (plain instanceof Big) return plain.toFixed()
  if (Array.isArray(plain)) return printedList(plain)
  if (typeof plain === 'object') return JSON.stringify(plain)
  return typeof plain === 'boolean' ? String(plain) : ''
}

/** A list may hold the same long text many times, so it can print as far more than it takes up. */
const LONGEST_LIST_TEXT = 10_000_000

function printedList(items: unknown[]): string {
  let text = ''
  for (const item of items) {
    text += printed(item)
    if (text.length > LONGEST_LIST_TEXT)
      throw new TemplateError('templateLimit', `A list prints as more than ${LONGEST_LIST_TEXT} characters.`)
  }
  return text
}
