// Replaces the widths that the layout engine (pdfmake 0.3) calculates for table columns and for blocks placed side by side.
// Nothing becomes wider than its room, where it would overlap its neighbour or leave the paper.
import columnCalculator from 'pdfmake/js/columnCalculator.js'
import layoutBuilder from 'pdfmake/js/LayoutBuilder.js'
import tableProcessor, { type TableNode, type TableWriter } from 'pdfmake/js/TableProcessor.js'
import type { Margin } from './engine.ts'
import { grownWidths } from './flex.ts'
import { pointsIn } from './values.ts'

const ofColumns = columnCalculator.default.buildColumnWidths
type Column = Parameters<typeof ofColumns>[0][number]
type Table = NonNullable<Parameters<typeof ofColumns>[3]>

/**
 * Blocks placed side by side keep the engine's widths, except for columns with `fits`. Tables get the widths of CSS's `auto`
 * layout.
 */
columnCalculator.default.buildColumnWidths = (columns, available, offsets = 0, table) => {
  if (table) return tableWidths(columns, available, offsets, table)
  for (const column of columns)
    if (typeof column.width === 'object') column.width = pointsIn(column.width, available)!
  fitColumns(columns, available)
  growItems(columns, available)
  ofColumns(columns, available, offsets)
  narrow(columns, available)
}

/** The engine would narrow these columns for the longest text next to them. A table is at least as wide as its longest words. */
function fitColumns(columns: readonly Column[], available: number): void {
  const leastOf = (column: Column): number => pointsOf(column) ?? column._minWidth
  for (const column of columns)
    if (column.table && leastOf(column) < column._minWidth)
      column.width = Math.min(column._minWidth, available)
  let rest = available - sumOf(columns, leastOf)
  for (const column of columns)
    if (column.fits && column.width === 'auto') {
      const wider = Math.min(Math.max(0, rest), column._maxWidth - column._minWidth)
      column.width = column._minWidth + wider
      rest -= wider
    }
}

/** The items of a flex row that grow share what the others leave. */
function growItems(columns: readonly Column[], available: number): void {
  const growing = columns.filter(({ growth }) => growth !== undefined)
  if (growing.length === 0) return
  const rest =
    available - sumOf(columns, column => (column.growth ? 0 : (pointsOf(column) ?? column._minWidth)))
  const parts = growing.map(({ growth, _minWidth: least, _maxWidth }) => ({
    share: growth!.share,
    basis: growth!.basis === 'content' ? _maxWidth : pointsIn(growth!.basis, available)!,
    least,
  }))
  const widths = grownWidths(parts, rest)
  for (const [at, column] of growing.entries()) column.width = widths[at]!
}

columnCalculator.default.measureMinMax = columns => ({
  min: sumOf(columns, column => Math.max(pointsOf(column) ?? 0, column._minWidth)),
  max: sumOf(columns, column => Math.max(pointsOf(column) ?? column._maxWidth, column._minWidth)),
})

const sumOf = <Item>(items: readonly Item[], of: (item: Item, at: number) => number): number =>
  items.reduce((sum, item, at) => sum + of(item, at), 0)

function pointsOf({ width }: Column): number | undefined {
  if (typeof width === 'number') return width
  return typeof width === 'object' && width.percent === 0 ? width.points : undefined
}

const percentOf = ({ width }: Column): number | undefined =>
  typeof width === 'string' && width.endsWith('%') ? Number.parseFloat(width) : undefined

/**
 * A column with a width gets it, or the width of its longest word. The others get the width of their texts. A table with its own
 * width distributes the difference among them.
 */
function tableWidths(columns: Column[], available: number, offsets: number, table: Table): void {
  const edges = columns.map((_, at) => edgesOf(table, at))
  const outer = outerWidth(columns, edges, available + offsets, table)
  shareWidth(columns, edges, { outer, offsets, fills: table.table.fills === true })
  if (sumOf(columns, widthOf) > available + beyond) narrow(columns, available)
}

/** How far a table may extend into the margin, as in browsers. */
const MOST_BEYOND = 28

/** The minimum distance from the edge of the paper. */
const LEAST_EDGE = 6

