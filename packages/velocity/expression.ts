// The parts of a Velocity template, as plain data without state of a rendering, and a recursive-descent parser for expressions
// and references.

import { MOST_PARTS, TooManyParts } from '../liquid/limits.ts'

export type Expression =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'decimal'; readonly text: string }
  /** Text in double quotes with references or directives. */
  | { readonly kind: 'text'; readonly nodes: readonly Node[] }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'range'; readonly from: Expression; readonly to: Expression }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'not' | 'minus'; readonly of: Expression }
  | {
      readonly kind: 'binary'
      readonly operator: Operator
      readonly left: Expression
      readonly right: Expression
    }
  | Reference

export type Operator = '||' | '&&' | '==' | '!=' | '<' | '>' | '<=' | '>=' | '+' | '-' | '*' | '/' | '%'

export type Step =
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'method'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'index'; readonly index: Expression }

export type Reference = {
  readonly kind: 'reference'
  readonly name: string
  readonly steps: readonly Step[]
  /** `$!x` prints nothing if it has no value. */
  readonly quiet: boolean
  /** `${x|'none'}`: the default if there is no value, or one that counts as false. */
  readonly otherwise?: Expression
  /** The source text, which is printed if there is no value. */
  readonly source: string
  readonly offset: number
}

export type Call = {
  readonly kind: 'call'
  readonly name: string
  readonly args: readonly Expression[]
  /** The body of `#@name(…) … #end`. */
  readonly body?: readonly Node[]
  readonly source: string
  readonly offset: number
}

export type Node =
  | string
  | Reference
  | Call
  | { readonly kind: 'set'; readonly target: Reference; readonly value: Expression; readonly offset: number }
  | {
      readonly kind: 'if'
      /** Only the last branch may lack a condition: `#else`. */
      readonly branches: readonly { readonly condition?: Expression; readonly body: readonly Node[] }[]
      readonly offset: number
    }
  | {
      readonly kind: 'foreach'
      readonly variable: string
      readonly over: Expression
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
      readonly offset: number
    }
  | {
      readonly kind: 'define'
      readonly name: string
      readonly body: readonly Node[]
      readonly offset: number
    }
  | { readonly kind: 'parse' | 'include'; readonly names: readonly Expression[]; readonly offset: number }
  | { readonly kind: 'break' | 'stop'; readonly offset: number }

export type Macro = {
  /** `otherwise` replaces an argument that a call leaves out. */
  readonly parameters: readonly { readonly name: string; readonly otherwise?: Expression }[]
  readonly body: readonly Node[]
}

/** Parses a text in double quotes into nodes. */
type TextReader = (cursor: Cursor) => readonly Node[]

