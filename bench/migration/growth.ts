// Does memory grow with the book?
import { median } from '../figures.ts'

/** Megabytes in use after a collection, when so many accounts were migrated. */
export type Look = { readonly accounts: number; readonly megabytes: number }

/** Looks without which nothing can be said of growth. */
const FEWEST_LOOKS = 9
/** The share of the looks that is not judged, the first ones: what is loaded and compiled once is there after them. */
const WARMING = 1 / 5
/**
 * Megabytes that the judged part may grow by. Looks differ by as much whatever is done: what is under way when one is made, and
 * policies whose timers go off, which their objects keep for ten seconds.
 */
export const MOST_GROWN_MB = 15

/**
 * Megabytes by which memory grows from the first judged look to the last: along the line whose slope is the median of those
 * between any two looks, so that one that differs moves it little. Undefined where there are too few looks.
 */
export function growthOf(looks: readonly Look[]): number | undefined {
  if (looks.length < FEWEST_LOOKS) return undefined
  const judged = looks.slice(Math.floor(looks.length * WARMING))
  const slopes = judged.flatMap((one, at) =>
    judged
      .slice(at + 1)
      .map(other => (other.megabytes - one.megabytes) / Math.max(1, other.accounts - one.accounts)),
  )
  return median(slopes) * (judged.at(-1)!.accounts - judged[0]!.accounts)
}

/** Throws where the heap grew with the book. */
export function assertFlat({ growth }: { readonly growth: number | undefined }): void {
  if (growth === undefined || growth <= MOST_GROWN_MB) return
  throw new Error(
    `The heap grew with the book: by ${growth.toFixed(1)} MB over the judged looks, at most ${MOST_GROWN_MB} may be.`,
  )
}
