// A place in the source of a template, and what may be read from there.

/** What cannot be read, and where. */
export class Unreadable extends Error {
  readonly offset: number
  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** Blocks, expressions and texts in each other; deeper ones would fill the stack. */
const DEEPEST = 100

export class Cursor {
  readonly source: string
  at: number
  /** Where reading ends; within a text in quotes before the source does. */
  end: number
  /** Within a text in quotes: its quote, which stands doubled for itself. */
  quote = ''
  #depth = 0

  constructor(source: string) {
    this.source = source
    this.at = 0
    this.end = source.length
  }

  get done(): boolean {
    return this.at >= this.end
  }

  peek(text: string): boolean {
    return this.at + text.length <= this.end && this.source.startsWith(text, this.at)
  }

  /** Passes over the text if it stands here. */
  take(text: string): boolean {
    if (!this.peek(text)) return false
    this.at += text.length
    return true
  }

  /** What the pattern, which is sticky, finds here; passes over it. */
  match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)
    if (!found || this.at + found[0].length > this.end) return undefined
    this.at += found[0].length
    return found
  }

  /** Up to the next sign that may begin anything but text. */
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
      if (this.#depth > DEEPEST) throw this.problem(`It nests deeper than ${DEEPEST}`)
      return read()
    } finally {
      this.#depth -= 1
    }
  }
}
