import { createReadStream } from 'node:fs'

export type Line = {
  /** Without the line feed at its end. */
  readonly text: string
  /** The byte at which it begins. */
  readonly start: number
  /** In bytes, without the line feed. */
  readonly length: number
  /** False for a last line without a line feed. */
  readonly isEnded: boolean
}

/**
 * Yields the lines of a JSON Lines file. Only a line feed ends a line. Node's own reader also ends lines at U+2028 and at a lone
 * carriage return, which may occur within JSON text.
 */
export async function* linesOf(path: string): AsyncGenerator<Line> {
  let begun: Buffer[] = []
  let start = 0
  for await (const chunk of createReadStream(path)) {
    let rest = chunk as Buffer
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...begun, rest.subarray(0, end)])
      yield { text: line.toString(), start, length: line.length, isEnded: true }
      start += line.length + 1
      begun = []
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) begun.push(rest)
  }
  const last = Buffer.concat(begun)
  if (last.length > 0) yield { text: last.toString(), start, length: last.length, isEnded: false }
}
