// Reads RFC 4180 in pieces and keeps only one row in memory. Tolerates the flaws of published files: blanks around cells, any
// line ending, and quotes inside cells that do not begin with a quote.

/** The maximum number of columns per table and of characters per cell (resources brief 1.2). */
export const MOST_COLUMNS = 200
const LONGEST_CELL = 8_192

/** The error for text that cannot be read past this line. */
export class CsvFault extends Error {
  readonly line: number
  /** Whether the row or cell exceeds a limit. Otherwise a quote is unclosed or misplaced. */
  readonly isTooLarge: boolean
  constructor(line: number, message: string, isTooLarge = false) {
    super(message)
    this.line = line
    this.isTooLarge = isTooLarge
  }
}

/** `line` is the line on which the row begins. Cells are trimmed. `fault` describes a problem with quotes. */
export type CsvRow = { readonly line: number; readonly cells: string[]; readonly fault?: string }

type State = 'start' | 'plain' | 'quoted' | 'quoteInQuoted' | 'afterQuoted'

const COMMA = 0x2c
const QUOTE = 0x22
const CR = 0x0d
const LF = 0x0a

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

export class CsvReader {
  readonly #take: (row: CsvRow) => void
  readonly #keepsLeadingBlanks: boolean
  #state: State = 'start'
  #cells: string[] = []
  #cell = ''
  #line = 1
  #rowLine = 1
  #fault: string | undefined
  #quoteLine = 1
  /** Whether the last character was a carriage return, so that a line feed after it belongs to the same line ending. */
  #afterReturn = false

  /** `keepsLeadingBlanks` trims cells only at the end, and treats a quote after a blank as part of the cell. */
  constructor(take: (row: CsvRow) => void, { keepsLeadingBlanks = false } = {}) {
    this.#take = take
    this.#keepsLeadingBlanks = keepsLeadingBlanks
  }

  get line(): number {
    return this.#line
  }

  /** Skips rows that are empty or contain only blank cells. Throws `CsvFault`. */
  push(text: string): void {
    let at = 0
    while (at < text.length) {
      const code = text.charCodeAt(at)
      const isOfReturn = this.#afterReturn && code === LF
      this.#afterReturn = false
      if (isOfReturn) {
        if (this.#state === 'quoted') this.#cell += '\n'
        at += 1
        continue
      }
      switch (this.#state) {
        case 'start':
          if (isBlank(code) && !this.#keepsLeadingBlanks) at += 1
          else if (code === QUOTE) {
            this.#state = 'quoted'
            this.#quoteLine = this.#line
            at += 1
          } else this.#state = 'plain'
          break
        case 'plain':
          at = this.#plain(text, at)
          break
        case 'quoted':
          at = this.#quoted(text, at)
          break
        case 'quoteInQuoted':
          if (code === QUOTE) {
            this.#cell += '"'
            this.#state = 'quoted'
            at += 1
          } else this.#state = 'afterQuoted'
          break
        case 'afterQuoted':
          if (isBlank(code)) at += 1
          else {
            if (code !== COMMA && code !== CR && code !== LF)
              this.#fault ??= 'There is text after a closing quote. Double the quotes that belong to a cell.'
            this.#state = 'plain'
          }
          break
      }
    }
  }

  end(): void {
    const unclosed = 'A quote is opened in this line and never closed. Close or double it.'
    if (this.#state === 'quoted') throw new CsvFault(this.#quoteLine, unclosed)
    if (this.#state !== 'start' || this.#cells.length > 0 || this.#cell !== '') this.#endRow()
  }

  #plain(text: string, from: number): number {
    let at = from
    let code = 0
    for (; at < text.length; at += 1) {
      code = text.charCodeAt(at)
      if (code === COMMA || code === CR || code === LF) break
    }
    this.#append(text.slice(from, at))
    if (at === text.length) return at
    if (code === COMMA) this.#endCell()
    else {
      this.#endRow()
      this.#line += 1
      this.#rowLine = this.#line
      this.#afterReturn = code === CR
    }
    return at + 1
  }

  #quoted(text: string, from: number): number {
    const quote = text.indexOf('"', from)
    const to = quote < 0 ? text.length : quote
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at)
      if (code === LF && (at === from || text.charCodeAt(at - 1) !== CR)) this.#line += 1
      else if (code === CR) this.#line += 1
    }
    this.#append(text.slice(from, to))
    if (quote < 0) {
      this.#afterReturn = to > from && text.charCodeAt(to - 1) === CR
      return to
    }
    this.#state = 'quoteInQuoted'
    return quote + 1
  }

  #append(text: string): void {
    this.#cell += text
    if (this.#cell.length <= LONGEST_CELL) return
    const isQuoted = this.#state === 'quoted'
    const message = `A cell has more than ${LONGEST_CELL} characters${isQuoted ? ', or its quote is not closed' : ''}. Shorten it.`
    throw new CsvFault(isQuoted ? this.#quoteLine : this.#line, message, !isQuoted)
  }

  #endCell(): void {
    if (this.#cells.length === MOST_COLUMNS)
      throw new CsvFault(
        this.#rowLine,
        `The row has more than ${MOST_COLUMNS} cells. Remove some of them.`,
        true,
      )
    this.#cells.push(this.#keepsLeadingBlanks ? this.#cell.trimEnd() : this.#cell.trim())
    this.#cell = ''
    this.#state = 'start'
  }

  #endRow(): void {
    this.#endCell()
    const [cells, fault] = [this.#cells, this.#fault]
    this.#cells = []
    this.#fault = undefined
    if (fault !== undefined || cells.some(cell => cell !== ''))
      this.#take({ line: this.#rowLine, cells, ...(fault !== undefined && { fault }) })
  }
}

// Decodes UTF-8 in pieces (resources brief 1.2).

/** `line` counts from 0 within the piece. */
export class NotUtf8 extends Error {
  readonly line: number
  constructor(line: number) {
    super('not UTF-8')
    this.line = line
  }
}

const decoder = (): TextDecoder => new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** Accepts text with or without a byte-order mark. */
export class Utf8Text {
  readonly #decoder = decoder()

  /** Decodes the next piece. Throws `NotUtf8`. */
  read(piece: Uint8Array): string {
    try {
      return this.#decoder.decode(piece, { stream: true })
    } catch {
      throw new NotUtf8(badLine(piece))
    }
  }

  /** Call it after the last piece. Throws `NotUtf8` if that piece ends within a character. */
  end(): string {
    try {
      return this.#decoder.decode()
    } catch {
      throw new NotUtf8(0)
    }
  }
}

/** Returns the first line that is not valid UTF-8 by itself. Bytes left over from the previous piece belong to the first line. */
function badLine(piece: Uint8Array): number {
  let line = 0
  let from = 0
  while (from < piece.length) {
    const end = piece.indexOf(LF, from)
    const to = end < 0 ? piece.length : end
    try {
      decoder().decode(piece.subarray(from, to), { stream: end < 0 })
    } catch {
      return line
    }
    line += 1
    from = to + 1
  }
  return 0
}
