// Bytes of UTF-8 as text, in pieces (resources brief 1.2).

/** The line that is not UTF-8, counted from 0 within the piece. */
export class NotUtf8 extends Error {
  readonly line: number
  constructor(line: number) {
    super('not UTF-8')
    this.line = line
  }
}

const LF = 0x0a

/** Decodes pieces one after the other, with or without a byte-order mark. */
export class Utf8Text {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

  /** Throws `NotUtf8`. */
  read(piece: Uint8Array): string {
    try {
      return this.#decoder.decode(piece, { stream: true })
    } catch {
      throw new NotUtf8(badLine(piece))
    }
  }

  /** After the last piece. Throws `NotUtf8` when it ends within a character. */
  end(): string {
    try {
      return this.#decoder.decode()
    } catch {
      throw new NotUtf8(0)
    }
  }
}

/** The first line of the piece that is none by itself; what began in the piece before counts to the first. */
function badLine(piece: Uint8Array): number {
  let line = 0
  let from = 0
  while (from < piece.length) {
    const end = piece.indexOf(LF, from)
    const to = end < 0 ? piece.length : end
    try {
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(piece.subarray(from, to), {
        stream: end < 0,
      })
    } catch {
      return line
    }
    line += 1
    from = to + 1
  }
  return 0
}
