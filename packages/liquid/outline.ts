// The outline of a compiled template as plain data, for checks that read templates without rendering them. Offsets count
// characters from the start of the source without its byte-order mark.
import { type Template, type Token, TypeGuards, type Value } from 'liquidjs/dist/liquid.browser.mjs'

type Placed = { readonly begin: number; readonly end: number }

/** A part of a path: a name, or the expression in square brackets. */
export type Step = Placed & ({ readonly name: string } | { readonly key: Expression })

export type Expression = Placed &
  (
    | { readonly kind: 'text'; readonly value: string }
    | { readonly kind: 'number'; readonly value: number }
    | { readonly kind: 'word'; readonly value: 'true' | 'false' | 'nil' | 'empty' | 'blank' }
    | { readonly kind: 'path'; readonly variable: string; readonly steps: readonly Step[] }
    | { readonly kind: 'range'; readonly from: Expression; readonly to: Expression }
    | {
        readonly kind: 'operation'
        readonly operator: string
        readonly left: Expression
        readonly right: Expression
      }
    /** In round brackets, with its own filters. */
    | { readonly kind: 'group'; readonly value: FilteredValue }
    /** Anything that no check reads, such as a part of a text. */
    | { readonly kind: 'other' }
  )

export type AppliedFilter = Placed & {
  readonly name: string
  readonly args: readonly Expression[]
  readonly named: ReadonlyMap<string, Expression>
}

/** An expression and the filters after it, in their order. */
export type FilteredValue = Placed & {
  readonly initial: Expression
  readonly filters: readonly AppliedFilter[]
}

export type Branch = Placed & { readonly body: readonly Statement[] }

export type Statement = Placed &
  (
    | { readonly kind: 'output'; readonly value: FilteredValue }
    | { readonly kind: 'assign'; readonly name: string; readonly value: FilteredValue }
    | { readonly kind: 'capture'; readonly name: string; readonly body: readonly Statement[] }
    /** `if` and `unless` with their `elsif` branches. */
    | {
        readonly kind: 'choice'
        readonly branches: readonly (Branch & {
          readonly condition: FilteredValue
          readonly isNegated: boolean
        })[]
        readonly otherwise: readonly Statement[] | undefined
      }
    | {
        readonly kind: 'case'
        readonly subject: FilteredValue
        readonly branches: readonly (Branch & { readonly values: readonly Expression[] })[]
        readonly otherwise: readonly Statement[] | undefined
      }
    | {
        readonly kind: 'loop'
        readonly variable: string
        readonly list: Expression
        readonly modifiers: readonly Expression[]
        readonly body: readonly Statement[]
        readonly otherwise: readonly Statement[]
      }
    /** The values that these tags read are not listed. `include` may also set any variable. */
    | { readonly kind: 'opaque'; readonly tag: 'include' | 'render' | 'cycle' }
    | { readonly kind: 'counter'; readonly name: string }
    | { readonly kind: 'block'; readonly body: readonly Statement[] }
    | { readonly kind: 'jump' }
    /** Text, comments and tags without values. */
    | { readonly kind: 'other' }
  )

type Fields = Record<string, unknown>

/** Returns the statements in the order of the source. */
export const outlineOf = (template: { readonly nodes: readonly Template[] }): Statement[] =>
  template.nodes.map(statementOf)

function statementOf(node: Template): Statement {
  const { token } = node
  const { begin, end } = token
  const fields = node as unknown as Fields
  const place = { begin, end }
  if (!TypeGuards.isTagToken(token)) {
    const value = fields.value as Value | undefined
    return value
      ? { ...place, kind: 'output', value: filteredValue(value, token) }
      : { ...place, kind: 'other' }
  }
  const value = fields.value as Value | undefined
  const body = statements(fields.templates)
  switch (token.name) {
    case 'echo':
      return value
        ? { ...place, kind: 'output', value: filteredValue(value, token) }
        : { ...place, kind: 'other' }
    case 'assign':
      return { ...place, kind: 'assign', name: String(fields.key), value: filteredValue(value!, token) }
    case 'capture':
      return { ...place, kind: 'capture', name: String(fields.variable), body }
    case 'if':
    case 'unless':
      return {
        ...place,
        kind: 'choice',
        branches: (fields.branches as { value: Value; templates: Template[] }[]).map((branch, at) => {
          const condition = filteredValue(branch.value, token)
          const placed = { begin: condition.begin, end: condition.end }
          const isNegated = token.name === 'unless' && at === 0
          return { ...placed, condition, isNegated, body: statements(branch.templates) }
        }),
        otherwise: otherwiseOf(fields.elseTemplates),
      }
    case 'case':
      return {
        ...place,
        kind: 'case',
        subject: filteredValue(value!, token),
        branches: (fields.branches as { values: Token[]; templates: Template[] }[]).map(branch => {
          const values = branch.values.map(expressionOf)
          const placed = { begin: values[0]?.begin ?? begin, end: values.at(-1)?.end ?? end }
          return { ...placed, values, body: statements(branch.templates) }
        }),
        otherwise: otherwiseOf(fields.elseTemplates),
      }
    case 'for':
    case 'tablerow':
      return {
        ...place,
        kind: 'loop',
        variable: String(fields.variable),
        list: expressionOf(fields.collection as Token),
        modifiers: hashValues(fields.hash ?? fields.args),
        body,
        otherwise: statements(fields.elseTemplates),
      }
    case 'include':
    case 'render':
    case 'cycle':
      return { ...place, kind: 'opaque', tag: token.name }
    case 'increment':
    case 'decrement':
      return { ...place, kind: 'counter', name: String(fields.variable) }
    case 'break':
    case 'continue':
      return { ...place, kind: 'jump' }
    default: {
      const inner = node.children ? [...nodesWithin(node)] : []
      return inner.length > 0
        ? { ...place, kind: 'block', body: inner.map(statementOf) }
        : { ...place, kind: 'other' }
    }
  }
}

