/** Larger sources are rejected (resources brief 4.1). */
export const LARGEST_SOURCE_CHARACTERS = 5_000_000

/**
 * The limit for the parts of a template (`partsOf`), since its size in memory depends on them, not on its text. A part takes about
 * 150 bytes and at most 350, so a template takes at most 70 MB.
 */
export const MOST_PARTS = 200_000

/** Thrown by parsers that count parts while they read. */
export class TooManyParts extends Error {}

/** Each tag and output counts for as much as this many words. */
const PARTS_OF_MARKUP = 4

/** Counts the parts of a Liquid template before it is parsed: its tags and outputs, and the words and signs in them. */
export function partsOf(source: string): number {
  let parts = 0
  for (let at = nextMarkup(source, 0); at !== -1; ) {
    const close = source.indexOf(source[at + 1] === '%' ? '%}' : '}}', at + 2)
    const end = close === -1 ? source.length : close
    parts += PARTS_OF_MARKUP
    let inWord = false
    for (let index = at + 2; index < end; index += 1) {
      const unit = source.charCodeAt(index)
      const isWord = isWordUnit(unit)
      if (unit > 32 && !(isWord && inWord)) parts += 1
      inWord = isWord
    }
    at = nextMarkup(source, end)
  }
  return parts
}

function nextMarkup(source: string, from: number): number {
  for (let at = source.indexOf('{', from); at !== -1; at = source.indexOf('{', at + 1))
    if (source[at + 1] === '{' || source[at + 1] === '%') return at
  return -1
}

/** Digits, letters, and everything beyond ASCII. */
const isWordUnit = (unit: number): boolean =>
  (unit >= 48 && unit <= 57) ||
  (unit >= 65 && unit <= 90) ||
  unit === 95 ||
  (unit >= 97 && unit <= 122) ||
  unit > 127

/** Why a template is too large, or undefined. */
export function sizeProblem(source: string): string | undefined {
  return source.length > LARGEST_SOURCE_CHARACTERS
    ? `The template is longer than ${LARGEST_SOURCE_CHARACTERS} characters. Split it into snippets.`
    : undefined
}

export const PARTS_PROBLEM = `The template has more than ${MOST_PARTS} parts: tags, outputs, and the words and signs in them. Split it into snippets, or look values up in a table.`

/** Limits of one rendering. They are counted, not timed, because the platform's clock does not advance during computation. */
export type RenderLimits = {
  /**
   * Tags, outputs, texts and loop turns each count as one node, a filter as half, a comparison as a quarter, and 256 characters
   * as one.
   */
  nodes: number
  outputBytes: number
  /** Characters and list items that filters, captures and ranges create. */
  memory: number
  /** How deep `include` and `render` may nest. */
  includeDepth: number
}

const UNITS_PER_NODE = 256
/** The work of a filter; of an item or comparison; and of a step of a path. A node is 256 units. */
export const FILTER_WORK = 128
export const ITEM_WORK = 64
export const STEP_WORK = 16

const DEFAULT_LIMITS: RenderLimits = {
  nodes: 200_000,
  outputBytes: 10_000_000,
  memory: 8_000_000,
  includeDepth: 8,
}

/** Counts the work of one rendering. Every method throws `TemplateError` (`templateLimit`) when its limit is exceeded. */
export class RenderBudget {
  readonly limits: RenderLimits
  readonly #mostWork: number
  #work = 0
  #outputBytes = 0
  #memory = 0
  readonly #formats = new Set<string>()

  constructor(limits?: Partial<RenderLimits>) {
    this.limits = limits ? { ...DEFAULT_LIMITS, ...limits } : DEFAULT_LIMITS
    this.#mostWork = this.limits.nodes * UNITS_PER_NODE
  }

  countNode(): void {
    this.countWork(UNITS_PER_NODE)
  }

  /** `units` are characters read, or a multiple of the constants above. */
  countWork(units: number): void {
    this.#work += units
    if (this.#work > this.#mostWork)
      throw limitError(`${this.limits.nodes} rendered nodes and loop iterations`)
  }

  countOutput(text: string): void {
    this.#outputBytes += utf8Bytes(text)
    if (this.#outputBytes > this.limits.outputBytes)
      throw limitError(`${this.limits.outputBytes} bytes of output`)
  }

  /** Counts the first use of each language and currency of numbers in a rendering. */
  countFormat(name: string, most: number): void {
    if (this.#formats.size >= most && !this.#formats.has(name))
      throw limitError(`${most} locales and currencies in number formats`)
    this.#formats.add(name)
  }

  countMemory(units: number): void {
    if (!(units > 0)) return
    this.#memory += units
    if (this.#memory > this.limits.memory)
      throw limitError(`${this.limits.memory} characters and items in memory`)
  }
}

function limitError(limit: string): TemplateError {
  const message = `The template needs more than ${limit}. Shorten its loops or the text that they build.`
  return new TemplateError('templateLimit', message)
}

function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}

type TemplateErrorCode = 'templateFailed' | 'templateLimit'

/** A place in the archive. Line and column count from 1. */
type TemplatePosition = { path: string; line?: number; column?: number }

const LONGEST_MESSAGE = 1_000

/** Shortens a message that quotes a long value. What to do stays, because it is at the end. */
const withoutMiddle = (message: string): string =>
  message.length > LONGEST_MESSAGE
    ? `${message.slice(0, LONGEST_MESSAGE - 302)} … ${message.slice(-299)}`.toWellFormed()
    : message

/** The template requires something impossible or exceeded a counted limit. The service responds with HTTP 422. */
export class TemplateError extends Error {
  readonly code: TemplateErrorCode
  readonly path?: string
  readonly line?: number
  readonly column?: number

  constructor(code: TemplateErrorCode, message: string, at?: TemplatePosition) {
    super(withoutMiddle(message))
    this.name = 'TemplateError'
    this.code = code
    this.path = at?.path
    this.line = at?.line
    this.column = at?.column
  }
}

/** Returns the snippet, to be rendered within those of `chain`. Fails for a name that is no text or unknown, a cycle, or nesting that is too deep. */
export function includedSnippet<Snippet>(
  name: unknown,
  find: ((name: string) => Snippet | undefined) | undefined,
  chain: readonly string[],
  { includeDepth }: Pick<RenderLimits, 'includeDepth'>,
): { name: string; snippet: Snippet } {
  // A map may have no usable `toString`, so a name that is not text is never converted.
  if (typeof name !== 'string')
    throw new TemplateError('templateFailed', 'The name of a snippet must be a text. Correct the expression.')
  const snippet = find?.(name)
  const unknown = `There is no snippet '${name}'. Correct its name or add it.`
  if (!snippet) throw new TemplateError('templateFailed', unknown)
  const circle = `The snippet '${name}' includes itself: ${chain.join(' → ')} → ${name}.`
  if (chain.includes(name)) throw new TemplateError('templateFailed', circle)
  if (chain.length >= includeDepth)
    throw new TemplateError('templateLimit', `Snippets are nested deeper than ${includeDepth}.`)
  return { name, snippet }
}