/** From loosest to tightest binding. Words are synonyms of symbols. */
const LEVELS: readonly (readonly (readonly [pattern: RegExp, operator: Operator])[])[] = [
  [[/\|\||or\b/y, '||']],
  [[/&&|and\b/y, '&&']],
  [
    [/==|eq\b/y, '=='],
    [/!=|ne\b/y, '!='],
  ],
  [
    [/<=|le\b/y, '<='],
    [/>=|ge\b/y, '>='],
    [/<|lt\b/y, '<'],
    [/>|gt\b/y, '>'],
  ],
  [
    [/\+/y, '+'],
    [/-/y, '-'],
  ],
  [
    [/\*/y, '*'],
    [/\//y, '/'],
    [/%/y, '%'],
  ],
]

/** A hyphen at the end does not belong to the name: `$from-$to` are two references. */
const NAME = /[A-Za-z_](?:[\w-]*\w)?/y
const NUMBER = /\d+(?:\.\d+)?|\.\d+/y
const WORD = /(true|false|null)\b/y
const LONGEST_NUMBER = 30

/**
 * Reads an expression with operators of this level and tighter ones; 0 is the loosest. Operators of a level group from the left.
 * Throws `Unreadable` with the offset of the problem. `text` reads texts in double quotes.
 */
export function readExpression(cursor: Cursor, text: TextReader, level = 0): Expression {
  const operators = LEVELS[level]
  if (!operators) return readUnary(cursor, text)
  let left = readExpression(cursor, text, level + 1)
  for (;;) {
    cursor.skipBlank()
    const found = operators.find(([pattern]) => cursor.match(pattern))
    if (!found) return left
    const right = cursor.deeper(() => readExpression(cursor, text, level + 1))
    left = { kind: 'binary', operator: found[1], left, right }
  }
}

const readUnary = (cursor: Cursor, text: TextReader): Expression =>
  cursor.deeper(() => {
    cursor.skipBlank()
    if (cursor.match(/!|not\b/y)) return { kind: 'not', of: readUnary(cursor, text) }
    if (cursor.take('-')) return { kind: 'minus', of: readUnary(cursor, text) }
    return readPrimary(cursor, text)
  })

function readPrimary(cursor: Cursor, text: TextReader): Expression {
  const begin = cursor.at
  cursor.countPart()
  if (cursor.take('(')) {
    const inner = readExpression(cursor, text)
    cursor.expect(')', 'after the expression in parentheses')
    return inner
  }
  if (cursor.peek('$')) {
    const reference = readReference(cursor, text)
    if (!reference) throw cursor.problem("A name is missing after '$'")
    return reference
  }
  if (cursor.peek('"') || cursor.peek("'")) return readText(cursor, text)
  const number = cursor.match(NUMBER)?.[0]
  if (number !== undefined) {
    if (number.length > LONGEST_NUMBER)
      throw cursor.problem(`A number has more than ${LONGEST_NUMBER} digits`, begin)
    const isWhole = !number.includes('.') && Number.isSafeInteger(Number(number))
    return isWhole ? { kind: 'value', value: Number(number) } : { kind: 'decimal', text: number }
  }
  const word = cursor.match(WORD)?.[1]
  if (word !== undefined) return { kind: 'value', value: word === 'null' ? null : word === 'true' }
  if (cursor.take('[')) return readList(cursor, text)
  if (cursor.take('{')) return readMap(cursor, text)
  throw cursor.problem('A value is missing')
}

function readText(cursor: Cursor, text: TextReader): Expression {
  const begin = cursor.at
  const quote = cursor.source[cursor.at]!
  const close = closingQuote(cursor, quote)
  if (close === -1 || close >= cursor.end)
    throw cursor.problem(`The text that begins with ${quote} is not closed`, begin)
  const content = cursor.source.slice(begin + 1, close)
  if (quote === "'" || !/[#$]/.test(content)) {
    cursor.at = close + 1
    return { kind: 'value', value: content.replaceAll(quote + quote, quote) }
  }
  const { end, quote: outer } = cursor
  cursor.at = begin + 1
  cursor.end = close
  cursor.quote = quote
  try {
    const nodes = cursor.deeper(() => text(cursor))
    cursor.at = close + 1
    return { kind: 'text', nodes }
  } finally {
    cursor.end = end
    cursor.quote = outer
  }
}

/** Returns the place of the closing quote. A doubled quote is part of the text. */
function closingQuote({ source, at, end }: Cursor, quote: string): number {
  for (let close = at; ; close += 2) {
    close = source.indexOf(quote, close + (close === at ? 1 : 0))
    if (close === -1 || close + 1 >= end || source[close + 1] !== quote) return close
  }
}

function readList(cursor: Cursor, text: TextReader): Expression {
  const items: Expression[] = []
  cursor.skipBlank()
  if (cursor.take(']')) return { kind: 'list', items }
  items.push(readExpression(cursor, text))
  cursor.skipBlank()
  if (cursor.take('..')) {
    const to = readExpression(cursor, text)
    cursor.expect(']', 'after the range')
    return { kind: 'range', from: items[0]!, to }
  }
  while (cursor.take(',')) {
    items.push(readExpression(cursor, text))
    cursor.skipBlank()
  }
  cursor.expect(']', 'after the list')
  return { kind: 'list', items }
}

function readMap(cursor: Cursor, text: TextReader): Expression {
  const entries: [Expression, Expression][] = []
  cursor.skipBlank()
  if (cursor.take('}')) return { kind: 'map', entries }
  do {
    cursor.skipBlank()
    const word = cursor.match(NAME)?.[0]
    const key: Expression = word === undefined ? readExpression(cursor, text) : { kind: 'value', value: word }
    cursor.expect(':', 'between key and value')
    entries.push([key, readExpression(cursor, text)])
    cursor.skipBlank()
  } while (cursor.take(','))
  cursor.expect('}', 'after the map')
  return { kind: 'map', entries }
}

/** Returns undefined, without reading anything, if the `$` does not begin a reference and so is text. */
export function readReference(cursor: Cursor, text: TextReader): Reference | undefined {
  const offset = cursor.at
  const [opening] = cursor.match(/\$!?\{?/y) ?? []
  const name = opening === undefined ? undefined : cursor.match(NAME)?.[0]
  if (opening === undefined || name === undefined) {
    cursor.at = offset
    return undefined
  }
  const steps = readSteps(cursor, text)
  const isFormal = opening.endsWith('{')
  const otherwise =
    isFormal && cursor.take('|') ? cursor.deeper(() => readExpression(cursor, text)) : undefined
  if (otherwise) cursor.skipBlank()
  if (isFormal && !cursor.take('}'))
    throw cursor.problem("'}' is missing after the reference that begins with '${'", offset)
  const source = cursor.source.slice(offset, cursor.at)
  const quiet = opening.includes('!')
  return { kind: 'reference', name, steps, quiet, ...(otherwise && { otherwise }), source, offset }
}

function readSteps(cursor: Cursor, text: TextReader): Step[] {
  const steps: Step[] = []
  for (;;) {
    cursor.countPart()
    const property = cursor.match(/\.([A-Za-z_](?:[\w-]*\w)?)/y)?.[1]
    if (property !== undefined && cursor.take('('))
      steps.push({ kind: 'method', name: property, args: readArguments(cursor, text) })
    else if (property !== undefined) steps.push({ kind: 'property', name: property })
    else if (isIndex(cursor) && cursor.take('[')) {
      const index = cursor.deeper(() => readExpression(cursor, text))
      cursor.expect(']', 'after the index')
      steps.push({ kind: 'index', index })
    } else return steps
  }
}

/** Whether an index follows: `$x[0]`, `$x[$i]`, `$x["a"]`. Other brackets after a reference are text, as in `$name [sic]`. */
const isIndex = ({ source, at, end }: Cursor): boolean =>
  /^\[\s*[\d$"'-]/.test(source.slice(at, Math.min(end, at + 20)))

function readArguments(cursor: Cursor, text: TextReader): Expression[] {
  const args: Expression[] = []
  cursor.skipBlank()
  if (cursor.take(')')) return args
  for (;;) {
    args.push(cursor.deeper(() => readExpression(cursor, text)))
    cursor.skipBlank()
    if (!cursor.take(',')) break
  }
  cursor.expect(')', 'after the arguments')
  return args
}

// A position in the source of a template, and the range that may be read from there.

export class Unreadable extends Error {
  readonly offset: number
  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** The maximum nesting of blocks, expressions and texts. Deeper nesting would overflow the stack. */
const DEEPEST = 100

export class Cursor {
  readonly source: string
  at: number
  /** The end of the range. Inside quoted text it is before the end of the source. */
  end: number
  /** The surrounding quote inside quoted text, where a doubled quote stands for itself. */
  quote = ''
  #depth = 0
  #parts = 0

  constructor(source: string) {
    this.source = source
    this.at = 0
    this.end = source.length
  }

  /** Counts a reference, directive, step or value, all of which stay in memory. Throws `TooManyParts`. */
  countPart(): void {
    this.#parts += 1
    if (this.#parts > MOST_PARTS) throw new TooManyParts()
  }

  get done(): boolean {
    return this.at >= this.end
  }

  peek(text: string): boolean {
    return this.at + text.length <= this.end && this.source.startsWith(text, this.at)
  }

  take(text: string): boolean {
    if (!this.peek(text)) return false
    this.at += text.length
    return true
  }

  /** Matches the pattern, which must be sticky, at this position and moves past the match. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)
    if (!found || this.at + found[0].length > this.end) return undefined
    this.at += found[0].length
    return found
  }

  /** Reads up to the next character that may begin something other than text. */
  plainText(): string {
    const pattern = /[^#$\\]*/y
    pattern.lastIndex = this.at
    const from = this.at
    this.at = Math.min(this.end, from + pattern.exec(this.source)![0].length)
    const text = this.source.slice(from, this.at)
    return this.quote === '' ? text : text.replaceAll(this.quote + this.quote, this.quote)
  }

  skipBlank(): void {
    this.match(/\s*/y)
  }

  expect(text: string, where: string): void {
    this.skipBlank()
    if (!this.take(text)) throw this.problem(`'${text}' is missing ${where}`)
  }

  problem(message: string, offset = this.at): Unreadable {
    return new Unreadable(offset, message)
  }

  deeper<T>(read: () => T): T {
    this.#depth += 1
    try {
      if (this.#depth > DEEPEST) throw this.problem(`It is nested deeper than ${DEEPEST}`)
      return read()
    } finally {
      this.#depth -= 1
    }
  }
}
