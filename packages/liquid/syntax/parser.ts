import {
  type Context,
  type Emitter,
  type Liquid,
  LiquidError,
  type Output,
  Parser,
  TagToken,
  type Template,
  type Token,
  TokenKind,
  type TopLevelToken,
  TypeGuards,
  Value,
} from 'liquidjs/dist/liquid.browser.mjs'
import type { RenderingContext } from '../context.ts'
import { evaluationOf } from '../evaluation.ts'
import { type Report, TooManyErrors } from '../findings.ts'
import { DEEPEST_NESTING, type Markup, MarkupTokenizer } from './markup-tokenizer.ts'
import { missingEnd, SourceTokenizer } from './source.ts'

type Options = ConstructorParameters<typeof TagToken>[3]
type ContentToken = TopLevelToken & { contentRange: [number, number] }

/** Tags with a body, which `end<name>` closes. The tokenizer itself closes `comment` and `raw`. */
const BLOCKS = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture', 'header', 'footer'])

/** Tokens in reverse order, so that `shift` does not move a long array. Only `shift` and `length` behave as in Array. */
class TokenQueue extends Array<TopLevelToken> {
  override shift(): TopLevelToken | undefined {
    return this.pop()
  }
}

/**
 * Closes every block in its order. An unclosed `case` ends with the block around it and is a warning. Any other unclosed block,
 * or an end without a beginning, is an error.
 */
function balanced(tokens: TopLevelToken[], options: Options, report: Report): TokenQueue {
  const result: TopLevelToken[] = []
  const open: TagToken[] = []
  const close = (block: TagToken): void => {
    const text = `{% end${block.name} %}`
    const message = `'${block.name}' is not closed${block.name === 'case' ? '; it ends with the block around it' : ''}. Add '${text}'.`
    report[block.name === 'case' ? 'warn' : 'error']('blockNotClosed', message, block.begin)
    result.push(new TagToken(text, 0, text.length, options, block.file))
  }
  for (const token of tokens) {
    const name = TypeGuards.isTagToken(token) ? token.name : ''
    if (TypeGuards.isTagToken(token) && BLOCKS.has(name)) open.push(token)
    else if (name.startsWith('end') && BLOCKS.has(name.slice(3))) {
      const opening = open.findLastIndex(block => block.name === name.slice(3))
      if (opening < 0) {
        const message = `There is no '${name.slice(3)}' for this '${name}'. Remove it.`
        report.error('endWithoutBlock', message, token.begin)
        continue
      }
      for (const block of open.splice(opening).slice(1).reverse()) close(block)
    }
    result.push(token)
  }
  for (const block of open.reverse()) close(block)
  const queue = new TokenQueue()
  for (const token of result.reverse()) queue.push(token)
  return queue
}

/** Skips the rest of an unreadable block, including its end. */
function skipBlock(name: string, remaining: TopLevelToken[]): void {
  for (let depth = 1; depth > 0 && remaining.length > 0; ) {
    const token = remaining.shift()
    if (!TypeGuards.isTagToken(token)) continue
    if (token.name === name) depth += 1
    if (token.name === `end${name}`) depth -= 1
  }
}

const LONGEST_MARKUP = 50_000

/**
 * Parses one source and reports all its problems. Repairs a tag without its end, an unclosed `case`, and everything that
 * `MarkupTokenizer` repairs. After something unreadable it reports the error and continues.
 */
export class TemplateParser extends Parser {
  readonly #filterNames: readonly string[]
  readonly #engine: Liquid
  readonly #report: Report
  #depth = 0

  constructor(engine: Liquid, report: Report) {
    super(engine)
    this.#engine = engine
    this.#filterNames = Object.keys(engine.filters)
    this.#report = report
  }

