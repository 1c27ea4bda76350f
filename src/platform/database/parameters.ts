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
