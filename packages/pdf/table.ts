// Tables: the grid with its spans, column widths, collapsed borders, and heads that repeat on every page.

import { bordered, endsBetween, lineStyle } from './borders.ts'
import type { Block, Cell, TableLayout } from './engine.ts'
import { blank, flowOf, placeBlock } from './flow.ts'
import { charactersOf, type HtmlElement, type HtmlNode } from './html.ts'
import { CONVERSION_LIMITS } from './limits.ts'
import { type Flow, mostHeight } from './paragraph.ts'
import { type BreakingRow, tableBreaks } from './row-breaks.ts'
import { type Border, type Style, styleOf } from './style.ts'
import { type Length, lengthOf } from './values.ts'

type GridCell = {
  readonly element: HtmlElement
  readonly style: Style
  readonly column: number
  readonly columnSpan: number
  rowSpan: number
  readonly background: string | undefined
}
type Row = Omit<BreakingRow, 'cells'> & {
  readonly cells: GridCell[]
  readonly isHead: boolean
  readonly height: number | undefined
}

/** Returns the table after its caption; without cells, only the caption. */
export function tableBlock(element: HtmlElement, style: Style, flow: Flow): Block[] {
  const { rows, captions, columns } = gridOf(element, style, flow)
  const isAbove = ({ side }: Caption): boolean => side === 'top'
  const above = captions.filter(isAbove).flatMap(({ blocks }) => blocks.map(keptWithNext))
  const below = captions.filter(one => !isAbove(one)).flatMap(({ blocks }) => blocks)
  if (columns.length === 0) return [...above, ...below]
  const heads = rows.findIndex(row => !row.isHead)
  const headerRows = Math.max(heads, 0)
  const lines = bordersOf(rows, columns.length, style)
  const { before, after, table } = tableBreaks(rows, headerRows)
  const block: Block = {
    table: {
      ...table,
      // A header or footer cannot continue on another page.
      ...(flow.isWhole && { breaksBefore: new Set() }),
      widths: columns.map(width => width ?? 'auto'),
      fills: style.width !== undefined,
      heights: row => {
        const height = rows[row]?.height
        return height === undefined ? 'auto' : Math.min(height, mostHeight(flow))
      },
      body: bodyOf(rows, columns.length, style, flow),
    },
    layout: layoutOf(rows, columns.length, lines),
  }
  // The caption is above or below its table, at any width.
  const whole: Block = captions.length === 0 ? block : { stack: [...above, block, ...below] }
  const isPlaced = style.width !== undefined || style.autoLeft || captions.length > 0
  const placed = isPlaced ? placeBlock(whole, style) : block
  return flow.isWhole ? [placed] : withBreaks(placed, before, after)
}

/** A block can have only one page break. */
function withBreaks(block: Block, before: boolean, after: boolean): Block[] {
  if (before && after)
    return [
      { ...block, pageBreak: 'before' },
      { ...blank(), pageBreak: 'after' },
    ]
  if (!before && !after) return [block]
  return [{ ...block, pageBreak: before ? 'before' : 'after' }]
}

type ColumnWidth = string | number | undefined
type Caption = { readonly side: Style['captionSide']; readonly blocks: Block[] }
type Grid = { rows: Row[]; captions: Caption[]; columns: ColumnWidth[] }

const keptWithNext = (block: Block): Block => ({ ...block, keepsWithNext: true })

const elementsOf = (children: readonly HtmlNode[]): HtmlElement[] =>
  children.filter((child): child is HtmlElement => typeof child !== 'string')

