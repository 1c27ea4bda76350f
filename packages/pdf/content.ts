// Reads the nodes of an element. Texts become paragraphs, blocks follow one another, and floats, inline blocks and the children
// of a flex row are placed side by side.

import { isolationOf } from './bidi.ts'
import {
  type Column,
  columnOf,
  columnsOn,
  estimatedHeight,
  type Float,
  fits,
  fittingColumn,
  floatRow,
  leavesRoomForText,
  narrowColumns,
  restColumn,
  rowOf,
  widthOf,
  widthOfColumns,
} from './columns.ts'
import type { Block, Placed } from './engine.ts'
import type { FlexRow, Justify } from './flex.ts'
import { blank, blockElement, collapseMargins, withPlaced } from './flow.ts'
import type { Grid } from './grid.ts'
import { canFillCell, gridTable, placedIn } from './grid-table.ts'
import { charactersOf, type HtmlElement, type HtmlNode, PAGE_COUNT_TAG, PAGE_NUMBER_TAG } from './html.ts'
import { imageBlock } from './image-blocks.ts'
import { isText, MOST_OF_LINE, onBaseline, withInlineMargin } from './inline-boxes.ts'
import {
  addControl,
  addGap,
  addPageNumber,
  addRun,
  addText,
  alignmentOf,
  type Containing,
  type Flow,
  newParagraph,
  paragraphBlock,
} from './paragraph.ts'
import { edgesOf, type Style, styleOf } from './style.ts'
import { pointsIn } from './values.ts'

/** Converts the children of an element: to rows of a flex container or grid, otherwise to blocks that follow one another. */
export function blocksIn(children: readonly HtmlNode[], style: Style, flow: Flow): Block[] {
  if (style.row) return flexRows(children, style, style.row, flow)
  return style.grid ? gridRows(children, style, style.grid, flow) : new Content(style, flow).of(children)
}

/** Points. */
const LEAST_ROOM = 10

/** The content of an element, collected while its nodes are read. */
class Content {
  readonly #style: Style
  readonly #flow: Flow
  readonly #blocks: Block[] = []
  #paragraph = newParagraph()
  /** Inline blocks, and the texts between them. */
  #line: Column[] = []
  #floats: Float[] = []
  /** Content placed where it is in the text, in relation to the next block. */
  #anchored: Placed[] = []
  /** The index of the first block next to the floats. */
  #beside = 0
  /** The last image within the text. A line break after it only ends its line. */
  #image: Block | undefined
  /** The remaining height of the floats in points, beyond the content next to them. */
  #floatsLeft = 0

  constructor(style: Style, flow: Flow) {
    this.#style = style
    this.#flow = flow
  }