  override parse(source: string, path: string): Template[] {
    const tokenizer = new SourceTokenizer(source, path, this.#report)
    return this.parseTokens(tokenizer.readTopLevelTokens(this.#engine.options))
  }

  override parseTokens(tokens: TopLevelToken[]): Template[] {
    for (const token of tokens) if (TypeGuards.isTagToken(token)) this.#prepareTag(token)
    const remaining = balanced(tokens, this.#engine.options, this.#report)
    const templates: Template[] = []
    for (let token = remaining.shift(); token; token = remaining.shift())
      templates.push(this.parseToken(token, remaining))
    return templates
  }

  override parseToken(token: TopLevelToken, remaining: TopLevelToken[]): ReturnType<Parser['parseToken']> {
    this.#depth += 1
    try {
      if (token.kind !== TokenKind.HTML && token.size() > LONGEST_MARKUP)
        throw new Error(`it is longer than ${LONGEST_MARKUP} characters`)
      if (this.#depth > DEEPEST_NESTING) throw new Error(`blocks are nested deeper than ${DEEPEST_NESTING}`)
      return this.#node(token, remaining)
    } catch (error) {
      if (error instanceof TooManyErrors) throw error
      this.#reportUnreadable(error, token)
      if (TypeGuards.isTagToken(token) && BLOCKS.has(token.name)) skipBlock(token.name, remaining)
      return emptyNode(token) as unknown as Output
    } finally {
      this.#depth -= 1
    }
  }

  #node(token: TopLevelToken, remaining: TopLevelToken[]): ReturnType<Parser['parseToken']> {
    const tag = TypeGuards.isTagToken(token) ? token : undefined
    if (!tag && TypeGuards.isOutputToken(token)) return this.#output(token) as unknown as Output
    if (TypeGuards.isHTMLToken(token)) return textNode(token) as unknown as Output
    if (tag && !Object.hasOwn(this.#engine.tags, tag.name)) {
      const message = unknownTag(tag.name, Object.keys(this.#engine.tags), this.#report)
      this.#report.error('unknownTag', message, tag.begin)
      return emptyNode(token) as unknown as Output
    }
    return super.parseToken(token, remaining)
  }

  #reportUnreadable(error: unknown, token: TopLevelToken): void {
    if (TypeGuards.isTagToken(token) && (token.name === 'comment' || token.name === 'raw')) {
      const message = `'${token.name}' is not closed. Add '{% end${token.name} %}'.`
      this.#report.error('blockNotClosed', message, token.begin)
    } else this.#report.error('templateUnreadable', reason(error), offsetOf(error, token))
  }

  #output(token: ContentToken): Template {
    const tokenizer = new MarkupTokenizer(this.#markup(token, '{{', '}}'))
    tokenizer.skipBlank()
    if (tokenizer.end()) {
      this.#report.warn('emptyOutput', "An empty '{{ }}' prints nothing. Remove it.", token.begin)
      return emptyNode(token)
    }
    const value = new Value(tokenizer.readFilteredValue(), this.#engine)
    if (!tokenizer.end()) throw tokenizer.error(`cannot read ${tokenizer.snapshot()}`)
    const evaluate = evaluationOf(value)
    const node = outputNode(token, context => evaluate(context as RenderingContext))
    // For the outline of the template (outline.ts).
    return Object.assign(node, { value })
  }

  #prepareTag(token: TagToken): void {
    const markup = this.#markup(token, '{%', '%}')
    markup.range[0] = Math.min(token.tokenizer.p, markup.range[1])
    const [isList, isCondition] = [token.name === 'cycle', CONDITIONS.has(token.name)]
    token.tokenizer = new MarkupTokenizer({ ...markup, isList, isCondition })
    if (token.name === 'when' && !markup.cut) this.#checkWhen(new MarkupTokenizer(markup))
    const takesNothing = /^(?:end|else$)/.test(token.name)
    const text = markup.input.slice(...markup.range).trim()
    if (takesNothing && text !== '' && !markup.cut && INNER_TAGS.has(token.name))
      this.#report.error('templateUnreadable', unexpectedValue(token.name, text), token.begin)
    // The library reads the arguments of `else` and of end tags from here.
    if (takesNothing || markup.cut) Object.defineProperty(token, 'args', { value: takesNothing ? '' : text })
  }

  /** Values of `when` are separated by commas or `or`. The library ignores anything else. */
  #checkWhen(tokenizer: MarkupTokenizer): void {
    try {
      tokenizer.readList()
    } catch (error) {
      const place = (error as { token?: { begin: number } }).token
      this.#report.error('templateUnreadable', reason(error), place?.begin ?? 0)
    }
  }

  #markup(token: ContentToken, opening: string, closing: string): Markup {
    const [begin, end] = token.contentRange
    const cut = missingEnd(token.input, begin, end)
    const message = `'${opening}' has no '${closing}': the text up to the next '${closing}' is lost. Add it.`
    if (cut !== undefined) this.#report.warn('markupNotClosed', message, token.begin)
    return {
      input: token.input,
      path: token.file ?? '',
      range: [begin, cut ?? end],
      report: this.#report,
      isFilter: name => Object.hasOwn(this.#engine.filters, name),
      filterNames: this.#filterNames,
      cut: cut !== undefined,
    }
  }
}

const CONDITIONS: ReadonlySet<string> = new Set(['if', 'elsif', 'unless'])

/** Tags inside blocks, and tags that end them. */
const INNER_TAGS: ReadonlySet<string> = new Set([
  'else',
  'elsif',
  'when',
  'endcomment',
  'endraw',
  ...[...BLOCKS].map(name => `end${name}`),
])

const unexpectedValue = (name: string, text: string): string =>
  name === 'else' && /^if\b/.test(text)
    ? "'else' cannot have a condition. Write 'elsif'."
    : `'${name}' cannot have a value. Remove ${JSON.stringify(text.length > 32 ? `${text.slice(0, 31)}…` : text)}.`

/** Returns a node that writes the result of `textOf`. */
const outputNode = (token: Token, textOf: (context: Context) => unknown): Template => ({
  token,
  render(context: Context, emitter: Emitter): void {
    emitter.write(textOf(context))
  },
})

function textNode(token: Token & { getContent(): string }): Template {
  const text = token.getContent()
  return outputNode(token, () => text)
}

const emptyNode = (token: TopLevelToken): Template => ({ token, render: () => undefined })

function unknownTag(name: string, known: readonly string[], report: Report): string {
  if (name === 'else' || name === 'elsif' || name === 'when')
    return `'${name}' is outside the block to which it belongs. Remove it.`
  if (name === 'elseif') return "There is no tag 'elseif'. Write 'elsif'."
  if (name === 'end') return "There is no tag 'end'. Write it with the name of its block, such as 'endif'."
  const lower = name.toLowerCase()
  if (lower !== name && (known.includes(lower) || INNER_TAGS.has(lower)))
    return `There is no tag '${name}'. Write '${lower}': tags are in lower case.`
  return `There is no tag '${name}'. Correct its name or remove it.${report.suggestion(name, known)}`
}

function reason(error: unknown): string {
  if (error instanceof RangeError) return 'This expression is nested too deeply. Split it with assign.'
  const cause = error instanceof Error && 'originalError' in error ? error.originalError : error
  const whole = cause instanceof Error ? cause.message : String(cause)
  const text = whole.replace(/(, file:.*)?, line:\d+, col:\d+$/s, '')
  if (text.startsWith('illegal tag: {% for'))
    return "This cannot be read: a loop needs a name and a list. Write '{% for name in list %}'."
  return `This cannot be read: ${text}${text.endsWith('.') ? '' : '. Correct it.'}`
}

/** Errors of the library carry a token at the place. Errors that it wraps carry the whole tag. */
function offsetOf(error: unknown, token: TopLevelToken): number {
  if (!LiquidError.is(error)) return token.begin
  const place = (error as unknown as { token?: { input: string; begin: number } }).token
  return place && place.input === token.input ? place.begin : token.begin
}