function gridOf(table: HtmlElement, tableStyle: Style, flow: Flow): Grid {
  const { sheet, budget } = flow
  // Cells do not inherit the box properties of the table.
  const around = { ...tableStyle, background: undefined }
  const sections = { thead: [] as Row[], tbody: [] as Row[], tfoot: [] as Row[] }
  const captions: Caption[] = []
  const columns: ColumnWidth[] = []
  const cellDefaults = cellAttributes(table)
  const cellsOf = (row: HtmlElement, rowStyle: Style, rowBackground: string | undefined): GridCell[] =>
    elementsOf(row.children).flatMap((cell): GridCell[] => {
      const own = styleOf(cell, rowStyle, sheet, budget, flow.width)
      if (own.display === 'none') return []
      const columnSpan = span(cell.attributes.colspan, CONVERSION_LIMITS.columns)
      const rowSpan = span(cell.attributes.rowspan, 1_000)
      const background = own.background ?? rowBackground
      return [{ element: cell, style: cellDefaults(own), column: 0, columnSpan, rowSpan, background }]
    })
  const takeRow = (row: HtmlElement, section: Style, name: keyof typeof sections): void => {
    const style = styleOf(row, section, sheet, budget)
    if (style.display === 'none') return
    const cells = cellsOf(row, style, style.background ?? section.background)
    const characters = cells.reduce((most, cell) => Math.max(most, charactersOf(cell.element)), 0)
    sections[name].push({
      cells,
      isHead: name === 'thead',
      height: heightOf(style, cells),
      style,
      section,
      characters,
    })
  }
  for (const child of elementsOf(table.children)) {
    const style = styleOf(child, around, sheet, budget)
    if (style.display === 'none' && child.tag !== 'colgroup') continue
    switch (child.tag) {
      case 'caption':
        captions.push({ side: style.captionSide, blocks: flowOf(child, style, flow) })
        break
      case 'colgroup':
        columns.push(...columnWidths(child, around, flow))
        break
      case 'tr':
        takeRow(child, { ...around, ...NO_BREAKS }, 'tbody')
        break
      case 'thead':
      case 'tbody':
      case 'tfoot':
        for (const row of elementsOf(child.children)) if (row.tag === 'tr') takeRow(row, style, child.tag)
    }
  }
  const grid = place([...sections.thead, ...sections.tbody, ...sections.tfoot], columns, flow)
  budget.count('cells', grid.rows.length * grid.columns.length)
  return { ...(tableStyle.direction === 'rtl' ? fromTheRight(grid) : grid), captions }
}

/** Of cells over several rows, the height would not be that of their first row. */
function heightOf({ height }: Style, cells: readonly GridCell[]): number | undefined {
  const heights = cells.flatMap(({ rowSpan, style }) => (rowSpan === 1 ? (style.height ?? []) : []))
  return heights.length === 0 ? height : Math.max(height ?? 0, ...heights)
}

const span = (text: string | undefined, most: number): number => {
  const count = Number(text ?? 1)
  return Number.isSafeInteger(count) ? Math.max(1, Math.min(count, most)) : 1
}

/** Page breaks of the table are not those of its rows. */
const NO_BREAKS = { breakBefore: false, breakAfter: false, keepTogether: false, keepWithNext: false }

/** `border` and `cellpadding` of the table apply to cells without their own. */
function cellAttributes({ attributes }: HtmlElement): (style: Style) => Style {
  const padding = lengthOf(`${attributes.cellpadding ?? ''}px`, 0)
  const width = lengthOf(`${attributes.border ?? ''}px`, 0)
  const border: Border | undefined = width ? { width: 0.75, colour: '#808080', line: undefined } : undefined
  return style => {
    const isPlain = style.padding.every(one => one === 0.75)
    const isOpen = style.borders.every(one => one === undefined)
    return {
      ...style,
      ...(padding !== undefined && isPlain && { padding: [padding, padding, padding, padding] }),
      ...(border && isOpen && { borders: [border, border, border, border] }),
    }
  }
}

/** Returns the width in the engine's form. Columns in per cent include their padding. */
const widthFor = (width: Length | undefined): ColumnWidth =>
  width && (width.percent > 0 ? `${width.percent}%` : width.points)

const columnWidths = (group: HtmlElement, around: Style, { sheet, budget }: Flow): ColumnWidth[] =>
  elementsOf(group.children).flatMap(column => {
    const width = widthFor(styleOf(column, around, sheet, budget).width)
    return new Array(span(column.attributes.span, CONVERSION_LIMITS.columns)).fill(width)
  })