/** No readable content fits into less room than this. */
const NO_TEXT = 20

/**
 * How far the table being laid out may extend into the margin. Layout is synchronous, and the engine calculates widths when a
 * table begins.
 */
let beyond = 0

const { beginTable } = tableProcessor.default.prototype
tableProcessor.default.prototype.beginTable = function (writer) {
  beyond = roomBeyond(writer)
  narrowPadding(this.tableNode, writer.context().availableWidth)
  beginTable.call(this, writer)
}

/** Narrows the padding of a table if padding and borders leave no room for its columns. */
function narrowPadding(node: TableNode, room: number): void {
  const { _layout: layout, _offsets: given } = node
  const { widths } = node.table
  const lines = sumOf([...widths, undefined], (_, at) => layout.vLineWidth(at, node))
  const least = lines + widths.length * NARROWEST
  if (given.total <= lines || given.total - lines + least <= room) return
  const share = Math.max(0, room - least) / (given.total - lines)
  const paddingLeft = (at: number): number => share * layout.paddingLeft(at, node)
  const paddingRight = (at: number): number => share * layout.paddingRight(at, node)
  node._layout = { ...layout, paddingLeft, paddingRight }
  const offsets = widths.map(
    (_, at) => (at === 0 ? 0 : paddingRight(at - 1)) + layout.vLineWidth(at, node) + paddingLeft(at),
  )
  node._offsets = { offsets, total: lines + (given.total - lines) * share }
}

/** The minimum width of text between its margins, in points. */
const LEAST_TEXT = 20

const { processNode } = layoutBuilder.default.prototype
layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  const { _margin: margin } = node
  if (margin) node._margin = marginsWithin(margin, this.writer.context().availableWidth)
  processNode.call(this, node, ...rest)
  node._margin = margin
}

function marginsWithin(margin: Margin, room: number): Margin {
  const [left, top, right, bottom] = margin
  if (left + right <= 0 || room - left - right >= LEAST_TEXT) return margin
  const share = Math.max(0, room - LEAST_TEXT) / (left + right)
  return [left * share, top, right * share, bottom]
}

/** Returns 0 if there may be content to the right of the table. */
function roomBeyond(writer: TableWriter): number {
  const { x, availableWidth } = writer.context()
  // A block that is kept together is first laid out on a page of its own.
  const outermost = writer.contextStack[0] ?? writer.context()
  const { width } = outermost.getCurrentPage().pageSize
  const right = x + (writer.transactionLevel > 0 ? writer.originalX : 0) + availableWidth
  if (width - outermost.pageMargins.right - right > NO_TEXT) return 0
  return Math.max(0, Math.min(MOST_BEYOND, width - LEAST_EDGE - right))
}

/** The minimum width to which a column is narrowed. */
const NARROWEST = 8

/** The tolerance for sums of widths. */
const HAIR = 0.01

const widthOf = ({ _calcWidth }: Column): number => _calcWidth

const spareWidth = ({ _calcWidth, _minWidth }: Column): number => Math.max(0, _calcWidth - _minWidth)

/** First takes from columns the width beyond their longest words, then breaks the longest words. */
function narrow(columns: readonly Column[], room: number): void {
  const over = sumOf(columns, widthOf) - room
  if (over <= HAIR) return
  const spared = sumOf(columns, spareWidth)
  if (spared > 0)
    for (const column of columns) column._calcWidth -= spareWidth(column) * Math.min(1, over / spared)
  if (over > spared) breakWords(columns, room)
}

function breakWords(columns: readonly Column[], room: number): void {
  let rest = room
  let widest = 0
  for (const [at, { _calcWidth }] of columns.toSorted((a, b) => widthOf(a) - widthOf(b)).entries()) {
    widest = Math.max(NARROWEST, rest / (columns.length - at))
    if (_calcWidth > widest) break
    rest -= _calcWidth
  }
  for (const column of columns) column._calcWidth = Math.min(column._calcWidth, widest)
}

type Room = { readonly outer: number; readonly offsets: number; readonly fills: boolean }

type Open = { readonly column: Column; readonly edge: number }

