// Patches classes of the layout engine (pdfmake 0.3) where it differs from browsers: position and order of text in a
// line, indentation of lists. Also bounds work that takes it endless time.

import columnCalculator from 'pdfmake/js/columnCalculator.js'
import docMeasure from 'pdfmake/js/DocMeasure.js'
import elementWriter from 'pdfmake/js/ElementWriter.js'
import line, { type EngineLine, type Extent, type Inline } from 'pdfmake/js/Line.js'
import { wordToDraw } from './bidi.ts'
import { hasRoom } from './room.ts'

/** Above and below the base line. Half of the line's extra height is above the text. */
function extentOf({ font, fontSize, height, line: own, strut, extent }: Inline): Extent {
  const ascender = (font.ascender / 1_000) * fontSize
  const half = own === undefined ? 0 : (own - font.lineHeight(fontSize)) / 2
  return {
    above: Math.max(extent?.above ?? ascender + half, strut?.above ?? 0),
    below: Math.max(extent?.below ?? (own ?? height) - ascender - half, strut?.below ?? 0),
  }
}

const prototype = line.default.prototype

prototype.getAscenderHeight = function (this: EngineLine): number {
  return this.inlines.reduce((most, inline) => Math.max(most, extentOf(inline).above), 0)
}

prototype.getHeight = function (this: EngineLine): number {
  const below = this.inlines.reduce((most, inline) => Math.max(most, extentOf(inline).below), 0)
  return Math.max(0, this.getAscenderHeight() + below)
}

/** The contents of a list begin after its padding; the marker is before them. */
for (const measure of ['measureUnorderedList', 'measureOrderedList'] as const) {
  const engines = docMeasure.default.prototype[measure]
  docMeasure.default.prototype[measure] = function (node) {
    const measured = engines.call(this, node)
    const more = Math.max(0, (measured.indent ?? 0) - measured._gapSize.width)
    measured._gapSize = { ...measured._gapSize, width: measured._gapSize.width + more }
    measured._minWidth += more
    measured._maxWidth += more
    return measured
  }
}

/** Words of a text that are not in a line yet. The engine copies its whole list for each of them. */
class Words {
  readonly #words: Inline[]
  #first = 0

  constructor(words: Inline[]) {
    this.#words = words
  }

  get length(): number {
    return this.#words.length - this.#first
  }

  get 0(): Inline | undefined {
    return this.#words[this.#first]
  }

  shift(): Inline | undefined {
    this.#first += 1
    return this.#words[this.#first - 1]
  }

  unshift(...words: Inline[]): void {
    this.#first -= words.length
    if (this.#first < 0) {
      this.#words.unshift(...new Array(-this.#first))
      this.#first = 0
    }
    for (const [at, word] of words.entries()) this.#words[this.#first + at] = word
  }

  /** The engine asks for those after the first word, to see whether there is room for all that must stay with it. */
  slice(from: number): Iterable<Inline> {
    return this[0]?.noNewLine ? this.#after(from) : []
  }

  *#after(from: number): Generator<Inline> {
    const start = this.#first + from
    const end = Math.min(this.#words.length, start + MOST_HELD)
    for (let at = start; at < end; at += 1) yield this.#words[at]!
  }
}

const MOST_HELD = 200

prototype.hasEnoughSpaceForInline = function (inline, following = []) {
  return hasRoom(this, inline, following)
}

const measureLeaf = docMeasure.default.prototype.measureLeaf
docMeasure.default.prototype.measureLeaf = function (node) {
  const measured = measureLeaf.call(this, node)
  measured._inlines = new Words(measured._inlines as Inline[])
  return measured
}

const alignLine = elementWriter.default.prototype.alignLine
elementWriter.default.prototype.alignLine = function (placed) {
  if (placed.inlines.some(({ level }) => level !== undefined)) inVisualOrder(placed)
  if (placed.inlines[0]?.alignment === 'justify') justifyLine(placed, this.context().availableWidth)
  else alignLine.call(this, placed)
}

/** The engine puts room between all parts of a line; a word may have several, of other fonts or directions. */
function justifyLine(placed: EngineLine, width: number): void {
  const rest = width - placed.getWidth()
  const gaps = placed.inlines.map(
    (inline, at) => at > 0 && (isBlankAt('right', placed.inlines[at - 1]!) || isBlankAt('left', inline)),
  )
  const count = gaps.filter(Boolean).length
  if (placed.newLineForced || placed.lastLineInParagraph || count === 0) {
    if (placed.inlines[0]!.fromTheRight) placed.x = (placed.x ?? 0) + rest
    return
  }
  const room = rest / count
  let shift = 0
  for (const [at, inline] of placed.inlines.entries()) {
    if (!gaps[at]) {
      inline.x += shift
      continue
    }
    shift += room
    inline.x += shift
    const before = placed.inlines[at - 1]!
    // The room before a word is underlined and coloured with it.
    if (before.decoration === inline.decoration && before.background === inline.background)
      inline.justifyShift = room
  }
}

function isBlankAt(side: 'left' | 'right', inline: Inline): boolean {
  const isFromTheRight = levelOf(inline) % 2 === 1
  const text = logicalTexts.get(inline) ?? inline.text
  // One without letters has a single gap, after it.
  return (
    (isFromTheRight === (side === 'left') ? /\S\s+$/ : /^\s+\S/).test(text) ||
    (side === 'right' && !/\S/.test(text))
  )
}

/** Words of lines, which are cut where they are too long for one, as they were before they were made ready to be drawn. */
const logicalTexts = new WeakMap<Inline, string>()

