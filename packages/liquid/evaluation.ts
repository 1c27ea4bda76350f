// Values of a template, read once into functions. The library evaluates by generators, of which one rendering makes hundreds
// that take most of its time; rendering is synchronous here, so nothing is left to wait for. What comes of a value, in which
// order its parts are evaluated and what is counted are the same.
import {
  type Expression,
  evalToken,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
  type Value,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from './context.ts'
import { carriedOut, filterOf } from './filter.ts'
import { type Comparison, comparisons } from './operators.ts'

/** What a part of a template comes to in a context. */
export type Evaluate = (context: RenderingContext) => unknown

type FilterToken = Token & { readonly name: string; readonly args: readonly FilterArgument[] }
type FilterArgument = Token | readonly [string, Token | undefined]

/** An expression and its filters. A literal of the library stays one, as the operators need it. */
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
  // The library keeps the token of a filter to itself.
  const { token } = applied as { token: FilterToken }
  const args = token.args.map(argumentEvaluation)
  return (input, context) => {
    const values: unknown[] = []
    for (const evaluate of args) values.push(evaluate(context))
    return carriedOut(filter, token, input, values, context)
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

/** The library has the operands of an operator before it. A long condition is no deep one: its steps are taken one by one. */
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

/** As the library's `evalToken`: a literal of the library stays one. */
export function tokenEvaluation(token: Token | undefined): Evaluate {
  if (!token) return nothing
  if ('content' in token) {
    const { content } = token
    return () => content
  }
  if (TypeGuards.isPropertyAccessToken(token) && !token.variable) return pathEvaluation(token.props)
  return context => toValueSync(evalToken(token, context))
}

/** As the library's `evalTokenValue`: a plain value. */
export function plainEvaluation(token: Token | undefined): Evaluate {
  const evaluate = tokenEvaluation(token)
  return context => toValue(evaluate(context))
}

function pathEvaluation(props: readonly Token[]): Evaluate {
  if (props.every(prop => 'content' in prop)) {
    const path = props.map(prop => toValue((prop as { content: unknown }).content))
    return context => context.valueAt(path)
  }
  const steps = props.map(plainEvaluation)
  return context => context.valueAt(steps.map(step => step(context)))
}

/** What a node gives that is rendered at once: nothing is left to be driven. */
export const RENDERED = undefined as unknown as Generator<never, never, unknown>