const statements = (nodes: unknown): Statement[] => ((nodes ?? []) as Template[]).map(statementOf)

/** The library has an empty list in place of a missing `else`. */
function otherwiseOf(nodes: unknown): Statement[] | undefined {
  const list = statements(nodes)
  return list.length === 0 ? undefined : list
}

/** Lists the nodes within a block of another kind. The library's tags list them by a generator. */
function* nodesWithin(node: Template): Generator<Template> {
  const listing = node.children!(false, true) as Iterator<unknown, Template[]>
  let step = listing.next()
  while (!step.done) step = listing.next(step.value)
  yield* step.value
}

const hashValues = (hash: unknown): Expression[] =>
  Object.values(((hash as { hash?: Record<string, Token | undefined> })?.hash ?? {}) as object)
    .filter((token): token is Token => token !== undefined)
    .map(expressionOf)

function filteredValue({ initial, filters }: Value, around: Token): FilteredValue {
  const tokens = initial.postfix
  const first = operationOf(tokens, around)
  const applied = filters.map(filter => filterOf((filter as unknown as { token: FilterToken }).token))
  return {
    begin: Math.min(first.begin, ...tokens.map(one => one.begin)),
    end: applied.at(-1)?.end ?? first.end,
    initial: first,
    filters: applied,
  }
}

type FilterToken = Token & { name: string; args: readonly (Token | readonly [string, Token | undefined])[] }

function filterOf({ name, args, begin, end }: FilterToken): AppliedFilter {
  const plain: Expression[] = []
  const named = new Map<string, Expression>()
  for (const one of args)
    if (!isNamed(one)) plain.push(expressionOf(one))
    else if (one[1]) named.set(one[0], expressionOf(one[1]))
  return { name, args: plain, named, begin, end }
}

const isNamed = (
  one: Token | readonly [string, Token | undefined],
): one is readonly [string, Token | undefined] => Array.isArray(one)

/** Operands precede their operator. */
function operationOf(postfix: readonly Token[], around: Token): Expression {
  const stack: Expression[] = []
  for (const token of postfix) {
    if (!TypeGuards.isOperatorToken(token)) {
      stack.push(expressionOf(token))
      continue
    }
    const right = stack.pop()
    const left = stack.pop()
    if (!left || !right) return { kind: 'other', begin: token.begin, end: token.end }
    const { operator } = token
    stack.push({ kind: 'operation', operator, left, right, begin: left.begin, end: right.end })
  }
  return stack[0] ?? { kind: 'other', begin: around.begin, end: around.end }
}

function expressionOf(token: Token): Expression {
  const { begin, end } = token
  const place = { begin, end }
  if (TypeGuards.isPropertyAccessToken(token)) {
    const [first, ...rest] = token.props as (Token & { content?: unknown })[]
    if (token.variable || typeof first?.content !== 'string') return { ...place, kind: 'other' }
    return { ...place, kind: 'path', variable: first.content, steps: rest.map(stepOf) }
  }
  if (TypeGuards.isRangeToken(token))
    return { ...place, kind: 'range', from: expressionOf(token.lhs), to: expressionOf(token.rhs) }
  if (TypeGuards.isQuotedToken(token)) return { ...place, kind: 'text', value: token.content }
  if (TypeGuards.isNumberToken(token)) return { ...place, kind: 'number', value: numberOf(token.content) }
  if (TypeGuards.isLiteralToken(token)) return { ...place, kind: 'word', value: wordOf(token.literal) }
  const { initial, filters } = token as unknown as { initial?: Value['initial']; filters?: FilterToken[] }
  if (!initial) return { ...place, kind: 'other' }
  const value = {
    ...place,
    initial: operationOf(initial.postfix, token),
    filters: (filters ?? []).map(filterOf),
  }
  return value.filters.length === 0 ? value.initial : { ...place, kind: 'group', value }
}

function stepOf(token: Token & { content?: unknown }): Step {
  const { begin, end } = token
  if (TypeGuards.isPropertyAccessToken(token) || TypeGuards.isRangeToken(token))
    return { begin, end, key: expressionOf(token) }
  if (typeof token.content === 'string') return { begin, end, name: token.content }
  return { begin, end, key: expressionOf(token) }
}

/** A literal is a number, or an exact decimal that prints as one. */
const numberOf = (content: unknown): number =>
  typeof content === 'number' ? content : Number(String(content))

function wordOf(literal: string): 'true' | 'false' | 'nil' | 'empty' | 'blank' {
  return literal === 'true' || literal === 'false' || literal === 'empty' || literal === 'blank'
    ? literal
    : 'nil'
}
