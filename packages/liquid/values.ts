// Numbers in templates. A whole number that a JavaScript number represents exactly remains one. Every other number is a
// `LiquidNumber`. Text that looks like a number counts as one (brief 5.4).
import Big from 'big.js'
import { Drop, toValue } from 'liquidjs/dist/liquid.browser.mjs'
import { ITEM_WORK, type RenderBudget, TemplateError } from './limits.ts'

const Exact = Big()
Exact.DP = 40
Exact.RM = Big.roundHalfUp

/** Results are rounded to this many places. Otherwise compounding in a loop would grow without end. */
export const LARGEST_PLACES = 100
/** The maximum number of digits before the point. A larger result is a `templateLimit`. */
const LARGEST_DIGITS = 400

/**
 * An exact decimal. `whole` means written without a decimal point, or computed only from such numbers: dividing two whole
 * numbers rounds down, as in Liquid. Prints without exponent and trailing zeros.
 */
export class LiquidNumber {
  readonly #value: Big
  readonly #whole: boolean

  constructor(value: Big, whole: boolean) {
    this.#value = value
    this.#whole = whole
  }

  get value(): Big {
    return this.#value
  }

  get whole(): boolean {
    return this.#whole
  }

  toString(): string {
    return this.#value.toFixed()
  }

  toJSON(): string {
    return this.toString()
  }
}

const NUMBER_TEXT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/

/** Returns undefined if the value is not a number. Ignores blanks around text, and does not read exponents. */
export function asNumber(value: unknown): LiquidNumber | undefined {
  if (value instanceof LiquidNumber) return value
  if (typeof value === 'number')
    return Number.isFinite(value) ? new LiquidNumber(new Exact(value), Number.isInteger(value)) : undefined
  if (value instanceof Big) return new LiquidNumber(new Exact(value), value.eq(value.round(0)))
  if (typeof value !== 'string' || value.length > LARGEST_DIGITS) return undefined
  const text = value.trim()
  if (!NUMBER_TEXT.test(text)) return undefined
  return new LiquidNumber(new Exact(text.replace('+', '').replace(/\.$/, '')), !text.includes('.'))
}

/** Like `asNumber`, but returns 0 for anything else, as Liquid's arithmetic does for blank and other text. */
export const asOperand = (value: unknown): LiquidNumber => asNumber(value) ?? ZERO

const ZERO = new LiquidNumber(new Exact(0), true)

/** Reads a literal of the source: `12` is a plain number, `100.0` keeps its decimal point. */
export function literalNumber(text: string): number | LiquidNumber {
  const parsed = asNumber(text)
  return parsed ? normalizeNumber(parsed.value, parsed.whole) : Number(text)
}

/** An amount of money in the data. Templates see a decimal, even in whole units. It is converted when it is read. */
export class DataAmount {
  readonly #value: number

  constructor(value: number) {
    this.#value = value
  }

  toJSON(): number {
    return this.#value
  }
}

/** Whether templates see the value of the data as a number. */
export const isDataNumber = (value: unknown): value is number | Big | DataAmount =>
  typeof value === 'number' || value instanceof DataAmount || value instanceof Big

/** Amounts and rates (`Big`) are not whole numbers, even without decimal places. */
export function dataNumber(value: number | Big | DataAmount): unknown {
  if (typeof value === 'object')
    return normalizeNumber(new Exact(value instanceof DataAmount ? value.toJSON() : value), false)
  if (Number.isSafeInteger(value)) return value
  const parsed = asNumber(value)
  return parsed && normalizeNumber(parsed.value, parsed.whole)
}

/** Normalises a result. Throws `templateLimit` if it has more than 400 digits. */
export function normalizeNumber(value: Big, whole: boolean): number | LiquidNumber {
  if (value.c[0] === 0) return whole ? 0 : new LiquidNumber(new Exact(0), false)
  if (value.e >= LARGEST_DIGITS)
    throw new TemplateError('templateLimit', `A number has more than ${LARGEST_DIGITS} digits.`)
  if (whole && value.e < 15) return Number(value.toFixed(0))
  const places = value.c.length - value.e - 1
  return new LiquidNumber(places > LARGEST_PLACES ? value.round(LARGEST_PLACES) : value, whole)
}

/** Returns the exact decimal for callers. */
export const toDecimal = (value: LiquidNumber): Big => new Big(value.toString())

/** Returns the number without its fraction, or undefined if the value is not a number or is too large to count with. */
export function asInteger(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  const parsed = asNumber(value)?.value.round(0, Big.roundDown)
  if (!parsed || parsed.e >= 15) return undefined
  return Number(parsed.toFixed(0))
}

/** Rounds down to a whole number, also below zero: -1.5 becomes -2. */
export function floorOf(value: Big): Big {
  const cut = value.round(0, Big.roundDown)
  return cut.gt(value) ? cut.minus(1) : cut
}

/** Rounds up to a whole number, also below zero: -1.5 becomes -1. */
export function ceilingOf(value: Big): Big {
  const cut = value.round(0, Big.roundDown)
  return cut.lt(value) ? cut.plus(1) : cut
}

/** Whether the value is a map of the data, as templates see it. */
export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof LiquidNumber) &&
  !(value instanceof Drop) &&
  !isDataNumber(value)

/** Returns the names of a map and counts them, because each takes time to list. */
export function namesOf(map: object, budget: RenderBudget): string[] {
  const names = Object.keys(map)
  budget.countWork(names.length * ITEM_WORK)
  return names
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML. Also safe in attributes. */
export const escapeHtml = (input: string): string =>
  input.replace(/[&<>"']/g, character => ENTITIES[character]!)

/** Returns the text that a value prints as: nothing for nil, numbers without an exponent, lists item after item, maps as JSON. */
export function printedText(value: unknown): string {
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

/** A list may contain the same long text many times, so that its text is far longer than the memory it needs. */
const LONGEST_LIST_TEXT = 10_000_000

function printedList(items: unknown[]): string {
  let text = ''
  for (const item of items) {
    text += printedText(item)
    if (text.length > LONGEST_LIST_TEXT)
      throw new TemplateError(
        'templateLimit',
        `The text of a list has more than ${LONGEST_LIST_TEXT} characters.`,
      )
  }
  return text
}
