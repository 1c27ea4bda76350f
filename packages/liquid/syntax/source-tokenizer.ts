import { LiquidError, Tokenizer, type TopLevelToken, TypeGuards } from 'liquidjs/dist/liquid.browser.mjs'
import type { Report } from '../findings.ts'

type Options = NonNullable<Parameters<Tokenizer['readTopLevelTokens']>[0]>

/** `{ % if x %}`, or a path or a filtered value in one brace and two: `{ data.x }}`, `{ 12 | add_fee: "fee" }}`. */
const NEARLY_MARKUP =
  /\{\s{1,9}%-?\s{0,9}[a-z]{1,20}\b[^{}%]{0,200}%\}|(?<!\{)\{\s{0,9}(?:[a-z_]\w{0,99}(?:\.\w{1,99}){1,20}|[\w."' -]{1,99}\|\s{0,9}[a-z_]{1,99})\b[^{}<]{0,200}\}\}/

/** Cuts a source into text, outputs and tags. What never ends is reported and taken as text. */
export class SourceTokenizer extends Tokenizer {
  readonly #report: Report
  #inComment = false
  #inRaw = false

  constructor(source: string, path: string, report: Report) {
    super(source, undefined, path)
    this.#report = report
  }

  override readTopLevelToken(options: Options): TopLevelToken {
    const begin = this.p
    if (this.#inComment) {
      const body = this.#readCommentBody()
      this.#inComment = false
      if (body) return body
    }
    try {
      const token = super.readTopLevelToken(options)
      if (TypeGuards.isHTMLToken(token) && !this.#inRaw) this.#checkText(token.begin, token.end)
      this.#inComment = TypeGuards.isTagToken(token) && token.name === 'comment'
      this.#inRaw = TypeGuards.isTagToken(token) ? token.name === 'raw' : this.#inRaw
      return token
    } catch (error) {
      if (!LiquidError.is(error)) throw error
      // The parser reports an open comment and an open raw block, at their beginning.
      if (!this.#inRaw)
        this.#report.add('ERROR', 'markupNotClosed', notClosed(this.input.slice(begin, begin + 2)), begin)
      return this.#textUpTo(begin, Math.max(this.p, begin + 2))
    }
  }

  /** Warns of text that was meant to be a tag or an output. It prints as it is, since text may hold anything. */
  #checkText(begin: number, end: number): void {
    const found = NEARLY_MARKUP.exec(this.input.slice(begin, end))
    if (!found) return
    const message = `${JSON.stringify(found[0])} is printed as text. If it is meant to be read, write '{{ … }}' or '{% … %}', with no blank between the two characters.`
    this.#report.add('WARNING', 'markupNotOpened', message, begin + found.index)
  }

  /** Everything up to `endcomment`, whatever it looks like. */
  #readCommentBody(): TopLevelToken | undefined {
    const begin = this.p
    const end = /\{%-?\s*endcomment\b/g
    end.lastIndex = begin
    const found = end.exec(this.input)
    if (found?.index === begin) return undefined
    return this.#textUpTo(begin, found?.index ?? this.input.length)
  }

  #textUpTo(begin: number, end: number): TopLevelToken {
    const whole = this.N
    this.p = begin
    this.N = Math.min(end, whole)
    const token = this.readHTMLToken([])
    this.N = whole
    return token
  }

  /** Quotes end at the next one of their kind: Liquid knows no escapes. */
  override readQuoted(): ReturnType<Tokenizer['readQuoted']> {
    const quote = this.peek()
    const close = this.input.indexOf(quote, this.p + 1)
    this.p = close < 0 ? this.p + 1 : close + 1
    return undefined
  }
}

function notClosed(opening: string): string {
  return opening === '{{'
    ? "The output is not closed. Add '}}', and see that its quotes are closed."
    : "The tag has no name or is not closed. Write '{% name … %}'."
}

/**
 * Where a tag or output whose own end is missing stops making sense: at the end of its line, or where other
 * markup begins. Undefined when `[begin, end)` holds no other markup outside of quotes, so nothing is missing.
 */
export function missingEnd(input: string, begin: number, end: number): number | undefined {
  let at = begin
  while (at < end) {
    const character = input[at]
    if (character === '"' || character === "'") {
      const close = input.indexOf(character, at + 1)
      at = close > 0 && close < end ? close + 1 : at + 1
    } else if (character === '{' && (input[at + 1] === '{' || input[at + 1] === '%')) {
      const swallowed = input.slice(begin, at)
      const line = swallowed.indexOf('\n', swallowed.search(/\S|$/))
      const text = line < 0 ? swallowed : swallowed.slice(0, line)
      const stop = text.search(/\}|<[a-z/!]/i)
      return begin + (stop < 0 ? text.length : stop)
    } else at += 1
  }
  return undefined
}
