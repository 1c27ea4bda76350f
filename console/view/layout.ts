// Measures of the timeline in pixels, and the positions of its times and steps.
import type { History } from '../knowledge.ts'

/** Space above the rows. */
export const TOP = 8
/** Space for the marks of the axis. */
const AXIS = 24
/** Space between the rows and the premium per day. */
export const RATE_GAP = 30
/** Height of the premium per day. */
export const RATE = 72

const ROW = 46
/** Least height of a row, for a policy with very many transactions. */
const LEAST_ROW = 22
/** Rows become lower when together they would exceed this height. */
const TALLEST = 1_100
/** A lower row shows only the name of its transaction. */
export const ROW_OF_TWO_LINES = 40

/** The size of the timeline, and the positions of times and of steps of knowledge. */
export type Layout = {
  readonly width: number
  readonly height: number
  readonly rowHeight: number
  readonly x: (at: number) => number
  readonly y: (step: number) => number
  readonly left: number
  readonly inner: number
  readonly bottom: number
  readonly narrow: boolean
}

export function layoutOf({ steps, start, end }: History, place: number): Layout {
  const width = Math.max(280, place)
  const narrow = width < 620
  const left = narrow ? 86 : 190
  const inner = width - left - (narrow ? 6 : 96)
  const rowHeight = Math.min(ROW, Math.max(LEAST_ROW, Math.floor(TALLEST / steps.length)))
  const bottom = TOP + steps.length * rowHeight
  return {
    width,
    narrow,
    left,
    inner,
    rowHeight,
    bottom,
    height: bottom + RATE_GAP + RATE + AXIS,
    x: at => left + ((at - start) / Math.max(1, end - start)) * inner,
    y: step => TOP + (steps.length - 1 - step) * rowHeight,
  }
}
