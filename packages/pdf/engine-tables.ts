// Widths of the columns of tables, which the layout engine (pdfmake 0.3) works out in its own way: mended on its calculator.
import columnCalculator from 'pdfmake/js/columnCalculator.js'

type Column = (typeof columnCalculator.default)['buildColumnWidths'] extends (
  columns: (infer C)[],
  ...rest: never[]
) => void
  ? C
  : never
type Table = NonNullable<Parameters<(typeof columnCalculator.default)['buildColumnWidths']>[3]>

const ofColumns = columnCalculator.default.buildColumnWidths

/** Columns of blocks beside one another are the engine's; those of tables have the widths of CSS's `auto` layout. */
columnCalculator.default.buildColumnWidths = (columns, available, offsets = 0, table) =>
  table ? tableWidths(columns, available, offsets, table) : ofColumns(columns, available, offsets)

columnCalculator.default.measureMinMax = columns => {
  const points = ({ width }: Column): number | undefined => (typeof width === 'number' ? width : undefined)
  return {
    min: columns.reduce((sum, column) => sum + Math.max(points(column) ?? 0, column._minWidth), 0),
    max: columns.reduce(
      (sum, column) => sum + Math.max(points(column) ?? column._maxWidth, column._minWidth),
      0,
    ),
  }
}

const percentOf = ({ width }: Column): number | undefined =>
  typeof width === 'string' && width.endsWith('%') ? Number.parseFloat(width) : undefined

/**
 * Columns with a width have it, or what their longest word needs. The others have what their texts need; what a
 * table with a width of its own has beyond that, or lacks, they share by it.
 */
function tableWidths(columns: Column[], available: number, offsets: number, table: Table): void {
  const edges = columns.map((_, at) => edgesOf(table, at))
  const outer = outerWidth(columns, edges, available + offsets, table)
  let rest = outer - offsets
  const open: { column: Column; edge: number }[] = []
  for (const [at, column] of columns.entries()) {
    const percent = percentOf(column)
    const asked =
      percent === undefined
        ? typeof column.width === 'number'
          ? column.width
          : undefined
        : (outer * percent) / 100 - edges[at]!
    if (asked === undefined) open.push({ column, edge: edges[at]! })
    else {
      column._calcWidth = Math.max(asked, column._minWidth)
      rest -= column._calcWidth
    }
  }
  if (open.length === 0) {
    if (table.table.fills && rest > 0) widen(columns, edges, rest)
    return
  }
  share(open, rest, table.table.fills === true)
}

function share(open: { column: Column; edge: number }[], rest: number, fills: boolean): void {
  const least = open.reduce((sum, { column }) => sum + column._minWidth, 0)
  const most = open.reduce((sum, { column }) => sum + column._maxWidth, 0)
  const outerMost = open.reduce((sum, { column, edge }) => sum + column._maxWidth + edge, 0)
  const outerRest = rest + outerMost - most
  for (const { column, edge } of open)
    if (rest >= most)
      column._calcWidth = fills
        ? outerMost === 0
          ? rest / open.length
          : Math.max(column._minWidth, (outerRest * (column._maxWidth + edge)) / outerMost - edge)
        : column._maxWidth
    else
      column._calcWidth =
        column._minWidth +
        (rest <= least ? 0 : ((rest - least) * (column._maxWidth - column._minWidth)) / (most - least))
}

/** All have a width, and together less than the table: each more by its share. */
function widen(columns: Column[], edges: readonly number[], rest: number): void {
  const all = columns.reduce((sum, column, at) => sum + column._calcWidth + edges[at]!, 0)
  for (const [at, column] of columns.entries())
    column._calcWidth += all === 0 ? rest / columns.length : (rest * (column._calcWidth + edges[at]!)) / all
}

/** Padding of the column and its part of the borders on both sides. */
function edgesOf(table: Table, at: number): number {
  const { paddingLeft, paddingRight, vLineWidth } = table._layout
  const last = table.table.widths.length - 1
  const [left, right] = [vLineWidth(at, table), vLineWidth(at + 1, table)]
  return (
    paddingLeft(at, table) +
    paddingRight(at, table) +
    left / (at === 0 ? 1 : 2) +
    right / (at === last ? 1 : 2)
  )
}

/** All there is, or where a table without a width has columns in per cent: as much as their texts need at that share. */
function outerWidth(columns: Column[], edges: readonly number[], most: number, table: Table): number {
  if (table.table.fills || columns.every(column => percentOf(column) === undefined)) return most
  let [wide, others, percents] = [0, 0, 0]
  for (const [at, column] of columns.entries()) {
    const percent = percentOf(column)
    const own = (typeof column.width === 'number' ? column.width : column._maxWidth) + edges[at]!
    if (percent === undefined) others += own
    else {
      percents += percent
      if (percent > 0) wide = Math.max(wide, (own * 100) / percent)
    }
  }
  if (others > 0) wide = percents >= 100 ? most : Math.max(wide, (others * 100) / (100 - percents))
  return Math.min(wide, most)
}
