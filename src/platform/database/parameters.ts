// Limits on the size of a D1 bound parameter.
import { tooLarge } from '../../kernel/errors.ts'

/** D1's limit for one bound parameter or row, in bytes. */
const MOST_PARAMETER_BYTES = 2_000_000

/** Maximum number of UTF-8 bytes for one UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3

/** Rejects with 413 a value that D1 would reject with an internal error. The local runtime has no limit. */
export function assertFits(value: unknown): void {
  if (typeof value !== 'string' || value.length * MOST_BYTES_A_UNIT <= MOST_PARAMETER_BYTES) return
  const bytes = Buffer.byteLength(value)
  if (bytes > MOST_PARAMETER_BYTES)
    throw tooLarge(
      `A record needs ${bytes} bytes of storage, but at most ${MOST_PARAMETER_BYTES} bytes fit. Send shorter values, or divide the change.`,
    )
}

/** Maximum size of the rows in one parameter, in UTF-8 bytes. A longer row gets its own parameter. */
const LARGEST_PARAMETER_BYTES = 900_000

/** Joins the texts to JSON lists, each short enough in UTF-8 for one bound parameter. */
export function jsonLists(texts: readonly string[]): string[] {
  const lists: string[][] = []
  let room = 0
  for (const text of texts) {
    // Plus one for the comma.
    const bytes = Buffer.byteLength(text) + 1
    if (bytes > room) {
      lists.push([])
      room = LARGEST_PARAMETER_BYTES
    }
    lists.at(-1)!.push(text)
    room -= bytes
  }
  return lists.map(list => `[${list.join(',')}]`)
}