/**
 * Assigns a column to each cell. Skips places that a cell above spans, and narrows a cell that spans columns if it would reach
 * into one. Rows without cells are left out after they have counted for the row spans above.
 */
function place(all: Row[], given: ColumnWidth[], flow: Flow): Omit<Grid, 'captions'> {
  const reached: number[] = []
  let most = 0
  const placedRows = all.map((row, at): Row => {
    let column = 0
    const isTaken = (one: number): boolean => (reached[one] ?? 0) > at
    const cells = row.cells.map(cell => {
      while (isTaken(column)) column += 1
      const first = column
      const rowSpan = Math.min(cell.rowSpan, all.length - at)
      for (; column < first + cell.columnSpan && !isTaken(column); column += 1) reached[column] = at + rowSpan
      flow.budget.check('columns', column)
      return { ...cell, column: first, columnSpan: column - first, rowSpan }
    })
    most = Math.max(most, column)
    return { ...row, cells }
  })
  const columns = Array.from({ length: most }, (_, at) => given[at])
  for (const row of placedRows)
    for (const { style, column, columnSpan } of row.cells)
      if (columnSpan === 1) columns[column] ??= widthFor(style.width)
  return { rows: withoutEmpty(placedRows), columns }
}

/** A row without cells leaves its page breaks to the row before or after it. */
function withoutEmpty(given: readonly Row[]): Row[] {
  const isEmpty = ({ cells }: Row): boolean => cells.length === 0
  const isBroken = ({ style }: Row): boolean => style.breakBefore || style.breakAfter
  const breaks = given.map((row, at) => {
    if (isEmpty(row)) return row
    let next = at + 1
    while (next < given.length && isEmpty(given[next]!)) next += 1
    const isBreak = given.slice(at + 1, next).some(isBroken)
    return isBreak ? { ...row, style: { ...row.style, breakAfter: true } } : row
  })
  const first = breaks.findIndex(row => !isEmpty(row))
  const rows = breaks.map((row, at) =>
    at === first && breaks.slice(0, first).some(isBroken)
      ? { ...row, style: { ...row.style, breakBefore: true } }
      : row,
  )
  let count = 0
  /** For each row, the number of preceding rows that have cells. */
  const before = [...rows, undefined].map(row => (row && row.cells.length > 0 ? count++ : count))
  return rows.flatMap((row, at) => {
    const cells = row.cells.map(cell => ({ ...cell, rowSpan: before[at + cell.rowSpan]! - before[at]! }))
    return cells.length === 0 ? [] : [{ ...row, cells }]
  })
}

/** Reverses the columns, so that the first is on the right. */
function fromTheRight({ rows, columns }: Omit<Grid, 'captions'>): Omit<Grid, 'captions'> {
  const turned = rows.map(row => ({
    ...row,
    cells: row.cells.map(cell => ({ ...cell, column: columns.length - cell.column - cell.columnSpan })),
  }))
  return { rows: turned, columns: [...columns].reverse() }
}

function bodyOf(rows: readonly Row[], width: number, style: Style, flow: Flow): Cell[][] {
  const body: Cell[][] = rows.map(() =>
    Array.from({ length: width }, (): Cell => ({ text: '', border: [false, false, false, false] })),
  )
  const each = { ...flow, width: flow.width / width }
  for (const [at, row] of rows.entries())
    for (const cell of row.cells) {
      const within = { ...each, width: each.width * cell.columnSpan }
      const stack = flowOf(cell.element, { ...cell.style, background: undefined }, within)
      const fill = cell.background ?? style.background
      const [only] = stack
      body[at]![cell.column] = {
        // A cell of one paragraph becomes that paragraph, which saves memory in large tables.
        ...(stack.length === 1 && only!.margin!.every(side => side === 0) ? only! : { stack }),
        ...bordered(cell.style.borders),
        // The engine loses a cell that spans rows and is vertically centred, and reads the page of the first line even of an
        // empty one.
        ...(cell.rowSpan === 1 && { verticalAlignment: cell.style.verticalAlign }),
        ...(fill !== undefined && { fillColor: fill, fillOpacity: cell.style.opacity }),
        ...(cell.columnSpan > 1 && { colSpan: cell.columnSpan }),
        ...(cell.rowSpan > 1 && { rowSpan: cell.rowSpan }),
      }
    }
  outlineOf(body, style)
  return body
}

