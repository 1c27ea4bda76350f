import { Expression, type Token, Tokenizer } from 'liquidjs/dist/liquid.browser.mjs'
import { operators } from '../evaluation.ts'
import type { Report } from '../findings.ts'
import { literalNumber } from '../values.ts'

type FilterToken = NonNullable<ReturnType<Tokenizer['readFilter']>>
type OperatorToken = NonNullable<ReturnType<Tokenizer['readOperator']>>
type NumberToken = NonNullable<ReturnType<Tokenizer['readNumber']>>
type QuotedToken = NonNullable<ReturnType<Tokenizer['readQuoted']>>

export type Markup = {
  input: string
  path: string
  range: [number, number]
  report: Report
  isFilter(name: string): boolean
  filterNames: readonly string[]
  /** Whether the tag has no end and ran into the text after it. Everything after a readable expression is then ignored. */
  cut?: boolean
  isCondition?: boolean
  /** Values follow one another, separated by commas. */
  isList?: boolean
}

/** Common mistakes, and the correct form for each. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^=>/, "Write '>='."],
  [/^=</, "Write '<='."],
  [/^=(?!=)/, "Write '==' to compare."],
  [/^&&/, "Write 'and'."],
  [/^\|\|/, "Write 'or'."],
  [/^!(?!=)/, "Write 'unless', or compare with '== false'."],
  [/^(?:eq|is)\b/i, "Write '=='."],
  [/^ne\b/i, "Write '!='."],
  [/^gte?\b|^ge\b/i, "Write '>' or '>='."],
  [/^lte?\b|^le\b/i, "Write '<' or '<='."],
  [/^AND\b/, "Write 'and' in lower case."],
  [/^OR\b/, "Write 'or' in lower case."],
  [/^["']/, 'Text must be between two quotes. Add the missing one.'],
  [/^;/, "Remove the ';'."],
]

/** How deep blocks can be within blocks, and values within the brackets and parentheses of one tag. */
export const DEEPEST_NESTING = 100

/** The number of characters around a place that the checks read. */
const NEIGHBOURHOOD = 40

const SHORT_NUMBER = /^(-?)\.(\d+)(?![\w.])/

/** Filters with one numeric argument. A second argument is the rest of a number with a thousands separator. */
const ARITHMETIC: ReadonlySet<string> = new Set(['plus', 'minus', 'times', 'divided_by', 'modulo'])

const OPERATOR_SYNONYMS: Record<string, '==' | '!='> = { '===': '==', '!==': '!=' }

/** Page filters need no value, and archives write `{{ | page_number }}` (resources brief 12.1). */
const WITHOUT_INPUT = /^\|\s*page_(?:number|count)\b/

/** Reads the inside of `{{ }}` and `{% %}`. Repairs the untidy forms of brief 5.4 and reports each. */
export class MarkupTokenizer extends Tokenizer {
  readonly #markup: Markup
  #depth = 0

  constructor(markup: Markup) {
    super(markup.input, operators, markup.path, markup.range, true)
    this.#markup = markup
  }