function shareWidth(columns: Column[], edges: readonly number[], { outer, offsets, fills }: Room): void {
  let rest = outer - offsets
  const open: Open[] = []
  for (const [at, column] of columns.entries()) {
    const percent = percentOf(column)
    const ownWidth = percent === undefined ? pointsOf(column) : (outer * percent) / 100 - edges[at]!
    if (ownWidth === undefined) open.push({ column, edge: edges[at]! })
    else {
      column._calcWidth = Math.max(ownWidth, column._minWidth)
      rest -= column._calcWidth
    }
  }
  if (open.length === 0) {
    if (fills && rest > 0) widen(columns, edges, rest)
    return
  }
  if (open.some(({ column }) => shareOf(column) !== undefined)) shareTracks(open, rest)
  else share(open, rest, fills)
}

/** The share of a column of a grid in what the others leave. A column that stretches begins with the width of its content. */
function shareOf({ width }: Column): number | undefined {
  if (width === 'stretch') return 1
  return typeof width === 'string' && width.endsWith('fr') ? Number.parseFloat(width) : undefined
}

/** Columns with a share have at least the width of their longest words. */
function shareTracks(open: readonly Open[], room: number): void {
  const growing = open.filter(({ column }) => shareOf(column) !== undefined)
  const others = open.filter(({ column }) => shareOf(column) === undefined)
  const kept = sumOf(growing, ({ column }) => (column.width === 'stretch' ? 0 : column._minWidth))
  share([...others], Math.max(0, room - kept), false)
  const rest = room - sumOf(others, ({ column }) => column._calcWidth)
  const parts = growing.map(({ column, edge }) => ({
    share: shareOf(column)!,
    basis: edge + (column.width === 'stretch' ? column._maxWidth : 0),
    least: edge + column._minWidth,
  }))
  const edges = sumOf(growing, ({ edge }) => edge)
  const widths = grownWidths(parts, rest + edges)
  for (const [at, { column, edge }] of growing.entries()) column._calcWidth = Math.max(0, widths[at]! - edge)
}

function share(open: readonly Open[], rest: number, fills: boolean): void {
  const least = sumOf(open, ({ column }) => column._minWidth)
  const most = sumOf(open, ({ column }) => column._maxWidth)
  const outerMost = open.reduce((sum, { column, edge }) => sum + column._maxWidth + edge, 0)
  const outerRest = rest + outerMost - most
  for (const { column, edge } of open) {
    const { _minWidth: min, _maxWidth: max } = column
    if (rest <= least && rest < most) column._calcWidth = min
    else if (rest < most) column._calcWidth = min + ((rest - least) * (max - min)) / (most - least)
    else if (!fills) column._calcWidth = max
    else if (outerMost === 0) column._calcWidth = rest / open.length
    else column._calcWidth = Math.max(min, (outerRest * (max + edge)) / outerMost - edge)
  }
}

/** Widens each column by its share if all columns have a width and their sum is less than the table's. */
function widen(columns: Column[], edges: readonly number[], rest: number): void {
  const all = columns.reduce((sum, column, at) => sum + column._calcWidth + edges[at]!, 0)
  for (const [at, column] of columns.entries())
    column._calcWidth += all === 0 ? rest / columns.length : (rest * (column._calcWidth + edges[at]!)) / all
}

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

/**
 * Returns all available width. A table without a width but with columns in per cent gets the width that its texts need at those
 * percentages.
 */
function outerWidth(columns: Column[], edges: readonly number[], most: number, table: Table): number {
  if (table.table.fills || columns.every(column => percentOf(column) === undefined)) return most
  let [wide, others, percents] = [0, 0, 0]
  for (const [at, column] of columns.entries()) {
    const percent = percentOf(column)
    const own = (pointsOf(column) ?? column._maxWidth) + edges[at]!
    if (percent === undefined) others += own
    else {
      percents += percent
      if (percent > 0) wide = Math.max(wide, (own * 100) / percent)
    }
  }
  if (others > 0) wide = percents >= 100 ? most : Math.max(wide, (others * 100) / (100 - percents))
  return Math.min(wide, most)
}
