// Compares values of configurations, and computes by how much numbers differ.
import { type Decimal, decimal } from '../../kernel/money.ts'

/** Whether two values are equal. The order of properties does not matter, that of lists does. */
export const sameText = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

/** JSON with sorted properties. Undefined properties count as absent. */
export const canonical = (value: unknown): string => JSON.stringify(sortKeys(value)) ?? ''

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sortKeys(one)]),
  )
}

const NUMBER = /^[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})$/

/** The number in a cell or a literal; undefined for any other text. */
export const numberIn = (text: string): Decimal | undefined =>
  NUMBER.test(text.trim()) ? decimal(text.trim().replace(/^\+/, '')) : undefined

/** Whether two cells are equal or two spellings of one number, such as 1.5 and 1.50. */
export function sameCell(a: string, b: string): boolean {
  if (a === b) return true
  const [x, y] = [numberIn(a), numberIn(b)]
  return x !== undefined && y !== undefined && x.eq(y)
}

/**
 * The change from one number to the other in percent of the first, with two decimal places. Undefined unless both are numbers and
 * the first is not zero.
 */
export function percentBetween(from: string, to: string): number | undefined {
  const [x, y] = [numberIn(from), numberIn(to)]
  if (x === undefined || y === undefined || x.eq(0)) return undefined
  return Number(y.minus(x).div(x.abs()).times(100).toFixed(2))
}

/** Formats a percentage, such as `+11.1 %`. */
export const percentText = (percent: number): string =>
  `${percent > 0 ? '+' : ''}${Number(percent.toFixed(2))} %`
