// Measures of the timeline's picture, in pixels.

/** Above the rows. */
export const TOP = 8
/** Room for the marks of an axis. */
export const AXIS = 24
/** Between the rows and the premium a day. */
export const RATE_GAP = 30
/** The premium a day. */
export const RATE = 72

export const ROW = 46
/** Rows of a policy with very many transactions. */
export const LEAST_ROW = 22
/** Rows are lower once all together would be taller. */
export const TALLEST = 1_100
/** A row of less has the name of its transaction alone. */
export const ROW_OF_TWO_LINES = 40

/** The picture as it was drawn last: where a time, and a step of knowledge, are. */
export type Layout = {
  readonly svg: SVGSVGElement
  readonly x: (at: number) => number
  readonly y: (step: number) => number
  readonly left: number
  readonly inner: number
  readonly bottom: number
  readonly narrow: boolean
}
