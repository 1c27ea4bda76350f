// Compiles values of a template into functions. The library evaluates them with generators, which take most of a rendering's
// time. Rendering is synchronous here and needs none. Results, order of evaluation and counts are unchanged.
import {
  Drop,
  type Expression,
  evalToken,
  type Liquid,
  type Operators,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
  type Value,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from './context.ts'
import { instantOf } from './date-format.ts'
import { FILTER_WORK, ITEM_WORK, STEP_WORK } from './limits.ts'
import { firstPlace } from './search.ts'
import { asNumber, isMap } from './values.ts'

/** Evaluates a part of a template in a context. */
type Evaluate = (context: RenderingContext) => unknown

type FilterToken = Token & { readonly name: string; readonly args: readonly FilterArgument[] }
type FilterArgument = Token | readonly [string, Token | undefined]

/** Compiles an expression with its filters. A literal of the library remains a literal, because operators need it. */
export function evaluationOf(value: Value): Evaluate {
  const initial = expressionEvaluation(value.initial)
  const filters = value.filters.map(filterEvaluation)
  if (filters.length === 0) return initial
  return context => {
    let result = initial(context)
    for (const filter of filters) result = filter(result, context)
    return result
  }
}

type Filtering = (input: unknown, context: RenderingContext) => unknown

function filterEvaluation(applied: object): Filtering {
  const filter = filterOf(applied)
  if (!filter) return input => input
  // The library does not expose the token of a filter.
  const { token } = applied as { token: FilterToken }
  const args = token.args.map(argumentEvaluation)
  return (input, context) => {
    const values = args.map(evaluate => evaluate(context))
    return runFilter(filter, token, input, values, context)
  }
}

function argumentEvaluation(argument: FilterArgument): Evaluate {
  if (!isNamed(argument)) return tokenEvaluation(argument)
  const [name, token] = argument
  const evaluate = tokenEvaluation(token)
  return context => [name, evaluate(context)]
}

const isNamed = (argument: FilterArgument): argument is readonly [string, Token | undefined] =>
  Array.isArray(argument)

const nothing: Evaluate = () => undefined

/** Operands precede their operator (postfix). Evaluating step by step keeps a long condition from filling the stack. */
function expressionEvaluation({ postfix }: Expression): Evaluate {
  const steps = postfix.map(token =>
    TypeGuards.isOperatorToken(token)
      ? { compare: comparisons[token.operator as keyof typeof comparisons] }
      : { operand: tokenEvaluation(token) },
  )
  const [left, right, last] = steps
  if (steps.length === 0) return nothing
  if (steps.length === 1) return left!.operand ?? nothing
  if (steps.length === 3 && left!.operand && right!.operand && last!.compare)
    return compared(last!.compare, left!.operand, right!.operand)
  return context => {
    const operands: unknown[] = []
    for (const { compare, operand } of steps)
      if (operand) operands.push(operand(context))
      else {
        const second = operands.pop()
        operands.push(compare(operands.pop(), second, context))
      }
    return operands[0]
  }
}

const compared =
  (compare: Comparison, left: Evaluate, right: Evaluate): Evaluate =>
  context => {
    const value = left(context)
    return compare(value, right(context), context)
  }

/** Like the library's `evalToken`. The library's literals remain literals. */
export function tokenEvaluation(token: Token | undefined): Evaluate {
  if (!token) return nothing
  if ('content' in token) {
    const { content } = token
    return () => content
  }
  if (TypeGuards.isPropertyAccessToken(token) && !token.variable) return pathEvaluation(token.props, token)
  return context => toValueSync(evalToken(token, context))
}

/** Like the library's `evalTokenValue`. Returns a plain value. */
export function plainEvaluation(token: Token | undefined): Evaluate {
  const evaluate = tokenEvaluation(token)
  return context => toValue(evaluate(context))
}

function pathEvaluation(props: readonly Token[], token: Token): Evaluate {
  if (props.every(prop => 'content' in prop)) {
    const path = props.map(prop => toValue((prop as { content: unknown }).content))
    return context => context.valueAt(path, token)
  }
  const steps = props.map(plainEvaluation)
  return context =>
    context.valueAt(
      steps.map(step => step(context)),
      token,
    )
}

/** Returned by nodes that render immediately, so that the library has no generator to run. */
export const RENDERED = undefined as unknown as Generator<never, never, unknown>

/** A filter whose result can be far larger than its input must count it before creating it. `runFilter` counts the result. */
export type Filter = (input: unknown, args: unknown[], context: RenderingContext) => unknown

export type Filters = Record<string, Filter>

/** The form in which the library calls a filter, in the few places that it evaluates itself. */
type Handler = { readonly filter?: Filter }

/** Returns the named filter, or undefined for the library's placeholder of an unknown one. */
const filterOf = (applied: object): Filter | undefined => (applied as { handler: Handler }).handler.filter

/** Adds filters to the engine. Each call counts its input and result against the budget of the rendering. */
export function registerFilters(engine: Liquid, filters: Filters): void {
  for (const [name, filter] of Object.entries(filters)) {
    const handler = function (this: { token: Token; context: unknown }, input: unknown, ...args: unknown[]) {
      return runFilter(filter, this.token, input, args, this.context as RenderingContext)
    }
    engine.registerFilter(name, Object.assign(handler, { filter }))
  }
}

/** Runs the filter and counts its input and its result. The filter owns `args`. */
function runFilter(
  filter: Filter,
  token: Token,
  input: unknown,
  args: unknown[],
  context: RenderingContext,
): unknown {
  context.filter = token
  const value = toValue(input)
  let read = readingWork(value)
  for (let at = 0; at < args.length; at += 1) {
    args[at] = toValue(args[at])
    read += readingWork(args[at]) + STEP_WORK
  }
  context.budget.countWork(FILTER_WORK + read)
  const { observation } = context
  const given = observation && [...args]
  const result = filter(value, args, context)
  context.budget.countMemory(sizeOf(result))
  context.filter = undefined
  if (observation && given) {
    const { detail } = context
    context.detail = undefined
    const { name } = token as FilterToken
    observation.filter({ name, input: value, args: given, result: toValue(result), detail }, token)
  }
  return result
}

const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 0

/** A map costs the listing of its names, which a filter may do. */
const readingWork = (value: unknown): number =>
  isMap(value) ? Object.keys(value).length * ITEM_WORK : sizeOf(value)

/**
 * Reads milliseconds, `now`, `2026-01-31` (its start in the tenant's zone) or a full ISO time. Returns undefined for anything
 * else.
 */
export function timestampOf(value: unknown, context: RenderingContext): number | undefined {
  const { environment, dialect } = context.state
  if (typeof value === 'string' && /^\s*(?:now|today)\s*$/.test(value)) return environment.now
  return instantOf(value, environment.timeZone, dialect.calendar)
}

type Work = Pick<RenderingContext, 'budget'>

/** `empty` and `blank`, which decide themselves what they are equal to. */
type ComparableDrop = Drop & { equals(other: unknown): unknown }

const isComparable = (value: unknown): value is ComparableDrop =>
  value instanceof Drop && 'equals' in value && typeof value.equals === 'function'

/** Whether a condition with this value holds: only nil and false fail. Empty text, an empty list and zero hold. */
export const isTrue = (value: unknown): boolean => {
  const plain = toValue(value)
  return plain !== false && plain !== undefined && plain !== null
}

/** Negative, zero or positive. Undefined if the values have no order: nil, a list, or text and a number. */
export function order(left: unknown, right: unknown): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const a = asNumber(left)
  const b = asNumber(right)
  if (a && b) return a.value.cmp(b.value)
  if (typeof left !== 'string' || typeof right !== 'string') return undefined
  return Number(left > right) - Number(left < right)
}

/** Compares numbers by value, also those in text (`"5"`, `5`, `" 5.0 "`), and lists item by item. Nil equals only nil. */
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

function contains(container: unknown, item: unknown, work: RenderingContext): boolean {
  const within = toValue(container)
  const sought = toValue(item)
  if (within === null || within === undefined || sought === null || sought === undefined) return false
  if (Array.isArray(within)) {
    return within.some(each => equal(each, sought, work))
  }
  if (typeof within === 'object' && !asNumber(within)) return Object.hasOwn(within, work.print(sought))
  const text = work.print(within)
  work.budget.countWork(text.length)
  return firstPlace(text, work.print(sought)) >= 0
}

type Comparison = (left: unknown, right: unknown, context: RenderingContext) => boolean

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

/** An order comparison with nil is false. `and` and `or` have the same precedence and associate to the right. */
const comparisons = {
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

export const operators = comparisons as unknown as Operators
