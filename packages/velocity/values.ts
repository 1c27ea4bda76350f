// Values of Velocity: what counts as true, how they compare and how they print.
import Big from 'big.js'
import { ITEM_WORK, type RenderBudget, TemplateError } from '../liquid/limits.ts'
import { asNumber, dataNumber, isDataNumber, LiquidNumber, simplest } from '../liquid/values.ts'
import type { Operator } from './nodes.ts'

/** An item of a list or map counts as so many characters. */
export const ITEM_MEMORY = 4

export type MapValue = Readonly<Record<string, unknown>>

/** A value of the data as templates see it: numbers exact, and nothing that could be called. */
export function readable(value: unknown): unknown {
  if (isDataNumber(value)) return dataNumber(value)
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
}

export const isMap = (value: unknown): value is MapValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LiquidNumber)

/** Nothing, false, zero and whatever is empty are false, as in Velocity 2. */
export function isTrue(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return false
  if (value instanceof LiquidNumber) return !value.value.eq(0)
  if (Array.isArray(value)) return value.length > 0
  return !isMap(value) || Object.keys(value).length > 0
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || value instanceof LiquidNumber

/** Numbers by value, also against text that is one; all else by being the same. */
export function equal(left: unknown, right: unknown): boolean {
  if (isNumber(left) || isNumber(right)) {
    const [a, b] = [asNumber(left), asNumber(right)]
    return a !== undefined && b !== undefined && a.value.eq(b.value)
  }
  return (left ?? null) === (right ?? null)
}

/** Negative, zero or positive; undefined where the two have no order. */
function order(left: unknown, right: unknown): number | undefined {
  const [a, b] = [asNumber(left), asNumber(right)]
  if (a && b) return a.value.cmp(b.value)
  if (typeof left !== 'string' || typeof right !== 'string') return undefined
  return left < right ? -1 : left > right ? 1 : 0
}

/** Decimal places that a quotient is rounded to. */
const QUOTIENT_PLACES = 16

/**
 * `+` joins texts and adds numbers; the others take text that is a number as one, since amounts of the contract are
 * text. Exact; whole by whole divides to a whole number, as in Velocity. Nothing where there is no number, or a
 * division by zero.
 */
export function calculated(operator: Operator, left: unknown, right: unknown, budget: RenderBudget): unknown {
  if (operator === '==') return equal(left, right)
  if (operator === '!=') return !equal(left, right)
  if (operator === '<' || operator === '>' || operator === '<=' || operator === '>=') {
    const difference = order(left, right)
    if (difference === undefined) return false
    if (operator === '<') return difference < 0
    if (operator === '>') return difference > 0
    return operator === '<=' ? difference <= 0 : difference >= 0
  }
  if (operator === '+' && (typeof left === 'string' || typeof right === 'string')) {
    const text = printed(left, budget) + printed(right, budget)
    budget.countMemory(text.length)
    return text
  }
  const [a, b] = [asNumber(left), asNumber(right)]
  if (!a || !b) return undefined
  const isWhole = a.whole && b.whole
  budget.countWork(ITEM_WORK)
  if (operator === '+') return simplest(a.value.plus(b.value), isWhole)
  if (operator === '-') return simplest(a.value.minus(b.value), isWhole)
  if (operator === '*') return simplest(a.value.times(b.value), isWhole)
  if (b.value.eq(0)) return undefined
  if (operator === '%') return simplest(a.value.mod(b.value), isWhole)
  const quotient = a.value.div(b.value)
  return simplest(quotient.round(isWhole ? 0 : QUOTIENT_PLACES, isWhole ? Big.roundDown : undefined), isWhole)
}

/** Lists and maps in each other that print. */
const DEEPEST = 50

/** Lists as `[a, b]`, maps as `{k=v}`; what is long is counted while it is made. */
export function printed(value: unknown, budget: RenderBudget, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return 'null'
  if (!Array.isArray(value) && !isMap(value)) return String(value)
  if (depth > DEEPEST)
    throw new TemplateError('templateLimit', `Lists and maps deeper than ${DEEPEST} cannot be printed.`)
  const item = (one: unknown): string => {
    const text = printed(readable(one), budget, depth + 1)
    budget.countWork(ITEM_WORK)
    budget.countMemory(text.length)
    return text
  }
  return Array.isArray(value)
    ? `[${value.map(item).join(', ')}]`
    : `{${Object.keys(value)
        .map(key => `${key}=${item(value[key])}`)
        .join(', ')}}`
}
