import { Drop, type Operators, toValue, toValueSync } from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from './context.ts'
import { ITEM_WORK, STEP_WORK } from './limits.ts'
import { printed } from './printing.ts'
import { asNumber } from './values.ts'

type Work = Pick<RenderingContext, 'budget'>

/** `empty` and `blank`, which know themselves what equals them. */
type ComparableDrop = Drop & { equals(other: unknown): unknown }

const isComparable = (value: unknown): value is ComparableDrop =>
  value instanceof Drop && 'equals' in value && typeof value.equals === 'function'

export const isTrue = (value: unknown): boolean => {
  const plain = toValue(value)
  return plain !== false && plain !== undefined && plain !== null
}

/** Negative, zero or positive; undefined when the two have no order: nothing, a list, text against a number. */
export function order(left: unknown, right: unknown): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const a = asNumber(left)
  const b = asNumber(right)
  if (a && b) return a.value.cmp(b.value)
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0
  return undefined
}

/**
 * Equality of templates: numbers by value, also when they are text (`"5"`, `5`, `"5.0"` and `" 5 "` are equal);
 * other text by its characters; lists item by item; nothing equals only nothing.
 */
export function equal(left: unknown, right: unknown, work: Work): boolean {
  work.budget.countWork(ITEM_WORK)
  if (isComparable(left)) return toValueSync(left.equals(right)) === true
  if (isComparable(right)) return toValueSync(right.equals(left)) === true
  const a = toValue(left) ?? null
  const b = toValue(right) ?? null
  if (a === b) return true
  if (a === null || b === null) return false
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i], work))
  if (typeof a === 'string' && typeof b === 'string') work.budget.countWork(Math.min(a.length, b.length))
  if (typeof a === 'boolean' || typeof b === 'boolean') return false
  const number = asNumber(a)
  const other = number && asNumber(b)
  return other ? number.value.eq(other.value) : false
}

function contains(container: unknown, item: unknown, work: Work): boolean {
  const within = toValue(container)
  const sought = toValue(item)
  if (within === null || within === undefined || sought === null || sought === undefined) return false
  if (Array.isArray(within)) {
    return within.some(each => equal(each, sought, work))
  }
  if (typeof within === 'object' && !asNumber(within)) return Object.hasOwn(within, printed(sought))
  const text = printed(within)
  work.budget.countWork(text.length)
  return text.includes(printed(sought))
}

export type Comparison = (left: unknown, right: unknown, context: RenderingContext) => boolean

const ordered =
  (holds: (difference: number) => boolean): Comparison =>
  (left, right, context) => {
    context.budget.countWork(ITEM_WORK)
    const a = toValue(left)
    const b = toValue(right)
    if (typeof a === 'string' && typeof b === 'string') context.budget.countWork(Math.min(a.length, b.length))
    const difference = order(a, b)
    return difference !== undefined && holds(difference)
  }

const logical =
  (combine: (left: boolean, right: boolean) => boolean): Comparison =>
  (left, right, context) => {
    context.budget.countWork(STEP_WORK)
    return combine(isTrue(left), isTrue(right))
  }

const equals: Comparison = (left, right, context) => equal(left, right, context)
const differs: Comparison = (left, right, context) => !equal(left, right, context)

/** Operators of conditions. A comparison in order with nothing is false; `and` and `or` bind equally, from the right. */
export const comparisons = {
  '==': equals,
  '!=': differs,
  '<>': differs,
  '===': equals,
  '!==': differs,
  '>': ordered(difference => difference > 0),
  '<': ordered(difference => difference < 0),
  '>=': ordered(difference => difference >= 0),
  '<=': ordered(difference => difference <= 0),
  contains: ((left, right, context) => contains(left, right, context)) satisfies Comparison,
  and: logical((left, right) => left && right),
  or: logical((left, right) => left || right),
}

/** The same for the library. */
export const operators = comparisons as unknown as Operators