  /** Requires values and operators to alternate. Otherwise the library silently computes something else. */
  override readExpression(): Expression {
    this.skipBlank()
    this.#skipSecondEqualsSign()
    if (this.peek() === '|') {
      const message =
        'The filter has no value before it, so its input is empty. Write a value if it needs one.'
      if (!WITHOUT_INPUT.test(this.#ahead())) this.#warn('missingInput', message)
      return new Expression([new Tokenizer('nil').readLiteral()!])
    }
    const tokens: Token[] = []
    let complete = false
    for (;;) {
      const begin = this.p
      const operator = this.readOperator()
      if (operator && !complete) throw this.error(`'${operator.operator}' has no value before it`, begin)
      const next = operator ?? (complete ? undefined : this.readValue())
      if (!next) break
      tokens.push(next)
      complete = !operator
    }
    if (tokens.length > 0 && !complete) throw this.error('a value is missing after the operator')
    if (this.#isNegation(tokens))
      throw this.error(
        "'not' is not an operator. Write 'unless', or compare with '== false'.",
        tokens[0]!.begin,
      )
    if (tokens.length === 0 && this.peek() === '!') throw this.#unreadable()
    if (this.#markup.isCondition && this.#isDoubleBar()) throw this.#unreadable()
    return new Expression(tokens)
  }

  /** Values are read, and later evaluated, recursively: their nesting is limited so that no template fills the stack. */
  override readValue(): ReturnType<Tokenizer['readValue']> {
    if (this.#depth === DEEPEST_NESTING)
      throw this.error(`brackets and parentheses are nested deeper than ${DEEPEST_NESTING}`)
    this.#depth += 1
    try {
      return super.readValue()
    } finally {
      this.#depth -= 1
    }
  }

  override readOperator(): OperatorToken | undefined {
    const token = super.readOperator()
    const synonym = token && OPERATOR_SYNONYMS[token.operator]
    if (synonym) {
      const message = `'${token.operator}' is read as '${synonym}'. Write '${synonym}'.`
      this.#warn('unusualOperator', message, token.begin)
      token.operator = synonym
    }
    return token
  }

  /** Rejects anything after the value, such as the rest of `1,000`: the library would read 1 and go on. */
  override readFilteredValue(): ReturnType<Tokenizer['readFilteredValue']> {
    const value = super.readFilteredValue()
    this.skipBlank()
    const { cut, isList } = this.#markup
    if (this.peek() === ',' && !this.end() && !cut && !isList) throw this.#unreadable()
    return value
  }

  readList(): void {
    for (;;) {
      if (!this.readValue()) throw this.#unreadable()
      this.skipBlank()
      if (this.end()) return
      const separator = /^(?:,|or(?![\w.-]))/.exec(this.#ahead())?.[0]
      if (separator === undefined) throw this.#unreadable()
      this.p += separator.length
      this.skipBlank()
      if (separator === ',' && this.end()) return
    }
  }

  override readFilters(): FilterToken[] {
    const filters: FilterToken[] = []
    for (let filter = this.readFilter(); filter; filter = this.readFilter()) filters.push(filter)
    return filters
  }

  override readFilter(): FilterToken | null {
    this.#skipEmptyFilters()
    if (this.end() || this.peek() === ')' || this.peek() === ',') return null
    if (this.peek() !== '|') {
      if (!this.#markup.cut) throw this.#unreadable()
      this.p = this.N
      return null
    }
    const filter = super.readFilter()
    if (!filter) return filter
    const { name, args, begin } = filter
    const { report, isFilter, filterNames } = this.#markup
    if (!isFilter(name)) {
      const message = `There is no filter '${name}'. Correct its name or remove it.${report.suggestion(name, filterNames)}`
      report.error('unknownFilter', message, begin)
    }
    if (ARITHMETIC.has(name) && args.length > 1) {
      const message = `'${name}' accepts one value, but has ${args.length}. Numbers have no thousands separator: write 1000, not 1,000.`
      report.error('tooManyValues', message, begin)
    }
    return filter
  }

  /** Whether the tokens are `not a`, which would be read as a name followed by something else. */
  #isNegation(tokens: readonly Token[]): boolean {
    this.skipBlank()
    return tokens.length === 1 && tokens[0]!.getText() === 'not' && /^[\w(]/.test(this.peek())
  }

  /** Whether `||` follows, and not a filter after it. */
  #isDoubleBar(): boolean {
    const name = /^\|\|\s*([\w.]+)/.exec(this.#ahead())?.[1]
    return name !== undefined && !this.#markup.isFilter(name)
  }

  #unreadable() {
    const text = this.#ahead(this.N)
    const advice = ADVICE.find(([pattern]) => pattern.test(text))?.[1] ?? 'Correct it.'
    return this.error(`cannot read ${this.snapshot()} here. ${advice}`)
  }

  /** Returns the text after the place, within the neighbourhood. */
  #ahead(end = this.input.length): string {
    return this.input.slice(this.p, Math.min(end, this.p + NEIGHBOURHOOD))
  }

  /** Skips the second sign of `assign a = = b`, which occurs in a published archive. */
  #skipSecondEqualsSign(): void {
    const before = this.input.slice(Math.max(0, this.p - NEIGHBOURHOOD), this.p)
    if (this.peek() !== '=' || !/=\s+$/.test(before)) return
    this.#warn('doubledEqualsSign', "The second '=' has no effect. Remove it.")
    this.p += 1
    this.skipBlank()
  }

  #skipEmptyFilters(): void {
    for (;;) {
      this.skipBlank()
      if (this.peek() !== '|') return
      const bar = this.p
      this.p += 1
      this.skipBlank()
      if (!this.end() && this.peek() !== '|') {
        this.p = bar
        return
      }
      this.#warn('emptyFilter', "A '|' without a filter has no effect. Remove it.", bar)
    }
  }

  override readNumber(): NumberToken | undefined {
    const token = super.readNumber() ?? this.#readShortNumber()
    // The library keeps literals as binary floats. Bindery's are exact.
    if (token) Object.assign(token, { content: literalNumber(token.getText()) })
    return token
  }

  /** Reads `.5`, which the library would read as a path of nil, and so as 0. */
  #readShortNumber(): NumberToken | undefined {
    const short = SHORT_NUMBER.exec(this.#ahead(this.N))
    if (!short) return undefined
    const [text, sign, places] = short as unknown as [string, string, string]
    this.p += text.length
    return new Tokenizer(`${sign}0.${places}`).readNumber()
  }

  /** Reads quoted text unchanged, because Liquid has no escapes. */
  override readQuoted(): QuotedToken | undefined {
    this.skipBlank()
    const begin = this.p
    const quote = this.peek()
    if (quote !== '"' && quote !== "'") return undefined
    const close = this.input.indexOf(quote, begin + 1)
    if (close < 0 || close >= this.N)
      throw this.error(
        `the text that begins with ${quote} is not closed. Add the ${quote} at its end.`,
        begin,
      )
    const token = super.readQuoted()!
    Object.assign(token, { end: close + 1, content: this.input.slice(begin + 1, close) })
    this.p = close + 1
    return token
  }

  #warn(code: string, message: string, offset = this.p): void {
    this.#markup.report.warn(code, message, offset)
  }
}
