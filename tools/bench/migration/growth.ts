// Determines whether memory use grows with the book.
import { median } from '../figures.ts'

/** Megabytes in use after a collection, when this many accounts were migrated. */
export type Look = { readonly accounts: number; readonly megabytes: number }

/** The fewest looks with which growth can be judged. */
const FEWEST_LOOKS = 9
/** The share of the first looks that is ignored, because code is still being loaded and compiled. */
const WARMING = 1 / 5
/** The number of looks after these with which the rest is compared. */
const FIRST = 4
/** Megabytes by which the rest may differ, because the looks themselves vary. */
export const MOST_GROWN_MB = 15

/**
 * Returns the usual use of memory after everything was loaded, at the beginning of the book. Undefined if there are too few
 * looks.
 */
export function usualOf(looks: readonly Look[]): number | undefined {
  if (looks.length < FEWEST_LOOKS) return undefined
  const from = Math.floor(looks.length * WARMING)
  return median(looks.slice(from, from + FIRST).map(({ megabytes }) => megabytes))
}

/**
 * Returns the megabytes that the book has left in memory: the use after everything is migrated and delivered and nothing is in
 * progress, minus the usual use at the beginning. During the migration, far more may be in use for a while: objects keep policies
 * whose timers fire for ten seconds. Undefined if this cannot be determined.
 */
export function growthOf(looks: readonly Look[], rested: number | undefined): number | undefined {
  const usual = usualOf(looks)
  return usual === undefined || rested === undefined ? undefined : rested - usual
}

/** Throws if the heap grew with the book. */
export function assertFlat({ growth }: { readonly growth: number | undefined }): void {
  if (growth === undefined || growth <= MOST_GROWN_MB) return
  throw new Error(
    `The heap grew with the book: ${growth.toFixed(1)} MB remain after the migration, but at most ${MOST_GROWN_MB} MB are allowed.`,
  )
}