  of(nodes: readonly HtmlNode[]): Block[] {
    this.#take(nodes, this.#style)
    this.#endLine()
    if (this.#anchored.length > 0) this.#push(blank())
    this.#endFloats()
    return this.#blocks
  }

  #take(nodes: readonly HtmlNode[], around: Style): void {
    for (const node of nodes)
      if (typeof node === 'string') addText(this.#paragraph, node, around, this.#flow)
      else this.#takeElement(node, around)
  }

  #takeElement(element: HtmlElement, around: Style): void {
    const flow = this.#flow
    if (element.tag === 'br') this.#breakLine(element, around)
    else if (element.tag === PAGE_NUMBER_TAG) addPageNumber(this.#paragraph, around, flow)
    else if (element.tag === PAGE_COUNT_TAG) addRun(this.#paragraph, String(flow.pages ?? ''), around, flow)
    else this.#takeStyled(element, styleOf(element, around, flow.sheet, flow.budget, flow.width))
  }

  #breakLine(element: HtmlElement, around: Style): void {
    const { sheet, budget } = this.#flow
    const isPlain = this.#floats.length === 0 && Object.keys(element.attributes).length === 0
    const own = isPlain ? undefined : styleOf(element, around, sheet, budget)
    // Word processors write page breaks this way. Browsers ignore them, but the author meant a break.
    if (own?.breakBefore || own?.breakAfter) {
      this.#takeBlock(element, own)
      return
    }
    if (this.#line.length > 0) this.#endLine()
    else if (!this.#isAfterImage) addRun(this.#paragraph, '\n', around, this.#flow)
    this.#image = undefined
    if (own?.clears && this.#floats.length > 0) {
      this.#endLine()
      this.#endFloats()
    }
  }

  get #isAfterImage(): boolean {
    return (
      this.#image !== undefined && this.#image === this.#blocks.at(-1) && this.#paragraph.runs.length === 0
    )
  }

  #takeStyled(element: HtmlElement, own: Style): void {
    if (own.display === 'none') return
    const isAtStart = this.#paragraph.runs.length === 0 && this.#line.length === 0
    if (takePositioned(element, own, this.#flow, isAtStart ? this.#anchored : undefined)) return
    const isImage = element.tag === 'img' || element.drawing !== undefined
    if (own.float) this.#takeFloat(element, own, own.float)
    else if (isImage) this.#takeImage(element, own)
    else if (own.display === 'inline' || (own.display === 'inline-block' && isText(element, own))) {
      const [before, after] = isolationOf(element.tag, element.attributes.dir) ?? []
      addControl(this.#paragraph, before)
      addGap(this.#paragraph, own, 'before')
      this.#take(element.children, own)
      addGap(this.#paragraph, own, 'after')
      addControl(this.#paragraph, after)
    } else if (own.display === 'inline-block' || own.display === 'cell') this.#takeInlineBlock(element, own)
    else this.#takeBlock(element, own)
  }

  #takeBlock(element: HtmlElement, own: Style): void {
    this.#endLine()
    const isWide = own.display === 'table' && own.width !== undefined && own.width.percent > 0
    if (own.clears || own.breakBefore || isWide) this.#endFloats()
    if (this.#floats.length === 0) this.#push(...blockElement(element, own, this.#flow))
    else
      for (const block of blockElement(element, this.#asBeside(own), { ...this.#flow, width: this.#room }))
        this.#add(block)
  }

  /** The width next to the floats, in points. */
  get #room(): number {
    const { width } = this.#flow
    return Math.max(LEAST_ROOM, width - widthOfColumns(columnsOf(this.#floats), width))
  }

  /** The margins of the block are measured from the sides of the page, not from the floats. */
  #asBeside(own: Style): Style {
    const [left, top, right, bottom] = own.margin
    const less = (margin: number, side: Float['side']): number =>
      Math.max(0, margin - widthOfColumns(columnsOn(this.#floats, side), this.#flow.width))
    return { ...own, margin: [less(left, 'left'), top, less(right, 'right'), bottom] }
  }

  #takeImage(element: HtmlElement, own: Style): void {
    const image = imageBlock(element, own, this.#flow)
    if (image) {
      this.#endLine()
      this.#add(image)
      this.#image = own.display === 'block' ? undefined : image
    } else addText(this.#paragraph, element.attributes.alt ?? '', own, this.#flow)
  }

  #takeInlineBlock(element: HtmlElement, own: Style): void {
    const room = this.#flow.width
    this.#endEarlierLines()
    const text = this.#endParagraph()
    if (text && estimatedHeight(text, MOST_OF_LINE * room) > own.fontSize * own.lineHeight)
      this.#endLine(text)
    else if (text) this.#line.push(fittingColumn([withInlineMargin(text, own, this.#line.length > 0)]))
    const column = columnFor(element, onBaseline(element, own, this.#style), this.#flow)
    if (!fits(column, this.#line, room)) this.#endLine()
    this.#line.push(own.display === 'cell' && own.width === undefined ? restColumn(column.stack) : column)
  }

  #takeFloat(element: HtmlElement, own: Style, side: Float['side']): void {
    const room = this.#flow.width
    const column = columnFor(element, own, this.#flow)
    const hasBeside = this.#floats.length > 0 && this.#blocks.length > this.#beside
    if (hasBeside || !fits(column, columnsOf(this.#floats), room)) this.#endFloats()
    if (this.#floats.length === 0) this.#beside = this.#blocks.length
    this.#floats.push({ side, column })
    this.#floatsLeft = Math.max(this.#floatsLeft, estimatedHeight(column, widthOf(column, room)))
  }

  #endParagraph(): Block | undefined {
    const isFirst = this.#blocks.length === 0 && this.#line.length === 0
    const block = paragraphBlock(this.#paragraph, this.#style, isFirst)
    this.#paragraph = newParagraph()
    return block
  }

  /** Only the last line of the paragraph is next to an inline block. */
  #endEarlierLines(): void {
    const { runs, endsBlank } = this.#paragraph
    const end = runs.findLastIndex(({ text }) => text === '\n')
    if (end < 0) return
    const rest = runs.splice(end)
    this.#endLine()
    const hasText = rest.some(({ text, pageReference }) => /[^ \n]/.test(text) || pageReference !== undefined)
    this.#paragraph = { ...newParagraph(), runs: rest.slice(1), endsBlank, hasText }
  }

  #endLine(text = this.#endParagraph()): void {
    const line = this.#line
    this.#line = []
    if (line.length === 0) {
      if (text) this.#add(text)
      return
    }
    const isBeside = text !== undefined && leavesRoomForText(line, this.#flow.width)
    if (isBeside) line.push(restColumn([withInlineMargin(text, this.#style, true)]))
    const align = alignmentOf(this.#style, this.#style.direction === 'rtl')
    this.#add(rowOf(inDirection(line, this.#style), JUSTIFY_BY_ALIGNMENT[align] ?? 'start'))
    if (text && !isBeside) this.#add(text)
  }

  #push(...blocks: Block[]): void {
    const [first, ...others] = blocks
    if (!first) return
    const anchored = this.#anchored
    this.#anchored = []
    this.#blocks.push(anchored.length === 0 ? first : withPlaced([first], anchored), ...others)
  }

  #add(block: Block): void {
    this.#push(block)
    if (this.#floats.length === 0) return
    this.#floatsLeft -= estimatedHeight(block, this.#room)
    if (this.#floatsLeft <= 0) this.#endFloats()
  }

  #endFloats(): void {
    if (this.#floats.length === 0) return
    const after = this.#blocks.splice(this.#beside)
    const isBeside = leavesRoomForText(columnsOf(this.#floats), this.#flow.width)
    this.#blocks.push(floatRow(this.#floats, isBeside ? collapseMargins(after) : []))
    if (!isBeside) this.#blocks.push(...after)
    this.#floats = []
    this.#floatsLeft = 0
  }
}

const JUSTIFY_BY_ALIGNMENT: Readonly<Record<string, Justify>> = { center: 'center', right: 'end' }

const columnsOf = (floats: readonly Float[]): Column[] => floats.map(({ column }) => column)

const inDirection = (columns: readonly Column[], { direction }: Style): readonly Column[] =>
  direction === 'rtl' ? columns.toReversed() : columns

/** Returns the content as a column of the style's width. */
function columnFor(element: HtmlElement, own: Style, flow: Flow): Column {
  if (element.tag === 'img' || element.drawing !== undefined) {
    const image = imageBlock(element, { ...own, display: 'block' }, flow)
    if (image) return columnOf([image], { ...own, width: { percent: 0, points: Number(image.width) } })
  }
  const [left, , right] = own.margin
  const width = own.width ? pointsIn(own.width, flow.width)! + left + right : flow.width
  const plain = { ...own, breakBefore: false, breakAfter: false, autoLeft: false, autoRight: false }
  const whole = own.display === 'table' && own.width ? { percent: 100, points: 0 } : undefined
  const content = blockElement(element, { ...plain, width: whole }, { ...flow, width })
  return columnOf(collapseMargins(content), own)
}

/**
 * Takes an element with `position: absolute` or `fixed` out of the flow. `anchored` collects those without `top` and `bottom`.
 * Returns false for an element that stays in the flow: without such a position, in a header or footer outside of an element with
 * a position, within a line without `top` and `bottom`, and higher than the page.
 */
function takePositioned(element: HtmlElement, own: Style, flow: Flow, anchored?: Placed[]): boolean {
  const { position } = own
  if (!position || position.kind === 'relative') return false
  if (position.kind === 'fixed' && flow.onPages) {
    flow.onPages.fixed.push({ element, own })
    return true
  }
  // Otherwise each element within it would double the work: it would be laid out there, and again in the text.
  if (flow.tooHigh.has(element)) return false
  const containing = flow.containing ?? flow.onPages
  const isAnchored = position.top === undefined && position.bottom === undefined
  const into = isAnchored ? anchored : containing?.placed
  if (!containing || !into) return false
  const placed = placedElement(element, own, { ...flow, containing })
  const width = pointsIn(placed.width, containing.width) ?? containing.width
  if (estimatedHeight(placed.block, width) > flow.height) {
    flow.tooHigh.add(element)
    return false
  }
  into.push(placed)
  return true
}

/** Returns the content of an element, and its place in `flow.containing`. */
export function placedElement(
  element: HtmlElement,
  own: Style,
  flow: Flow & { readonly containing: Containing },
): Placed {
  const { kind: _, ...position } = own.position!
  const { width: room, height: around } = flow.containing
  const [left, right] = [pointsIn(position.left, room), pointsIn(position.right, room)]
  const [top, bottom] = [pointsIn(position.top, around ?? 0), pointsIn(position.bottom, around ?? 0)]
  const isImage = element.tag === 'img' || element.drawing !== undefined
  const isWide = own.width === undefined && left !== undefined && right !== undefined && !isImage
  const isHigh = own.height === undefined && around !== undefined && top !== undefined && bottom !== undefined
  const style: Style = {
    ...own,
    position: { ...own.position!, kind: 'relative' },
    ...(isWide && { width: { percent: 0, points: Math.max(LEAST_ROOM, room - left - right) } }),
    ...(isHigh && !isImage && { height: Math.max(0, around - top - bottom - edgesOf(own, 'down')) }),
  }
  const { stack, width } = columnFor(element, style, { ...flow, width: room, isWhole: true })
  return {
    ...position,
    block: { stack },
    width: typeof width === 'string' ? undefined : width,
    isWide,
    isFromTheRight: own.direction === 'rtl',
  }
}

function flexRows(
  children: readonly HtmlNode[],
  style: Style,
  { justify, gap, rowGap, wraps }: FlexRow,
  flow: Flow,
): Block[] {
  const rows: Column[][] = [[]]
  for (const child of children) {
    const column = flexColumn(child, style, flow)
    if (!column) continue
    if (wraps && !fits(column, rows.at(-1)!, flow.width)) rows.push([])
    rows.at(-1)!.push(column)
  }
  return rows
    .filter(row => row.length > 0)
    .map((row, at): Block => {
      // Widths are estimates within tables, and the gaps alone may seem to need more.
      const room = Math.max(LEAST_ROOM, flow.width - gap * (row.length - 1))
      const block = rowOf(inDirection(narrowColumns(row, room), style), justify, gap)
      return at === 0 || rowGap === 0 ? block : { ...block, margin: [0, rowGap, 0, 0] }
    })
}

function flexColumn(child: HtmlNode, style: Style, flow: Flow): Column | undefined {
  if (typeof child === 'string') {
    const [text] = new Content(style, flow).of([child])
    return text && fittingColumn([text])
  }
  const own = styleOf(child, style, flow.sheet, flow.budget, flow.width)
  if (own.display === 'none' || takePositioned(child, own, flow)) return undefined
  const { growth } = own
  const column = columnFor(child, asBlock(own), flow)
  return growth ? { ...restColumn(column.stack), growth } : column
}

const asBlock = (own: Style): Style => (own.display === 'inline' ? { ...own, display: 'block' } : own)

/** A table in a grid fills its place. */
const asGridItem = (own: Style): Style =>
  own.display === 'table' ? { ...own, width: own.width ?? { percent: 100, points: 0 } } : asBlock(own)

function gridRows(children: readonly HtmlNode[], style: Style, grid: Grid, flow: Flow): Block[] {
  const given: { child: HtmlNode; own: Style | undefined }[] = []
  for (const child of children)
    if (typeof child !== 'string') {
      const own = styleOf(child, style, flow.sheet, flow.budget, flow.width)
      if (own.display !== 'none' && !takePositioned(child, own, flow))
        given.push({ child, own: asGridItem(own) })
    } else if (/[^ \t\r\n\f]/.test(child)) given.push({ child, own: undefined })
  const items = placedIn(given, grid, flow).map(({ child, own, place, width }) => {
    const within = { ...flow, width: Math.max(LEAST_ROOM, width) }
    const item = { place, own, characters: charactersOf(child), isCell: false }
    if (typeof child === 'string' || !own) return { ...item, stack: new Content(style, within).of([child]) }
    if (!canFillCell(child, own, grid)) {
      const column = columnFor(child, own, within)
      return { ...item, stack: own.width ? [rowOf([column], 'start')] : column.stack }
    }
    const inner = { ...within, width: Math.max(LEAST_ROOM, within.width - edgesOf(own, 'across')) }
    const stack = collapseMargins(blocksIn(child.children, { ...own, background: undefined }, inner))
    return { ...item, stack, isCell: true }
  })
  return items.length === 0 ? [] : [gridTable(items, grid, style, flow)]
}
