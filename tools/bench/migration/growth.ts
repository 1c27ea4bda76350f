// Does memory grow with the book?
import { median } from '../figures.ts'

/** Megabytes in use after a collection, when so many accounts were migrated. */
export type Look = { readonly accounts: number; readonly megabytes: number }

/** Looks without which nothing can be said of growth. */
const FEWEST_LOOKS = 9
/** The share of the looks that is not judged, the first ones: what is loaded and compiled once is there after them. */
const WARMING = 1 / 5
/** The looks after them that what is left is held against. */
const FIRST = 4
/** Megabytes by which what is left may differ: looks do whatever is done. */
export const MOST_GROWN_MB = 15

/** What was in use when the book was begun and all was loaded; undefined where there are too few looks. */
export function usualOf(looks: readonly Look[]): number | undefined {
  if (looks.length < FEWEST_LOOKS) return undefined
  const from = Math.floor(looks.length * WARMING)
  return median(looks.slice(from, from + FIRST).map(({ megabytes }) => megabytes))
}

/**
 * Megabytes that the book has left: in use when all is migrated and told and nothing is under way any more, beyond what was usual at
 * its beginning. While it is migrated far more may be in use for a while: policies whose timers go off are kept by their objects for ten
 * seconds. Undefined where nothing can be said.
 */
export function growthOf(looks: readonly Look[], rested: number | undefined): number | undefined {
  const usual = usualOf(looks)
  return usual === undefined || rested === undefined ? undefined : rested - usual
}

/** Throws where the heap grew with the book. */
export function assertFlat({ growth }: { readonly growth: number | undefined }): void {
  if (growth === undefined || growth <= MOST_GROWN_MB) return
  throw new Error(
    `The heap grew with the book: ${growth.toFixed(1)} MB are left of it, at most ${MOST_GROWN_MB} may be.`,
  )
}
