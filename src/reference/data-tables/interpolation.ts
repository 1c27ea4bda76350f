// Look-ups of plugins in a range table (resources brief 1.5): the record of a bound, its neighbours, and values between or beyond them.
import { decimal } from '../../kernel/money.ts'
import type { TableLayout } from './layout.ts'
import { type TableRecord, typedRow } from './values.ts'

export const RANGE_OPERATIONS = [
  'record',
  'lowerAdjacent',
  'upperAdjacent',
  'interpolate',
  'extrapolate',
] as const
export type RangeOperation = (typeof RANGE_OPERATIONS)[number]

export const INTERPOLATIONS = ['linear', 'stepUp', 'stepDown'] as const
export type Interpolation = (typeof INTERPOLATIONS)[number]

/** A row next to a bound. */
export type Neighbour = {
  readonly cells: readonly string[]
  /** Whether the row contains the bound. The end of a row belongs to it. */
  readonly holds: boolean
}

/**
 * Rows with the same key, sorted by how close their starts are to the bound, at most two on each side. A row that starts at the
 * bound is on both sides.
 */
export type Neighbours = { readonly below: readonly Neighbour[]; readonly above: readonly Neighbour[] }

/** The decimal places of computed values, which are rounded half-even. */
const PLACES = 15
const HALF_EVEN = 2

/**
 * Returns the record, or undefined if there is none. `columns` sets how a column is computed between two rows; other columns have
 * the value of the lower row. If the bound is exactly the start of a row, both neighbours are that row. Beyond the first or last
 * row, the two nearest rows are used, and steps take the value of the nearer one.
 */
export function rangeRecord(
  layout: TableLayout,
  { below, above }: Neighbours,
  bound: string,
  operation: RangeOperation,
  columns: Readonly<Record<string, Interpolation>>,
): TableRecord | undefined {
  const [lower, belowLower] = below
  const [upper, aboveUpper] = above
  switch (operation) {
    case 'record':
      return lower?.holds ? typedRow(layout, lower.cells) : undefined
    case 'lowerAdjacent':
      return lower && typedRow(layout, lower.cells)
    case 'upperAdjacent':
      return upper && typedRow(layout, upper.cells)
    case 'interpolate':
      return lower && upper && interpolateRows(layout, lower, upper, bound, columns)
    case 'extrapolate':
      if (!upper && lower && belowLower)
        return interpolateRows(layout, belowLower, lower, bound, steps(columns, 'stepUp'))
      if (!lower && upper && aboveUpper)
        return interpolateRows(layout, upper, aboveUpper, bound, steps(columns, 'stepDown'))
      return undefined
  }
}

/** Beyond the rows, a step in either direction takes the value of the nearer row. */
const steps = (
  columns: Readonly<Record<string, Interpolation>>,
  nearer: Interpolation,
): Record<string, Interpolation> =>
  Object.fromEntries(Object.entries(columns).map(([name, how]) => [name, how === 'linear' ? how : nearer]))

function interpolateRows(
  layout: TableLayout,
  lower: Neighbour,
  upper: Neighbour,
  bound: string,
  columns: Readonly<Record<string, Interpolation>>,
): TableRecord {
  const start = layout.range!.start
  const cells = layout.columns.map(({ name }, at) => {
    const operation = Object.hasOwn(columns, name) ? columns[name] : 'stepDown'
    const [first, second] = [lower.cells[at]!, upper.cells[at]!]
    if (operation === 'stepUp') return second
    if (operation === 'stepDown' || first === '' || second === '') return first
    const [s1, s2] = [decimal(lower.cells[start]!), decimal(upper.cells[start]!)]
    if (s1.eq(s2)) return first
    const rise = decimal(second).minus(first).times(decimal(bound).minus(s1))
    // A single division of exact products, so that nothing is rounded twice.
    return decimal(first).times(s2.minus(s1)).plus(rise).div(s2.minus(s1)).round(PLACES, HALF_EVEN).toFixed()
  })
  return typedRow(layout, cells)
}
