// Repairs slips in the markup of a source, then splits it into text, outputs and tags.
import { LiquidError, Tokenizer, type TopLevelToken, TypeGuards } from 'liquidjs/dist/liquid.browser.mjs'
import type { Report } from '../findings.ts'

type Options = NonNullable<Parameters<Tokenizer['readTopLevelTokens']>[0]>

/**
 * Matches `{ % if x %}`, and a path or filtered value after one brace and before two: `{ data.x }}`, `{ 12 | add_fee: "fee" }}`.
 */
const NEARLY_MARKUP =
  /\{\s{1,9}%-?\s{0,9}[a-z]{1,20}\b[^{}%]{0,200}%\}|(?<!\{)\{\s{0,9}(?:[a-z_]\w{0,99}(?:\.\w{1,99}){1,20}|[\w."' -]{1,99}\|\s{0,9}[a-z_]{1,99})\b[^{}<]{0,200}\}\}/

/** Splits a source into text, outputs and tags. Unclosed markup is reported and becomes text. */
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
      // The parser reports an unclosed comment or raw block, at its beginning.
      if (!this.#inRaw)
        this.#report.error('markupNotClosed', notClosed(this.input.slice(begin, begin + 2)), begin)
      return this.#textUpTo(begin, Math.max(this.p, begin + 2))
    }
  }

  /** Warns about text that looks like a tag or an output. It is printed unchanged, because text may contain anything. */
  #checkText(begin: number, end: number): void {
    const found = NEARLY_MARKUP.exec(this.input.slice(begin, end))
    if (!found) return
    const message = `${JSON.stringify(found[0])} is printed as text. If you mean a tag or an output, write '{{ … }}' or '{% … %}', with no blank between the two characters.`
    this.#report.warn('markupNotOpened', message, begin + found.index)
  }

  /** Reads everything up to `endcomment` as the comment. */
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

  /** A quote ends at the next quote of its kind, because Liquid has no escapes. */
  override readQuoted(): ReturnType<Tokenizer['readQuoted']> {
    const quote = this.peek()
    const close = this.input.indexOf(quote, this.p + 1)
    this.p = close < 0 ? this.p + 1 : close + 1
    return undefined
  }
}

function notClosed(opening: string): string {
  return opening === '{{'
    ? "The output is not closed. Add '}}', and check that its quotes are closed."
    : "The tag has no name or is not closed. Write '{% name … %}'."
}

/**
 * Returns where a tag or output without its own end stops making sense: at the end of its line, or at other markup. Undefined if
 * `[begin, end)` contains no other markup outside quotes, so that nothing is missing.
 */
export function missingEnd(input: string, begin: number, end: number): number | undefined {
  for (let at = begin; at < end; at = nextUnquoted(input, at, end)) {
    if (input[at] !== '{' || (input[at + 1] !== '{' && input[at + 1] !== '%')) continue
    const swallowed = input.slice(begin, at)
    const line = swallowed.indexOf('\n', swallowed.search(/\S|$/))
    const text = line < 0 ? swallowed : swallowed.slice(0, line)
    const stop = text.search(/\}|<[a-z/!]/i)
    return begin + (stop < 0 ? text.length : stop)
  }
  return undefined
}

/** HTML entities that editors write for characters of a tag. */
const ENTITIES: Readonly<Record<string, string>> = Object.fromEntries([
  ['&lt;', '<'] as const,
  ['&gt;', '>'] as const,
  ['&amp;', '&'] as const,
  ['&nbsp;', ' '] as const,
  ...['&quot;', '&#34;'].map(entity => [entity, '"'] as const),
  ...['&#39;', '&apos;'].map(entity => [entity, "'"] as const),
])

/** Returns the plain quote for a word processor's quote. */
const plainQuote = (quote: string): string => ('“”„'.includes(quote) ? '"' : "'")

