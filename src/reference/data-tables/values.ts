// Cells of tables: what each type of column accepts, when two cells are equal, and how responses show them (resources brief 1.2 and
// 1.4).
import type { ColumnType } from '../../product/resources.ts'
import type { TableLayout } from './layout.ts'

/** A typed cell in a response. An empty cell is null, unless the column is text. */
export type CellValue = string | number | boolean | null

const DAY = /^\d{4}-\d\d-\d\d$/
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?$/i

const isDay = (text: string): boolean =>
  DAY.test(text) &&
  Number.isFinite(Date.parse(text)) &&
  new Date(Date.parse(text)).toISOString().startsWith(text)

/** A time without an offset is UTC. */
function instantText(text: string): string | undefined {
  const [, day, time, offset = 'Z'] = TIME.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const at = Date.parse(`${day}T${time}${offset.toUpperCase()}`)
  return Number.isFinite(at) ? new Date(at).toISOString() : undefined
}

/** Accepts whole numbers from `least` to `most`. `1.0` counts as `1`. */
const wholeNumberBetween = (least: bigint, most: bigint) => (text: string) => {
  const whole = canonicalDecimal(text)
  if (whole === undefined || whole.includes('.')) return undefined
  const value = BigInt(whole)
  return value >= least && value <= most ? whole : undefined
}

const normalizeBoolean = (text: string): string | undefined => {
  const word = text.toLowerCase()
  return word === 'true' || word === 'false' ? word : undefined
}

type TypeRule = {
  /** Returns a text that all cells with the same value share; undefined if the text is not of the type. */
  readonly canonical: (text: string) => string | undefined
  /** The name of the type in messages. */
  readonly named: string
}

export const TYPE_RULES: Readonly<Record<ColumnType, TypeRule>> = {
  string: { canonical: text => text, named: 'text' },
  int: {
    canonical: wholeNumberBetween(-(2n ** 31n), 2n ** 31n - 1n),
    named: 'a whole number of at most 32 bits',
  },
  long: {
    canonical: wholeNumberBetween(-(2n ** 63n), 2n ** 63n - 1n),
    named: 'a whole number of at most 64 bits',
  },
  decimal: { canonical: canonicalDecimal, named: 'a plain decimal number' },
  boolean: { canonical: normalizeBoolean, named: 'true or false' },
  date: { canonical: text => (isDay(text) ? text : undefined), named: 'a date such as 2026-11-21' },
  datetime: { canonical: instantText, named: 'a time such as 2026-11-21T12:00:00Z' },
}

/**
 * Converts a cell for a response. A number is a JSON number if that is exact (`1.50` becomes 1.5), or else text. The values of a
 * numeric column are therefore numbers unless one is too long.
 */
export function typedValue(type: ColumnType, text: string): CellValue {
  if (type === 'string') return text
  if (text === '') return null
  if (type === 'boolean') return text.toLowerCase() === 'true'
  if (type === 'date' || type === 'datetime') return text
  // Adding 0 turns -0 into 0.
  const number = Number(text) + 0
  return canonicalDecimal(plainText(number)) === canonicalDecimal(text) ? number : text
}

/** Formats a number without an exponent: 1e21 and 1e-7 are written out. */
function plainText(number: number): string {
  const text = String(number)
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!match) return text
  const [, sign, first = '', rest = '', exponent] = match
  const power = Number(exponent)
  if (Math.abs(power) > 60) return text
  return power < 0
    ? `${sign}0.${'0'.repeat(-power - 1)}${first}${rest}`
    : `${sign}${first}${rest.padEnd(power, '0')}`
}

/** The most digits before the point, and the most after it. */
export const MOST_DECIMAL_DIGITS = 40

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?$/

/** Converts `01.50` to `1.5` and `-0` to `0`. Returns undefined for text that is not a plain decimal number or is too long. */
export function canonicalDecimal(text: string): string | undefined {
  const match = DECIMAL.exec(text)
  if (!match) return undefined
  const [, sign, whole = '', fraction = ''] = match
  if (whole === '' && fraction === '') return undefined
  const digits = whole.replace(/^0+/, '')
  const places = withoutZerosAtEnd(fraction)
  if (digits.length > MOST_DECIMAL_DIGITS || places.length > MOST_DECIMAL_DIGITS) return undefined
  const value = `${digits || '0'}${places && `.${places}`}`
  return sign === '-' && value !== '0' ? `-${value}` : value
}

/** A pattern would search each zero of a long run to its end. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/**
 * Returns a text whose byte order is the numeric order: `1`, the number of digits before the point, these digits, the point, and
 * the decimal places. A negative number has `0` instead of `1`, each digit is complemented, and a character that sorts after digits
 * is appended.
 */
export function sortableDecimal(canonical: string): string {
  const isNegative = canonical.startsWith('-')
  const [whole = '', places = ''] = (isNegative ? canonical.slice(1) : canonical).split('.')
  const digits = whole === '0' ? '' : whole
  const text = `${String(digits.length).padStart(2, '0')}${digits}.${places}`
  if (!isNegative) return `1${text}`
  return `0${text.replace(/\d/g, digit => String(9 - Number(digit)))}~`
}

export type TableRecord = Readonly<Record<string, CellValue>>

/** The typed cells, by column name. */
export const typedRow = ({ columns }: TableLayout, cells: readonly string[]): TableRecord =>
  Object.fromEntries(columns.map(({ name, type }, at) => [name, typedValue(type, cells[at] ?? '')]))
