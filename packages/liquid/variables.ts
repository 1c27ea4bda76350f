import { toValue } from 'liquidjs/dist/liquid.browser.mjs'
import { dataNumber, isDataNumber, LiquidNumber } from './numbers.ts'

/** Of all variables together: values, and characters of text; what is beyond is `CUT`. */
const MOST_VALUES = 2_000
const MOST_CHARACTERS = 100_000
const DEEPEST = 6
const CUT = '…'

/**
 * What a template assigned, as plain data: numbers where a JSON number is the very value, else their text. Made of no
 * more than so many values, however much of its data a template assigned.
 */
export function plainVariables(scope: object): Record<string, unknown> {
  let values = 0
  let characters = 0
  const entries = (map: object, depth: number): [string, unknown][] => {
    const made: [string, unknown][] = []
    for (const name of Object.keys(map)) {
      if (values >= MOST_VALUES) {
        made.push([CUT, CUT])
        break
      }
      made.push([name, plain((map as Record<string, unknown>)[name], depth)])
    }
    return made
  }
  const plain = (given: unknown, depth: number): unknown => {
    values += 1
    if (values > MOST_VALUES || depth > DEEPEST) return CUT
    const value = toValue(given)
    if (value === null || value === undefined || typeof value === 'boolean') return value ?? null
    if (isDataNumber(value) || value instanceof LiquidNumber) return plainNumber(value)
    if (typeof value === 'string') {
      const room = MOST_CHARACTERS - characters
      characters += value.length
      return value.length > room ? `${value.slice(0, Math.max(0, room)).toWellFormed()}${CUT}` : value
    }
    if (Array.isArray(value)) {
      const items: unknown[] = []
      for (const item of value) {
        items.push(plain(item, depth + 1))
        if (values > MOST_VALUES) break
      }
      return items
    }
    return typeof value === 'object' ? Object.fromEntries(entries(value, depth + 1)) : null
  }
  return Object.fromEntries(entries(scope, 1))
}

function plainNumber(value: Parameters<typeof dataNumber>[0] | LiquidNumber): number | string {
  const text = String(value instanceof LiquidNumber ? value : dataNumber(value))
  const number = Number(text)
  return String(number) === text ? number : text
}