const OPENING = /\{[{%]/g
const ENDING = /%\}|\}\}/g
const TAG_NAME = /-?\s*([a-z#]\w*)/iy
const UNTIDY = /[{}\uFEFF]|(?:&(?:lt|gt|amp);)+|&(?:nbsp|quot|apos|#34|#39);|[“”„‘’‚]/g

/** `text` replaces a part of a tag and has the same length. */
type Repair = { begin: number; end: number; text: string }

/**
 * Repairs slips inside tags and outputs, each with a warning: braces of an output inside a tag, an extra brace before either,
 * HTML entities and curly quotes. A readable source remains unchanged, because none of these slips can be read in another way.
 * Every character keeps its place, so that offsets are valid in both.
 */
export function tidySource(source: string, report: Report): string {
  const repairs: Repair[] = []
  for (let at = nextMarkup(source, 0); at >= 0; )
    at = nextMarkup(source, tidyMarkup(source, at, repairs, report))
  if (repairs.length === 0) return source
  const parts: string[] = []
  let done = 0
  for (const { begin, end, text } of repairs) {
    parts.push(source.slice(done, begin), text)
    done = end
  }
  return parts.join('') + source.slice(done)
}

function nextMarkup(source: string, from: number): number {
  OPENING.lastIndex = from
  return OPENING.exec(source)?.index ?? -1
}

/** Repairs the tag or output at `begin`. Returns where to look for the next one. */
function tidyMarkup(source: string, begin: number, repairs: Repair[], report: Report): number {
  if (source[begin + 1] === '%') return tidyTag(source, begin, repairs, report)
  if (source.startsWith('{{%', begin)) {
    ENDING.lastIndex = begin + 3
    const ending = ENDING.exec(source)
    if (ending?.[0] === '%}') {
      warnOfBrace(report, begin)
      repairs.push({ begin, end: begin + 3, text: '{% ' })
      return tidyContent(source, begin + 3, ending.index, repairs, report) + 2
    }
  }
  const isTripled = source.startsWith('{{{', begin)
  const opened = begin + (isTripled ? 3 : 2)
  const end = endOfOutput(source, opened)
  // The parser then treats the rest as text.
  if (end < 0) return source.length
  // An output inside an output: the first output has no end.
  if (!isTripled)
    return missingEnd(source, opened, end) === undefined
      ? tidyContent(source, opened, end, repairs, report) + 2
      : opened
  warnOfBrace(report, begin)
  repairs.push({ begin, end: opened, text: '{{ ' })
  tidyContent(source, opened, end, repairs, report)
  if (source[end + 2] !== '}') return end + 2
  repairs.push({ begin: end, end: end + 3, text: ' }}' })
  return end + 3
}

/** Skips the contents of comments and raw blocks. */
function tidyTag(source: string, begin: number, repairs: Repair[], report: Report): number {
  const end = source.indexOf('%}', begin + 2)
  if (end < 0) return source.length
  TAG_NAME.lastIndex = begin + 2
  const name = TAG_NAME.exec(source)?.[1] ?? ''
  // These have no value. The parser ignores anything after their name.
  if (/^(?:end|else$)/.test(name)) return end + 2
  if (name !== 'comment' && name !== 'raw') return tidyContent(source, begin + 2, end, repairs, report) + 2
  const closing = new RegExp(`\\{%-?\\s*end${name}\\b`, 'g')
  closing.lastIndex = end
  return closing.exec(source)?.index ?? source.length
}

const warnOfBrace = (report: Report, offset: number): void =>
  report.warn('extraBrace', 'There is one brace too many here. It is ignored; remove it.', offset)

/** Returns the end of the output, ignoring `}}` in quotes. Negative if there is none. */
function endOfOutput(source: string, begin: number): number {
  for (let at = begin; at < source.length; at = nextUnquoted(source, at, source.length))
    if (source[at] === '}' && source[at + 1] === '}') return at
  return -1
}

/**
 * Returns the place after `at`, or after the closing quote if one opens there. A quote that is never closed is an ordinary
 * character.
 */
function nextUnquoted(source: string, at: number, end: number): number {
  const character = source[at]!
  const close = character === '"' || character === "'" ? source.indexOf(character, at + 1) : -1
  return close < 0 || close >= end ? at + 1 : close + 1
}

/** Repairs the inside of a tag or output and returns its end. Markup that runs into other markup remains unchanged. */
function tidyContent(source: string, begin: number, end: number, repairs: Repair[], report: Report): number {
  const found = untidyPlaces(source, begin, end)
  const first = found[0]
  if (!first || runsIntoText(source, begin, found)) return end
  const reported = new Set<string>()
  const warn = (code: string, message: string, offset: number): void => {
    if (!reported.has(code)) report.warn(code, message, offset)
    reported.add(code)
  }
  let isOpen = false
  for (const { at, text } of found) {
    const { length } = text
    const repair = (plain: string): void => {
      repairs.push({ begin: at, end: at + length, text: plain })
    }
    if (text === '{' || text === '}') {
      warn('bracesInMarkup', 'Braces inside a tag or output are ignored. Write the name without them.', at)
      repair(' ')
      continue
    }
    if (text === '\uFEFF') {
      const message = 'A byte-order mark inside a tag or output is read as a blank. Remove it.'
      warn('invisibleCharacter', message, at)
      repair(' ')
      continue
    }
    const isEntity = text.startsWith('&')
    const plain = isEntity ? text.replaceAll(/&#?\w+;/g, entity => ENTITIES[entity]!) : plainQuote(text)
    if (isEntity)
      warn(
        'htmlEntity',
        `'${text}' is the HTML form of '${plain}' and is read as such. Write '${plain}'.`,
        at,
      )
    else warn('curlyQuote', `'${text}' is read as ${plain}. Write straight quotes.`, at)
    const isQuote = plain === '"' || plain === "'"
    if (isQuote) isOpen = !isOpen
    // Pads with blanks outside of quotes, and before an operator that may continue, such as '&gt;='.
    repair(isQuote && !isOpen ? plain.padEnd(length) : plain.padStart(length))
  }
  return end
}

type Place = { at: number; text: string }

function untidyPlaces(source: string, begin: number, end: number): Place[] {
  const places: Place[] = []
  let quoted = begin
  UNTIDY.lastIndex = begin
  for (let match = UNTIDY.exec(source); match && match.index < end; match = UNTIDY.exec(source)) {
    quoted = afterQuotes(source, quoted, match.index, end)
    if (quoted > match.index) UNTIDY.lastIndex = quoted
    else places.push({ at: match.index, text: match[0] })
  }
  return places
}

/** Skips quoted text before the place. Returns more than the place if that is in quotes. */
function afterQuotes(source: string, from: number, place: number, end: number): number {
  let at = from
  while (at < place) at = nextUnquoted(source, at, end)
  return at
}

/** Whether the markup has no end: it contains a tag, or continues on another line before the first brace. */
function runsIntoText(source: string, begin: number, found: readonly Place[]): boolean {
  const brace = found.find(({ text }) => text === '{' || text === '}')
  if (!brace) return false
  if (found.some(({ at, text }) => text === '{' && source[at + 1] === '%')) return true
  const beforeBrace = source.slice(begin, brace.at).trim()
  return beforeBrace.includes('\n') || /<[a-z/!]/i.test(source.slice(begin, found.at(-1)!.at))
}
