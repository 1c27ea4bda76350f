// Cells of tables: what each type of column accepts, when two are equal, and how answers show them (resources brief 1.2 and 1.4).
import type { ColumnType } from '../../product/resources.ts'
import type { TableLayout } from './layout.ts'

/** A typed cell of an answer. An empty cell is null unless the column is text. */
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

/** Whole numbers from `least` to `most`; `1.0` counts as `1`. */
const within = (least: bigint, most: bigint) => (text: string) => {
  const whole = canonicalDecimal(text)
  if (whole === undefined || whole.includes('.')) return undefined
  const value = BigInt(whole)
  return value >= least && value <= most ? whole : undefined
}

const truth = (text: string): string | undefined => {
  const word = text.toLowerCase()
  return word === 'true' || word === 'false' ? word : undefined
}

type TypeRule = {
  /** The text that all cells of the same value share; undefined if the text is not of the type. */
  readonly canonical: (text: string) => string | undefined
  /** The type's name in messages. */
  readonly named: string
}

export const TYPE_RULES: Readonly<Record<ColumnType, TypeRule>> = {
  string: { canonical: text => text, named: 'text' },
  int: { canonical: within(-(2n ** 31n), 2n ** 31n - 1n), named: 'a whole number of 32 bits' },
  long: { canonical: within(-(2n ** 63n), 2n ** 63n - 1n), named: 'a whole number of 64 bits' },
  decimal: { canonical: canonicalDecimal, named: 'a plain decimal number' },
  boolean: { canonical: truth, named: 'true or false' },
  date: { canonical: text => (isDay(text) ? text : undefined), named: 'a date as 2026-11-21' },
  datetime: { canonical: instantText, named: 'a time as 2026-11-21T12:00:00Z' },
}

/**
 * The cell as an answer shows it. A number is a JSON number if that is exact (`1.50` is 1.5), else text; so a column's values are numbers
 * unless one is too long.
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

/** Never has an exponent: 1e21 and 1e-7 are written out. */
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

/** Digits before the point, and digits after it. */
export const MOST_DECIMAL_DIGITS = 40

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?$/

/** `01.50` as `1.5`, `-0` as `0`; undefined for text that is not a plain decimal number or is too long. */
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
 * A text whose byte order is the numeric order: `1` and the count of digits before the point, the digits, the point, the places. For a
 * negative number each digit is complemented, and an end that sorts after digits is added.
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

/** The cells by column name. */
export const typedRow = ({ columns }: TableLayout, cells: readonly string[]): TableRecord =>
  Object.fromEntries(columns.map(({ name, type }, at) => [name, typedValue(type, cells[at] ?? '')]))
