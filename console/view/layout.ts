// Measures of the timeline's picture, in pixels, and where its times and steps are.
import type { History } from '../knowledge.ts'

/** Above the rows. */
export const TOP = 8
/** Room for the marks of an axis. */
const AXIS = 24
/** Between the rows and the premium a day. */
export const RATE_GAP = 30
/** The premium a day. */
export const RATE = 72

const ROW = 46
/** Rows of a policy with very many transactions. */
const LEAST_ROW = 22
/** Rows are lower once all together would be taller. */
const TALLEST = 1_100
/** A row of less has the name of its transaction alone. */
export const ROW_OF_TWO_LINES = 40

/** Where a time, and a step of knowledge, are. */
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
