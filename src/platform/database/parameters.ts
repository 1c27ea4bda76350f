// How much one bound parameter of D1 holds.
import { tooLarge } from '../../kernel/errors.ts'

/** What D1 takes in one bound parameter or row. */
const MOST_PARAMETER_BYTES = 2_000_000

/** UTF-8 bytes of a UTF-16 unit. */
const MOST_BYTES_A_UNIT = 3

/** Refuses (413) what D1 refuses as a fault of ours. A local runtime takes any length. */
export function assertFits(value: unknown): void {
  if (typeof value !== 'string' || value.length * MOST_BYTES_A_UNIT <= MOST_PARAMETER_BYTES) return
  const bytes = Buffer.byteLength(value)
  if (bytes > MOST_PARAMETER_BYTES)
    throw tooLarge(
      `A record would take ${bytes} bytes to store, and at most ${MOST_PARAMETER_BYTES} fit; send shorter values, or divide the change.`,
    )
}

/** UTF-8 bytes of the rows of one parameter; a longer row is alone in one. */
const LARGEST_PARAMETER_BYTES = 900_000

/** JSON lists of the texts, each short enough in UTF-8 for one bound parameter. */
export function jsonLists(texts: readonly string[]): string[] {
  const lists: string[][] = []
  let room = 0
  for (const text of texts) {
    // One more for the comma.
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