function outlineOf(body: Cell[][], { borders }: Style): void {
  const [left, top, right, bottom] = borders
  const set = (cell: Cell | undefined, side: number, border: Border | undefined): void => {
    if (!cell?.border || !border) return
    cell.border[side] = true
    cell.borderColor ??= ['#000000', '#000000', '#000000', '#000000']
    cell.borderColor[side] = border.colour
  }
  for (const row of body) {
    set(row[0], 0, left)
    set(row.at(-1), 2, right)
  }
  for (const cell of body[0]!) set(cell, 1, top)
  for (const cell of body.at(-1)!) set(cell, 3, bottom)
}

type Lines = { across: (Border | undefined)[]; down: (Border | undefined)[] }

/** The widest border wins along each line of the grid. */
function bordersOf(rows: readonly Row[], width: number, { borders }: Style): Lines {
  const lines: Lines = {
    across: new Array(rows.length + 1).fill(undefined),
    down: new Array(width + 1).fill(undefined),
  }
  const widen = (list: (Border | undefined)[], at: number, border: Border | undefined): void => {
    if (border && (list[at]?.width ?? 0) < border.width) list[at] = border
  }
  const put = (
    [left, top, right, bottom]: Style['borders'],
    column: number,
    row: number,
    across: number,
    down: number,
  ) => {
    widen(lines.down, column, left)
    widen(lines.across, row, top)
    widen(lines.down, column + across, right)
    widen(lines.across, row + down, bottom)
  }
  for (const [at, row] of rows.entries())
    for (const { style, column, columnSpan, rowSpan } of row.cells)
      put(style.borders, column, at, columnSpan, rowSpan)
  put(borders, 0, 0, width, rows.length)
  return lines
}

/** Uses the padding of the widest cell in the column, and of the highest in the row. */
function layoutOf(rows: readonly Row[], width: number, { across, down }: Lines): TableLayout {
  const [left, right] = [new Array<number>(width).fill(0), new Array<number>(width).fill(0)]
  const [top, bottom] = [new Array<number>(rows.length).fill(0), new Array<number>(rows.length).fill(0)]
  for (const [at, row] of rows.entries())
    for (const { style, column, columnSpan } of row.cells) {
      const [paddingLeft, paddingTop, paddingRight, paddingBottom] = style.padding
      const end = column + columnSpan - 1
      left[column] = Math.max(left[column]!, paddingLeft)
      right[end] = Math.max(right[end]!, paddingRight)
      top[at] = Math.max(top[at]!, paddingTop)
      bottom[at] = Math.max(bottom[at]!, paddingBottom)
    }
  const ends = endsBetween([down[0], across[0], down.at(-1), across.at(-1)])
  const outerStyle = (lines: Lines['down'], line: number, own: typeof ends.down) => {
    if (line === 0) return lineStyle(lines[line], own, 1)
    return line === lines.length - 1 ? lineStyle(lines[line], own, -1) : lineStyle(lines[line])
  }
  return {
    hLineWidth: line => across[line]?.width ?? 0,
    vLineWidth: line => down[line]?.width ?? 0,
    hLineStyle: line => outerStyle(across, line, ends.across),
    vLineStyle: line => outerStyle(down, line, ends.down),
    paddingLeft: column => left[column] ?? 0,
    paddingRight: column => right[column] ?? 0,
    paddingTop: row => top[row] ?? 0,
    paddingBottom: row => bottom[row] ?? 0,
  }
}