function inVisualOrder(placed: EngineLine): void {
  const last = placed.inlines.at(-1)!
  for (const inline of placed.inlines) makeDrawable(inline)
  const inlines = visualOrder(placed.inlines)
  // The blank at the line's end is not shown: it is at the right of its word, or at the left of one from the right.
  const cut = last.trailingCut ?? 0
  const isCutLeft = levelOf(last) % 2 === 1
  let x = 0
  for (const inline of inlines) {
    if (inline === last && isCutLeft) x -= cut
    inline.x = x
    x += inline.width
    if (inline === last && !isCutLeft) x -= cut
  }
  placed.inlines = inlines
}

const levelOf = ({ level = 0 }: Inline): number => level

function makeDrawable(inline: Inline): void {
  if (inline.level === undefined) return
  const text = logicalTexts.get(inline) ?? inline.text
  logicalTexts.set(inline, text)
  inline.text = wordToDraw(text, inline.level)
}

/** Reverses text from the right, from the innermost level outwards (rule L2 of Unicode). */
function visualOrder(logical: Inline[]): Inline[] {
  let inlines = logical
  const deepest = inlines.reduce((most, inline) => Math.max(most, levelOf(inline)), 0)
  for (let level = deepest; level > 0; level -= 1) inlines = withRunsReversed(inlines, level)
  return inlines
}

/** Reverses each run of words that have at least the level. */
function withRunsReversed(inlines: readonly Inline[], level: number): Inline[] {
  const turned: Inline[] = []
  for (let start = 0; start < inlines.length; ) {
    let end = start
    while (end < inlines.length && levelOf(inlines[end]!) >= level) end += 1
    for (let from = end - 1; from >= start; from -= 1) turned.push(inlines[from]!)
    // The word that ends the run stays where it is.
    if (end < inlines.length) turned.push(inlines[end]!)
    start = end + 1
  }
  return turned
}

// Patches the layout engine's (pdfmake 0.3) widths of table columns, which it calculates in its own way.
const ofColumns = columnCalculator.default.buildColumnWidths
type Column = Parameters<typeof ofColumns>[0][number]
type Table = NonNullable<Parameters<typeof ofColumns>[3]>

/** Blocks beside one another keep the engine's widths, but for those that fit; tables get those of CSS's `auto` layout. */
columnCalculator.default.buildColumnWidths = (columns, available, offsets = 0, table) => {
  if (table) return tableWidths(columns, available, offsets, table)
  fitColumns(columns, available)
  ofColumns(columns, available, offsets)
}

/** The engine would narrow them for the longest text beside them. */
function fitColumns(columns: readonly Column[], available: number): void {
  const leastOf = (column: Column): number => {
    const percent = percentOf(column)
    return percent === undefined ? (pointsOf(column) ?? column._minWidth) : (available * percent) / 100
  }
  let rest = available - sumOf(columns, leastOf)
  for (const column of columns)
    if (column.fits && column.width === 'auto') {
      const wider = Math.min(Math.max(0, rest), column._maxWidth - column._minWidth)
      column.width = column._minWidth + wider
      rest -= wider
    }
}

columnCalculator.default.measureMinMax = columns => ({
  min: sumOf(columns, column => Math.max(pointsOf(column) ?? 0, column._minWidth)),
  max: sumOf(columns, column => Math.max(pointsOf(column) ?? column._maxWidth, column._minWidth)),
})

const sumOf = <Item>(items: readonly Item[], of: (item: Item, at: number) => number): number =>
  items.reduce((sum, item, at) => sum + of(item, at), 0)

const pointsOf = ({ width }: Column): number | undefined => (typeof width === 'number' ? width : undefined)

const percentOf = ({ width }: Column): number | undefined =>
  typeof width === 'string' && width.endsWith('%') ? Number.parseFloat(width) : undefined

/**
 * A column with a width gets it, or the width of its longest word. The others get the width of their texts; a table
 * with a width of its own distributes the difference among them.
 */
function tableWidths(columns: Column[], available: number, offsets: number, table: Table): void {
  const edges = columns.map((_, at) => edgesOf(table, at))
  const outer = outerWidth(columns, edges, available + offsets, table)
  shareWidth(columns, edges, { outer, offsets, fills: table.table.fills === true })
  breakWords(columns, available)
}

/** A table may reach this far into the margin, as in browsers. What would go beyond would not be on the paper. */
const MOST_BEYOND = 28

/** No column is narrower for this. */
const NARROWEST = 8

/** Where words make a table much wider than its page, the columns of the longest words are narrowed, and these words break. */
function breakWords(columns: readonly Column[], available: number): void {
  if (sumOf(columns, ({ _calcWidth }) => _calcWidth) - available <= MOST_BEYOND) return
  const byWords = columns.filter(({ _calcWidth, _minWidth }) => _calcWidth <= _minWidth)
  let rest = available - sumOf(columns, one => (byWords.includes(one) ? 0 : one._calcWidth))
  let widest = 0
  for (const [at, { _minWidth }] of byWords.toSorted((a, b) => a._minWidth - b._minWidth).entries()) {
    widest = Math.max(NARROWEST, rest / (byWords.length - at))
    if (_minWidth > widest) break
    rest -= _minWidth
  }
  for (const column of byWords) column._calcWidth = Math.min(column._calcWidth, widest)
}

type Room = { readonly outer: number; readonly offsets: number; readonly fills: boolean }

function shareWidth(columns: Column[], edges: readonly number[], { outer, offsets, fills }: Room): void {
  let rest = outer - offsets
  const open: { column: Column; edge: number }[] = []
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
  share(open, rest, fills)
}

function share(open: { column: Column; edge: number }[], rest: number, fills: boolean): void {
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

/** All columns have a width, and together less than the table: each grows by its share. */
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

/** All available width. A table without a width but with columns in per cent gets what its texts need at that share. */
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
