// Content outside of the flow: it is laid out apart, and added to its page when the block is laid out in relation to which it is
// placed. The layout engine (pdfmake 0.3) has only distances from the top left corner of the page.

import layoutBuilder, { type Builder, type EngineNode } from 'pdfmake/js/LayoutBuilder.js'
import type { PageItem } from 'pdfmake/js/PageElementWriter.js'
import renderer from 'pdfmake/js/Renderer.js'
import type { Placed } from './engine.ts'
import { pointsIn } from './values.ts'

/** A block's area in points. */
type Area = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }

/** Higher than all content, in points: content that is placed never breaks across pages. */
const NO_LIMIT = 1_000_000

/** The tolerance for sums of widths. */
const HAIR = 0.01

const { processNode } = layoutBuilder.default.prototype

layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  if (node.onPages) placeOnPages(this, node.onPages)
  if (!node.placed) {
    processNode.call(this, node, ...rest)
    return
  }
  const { page, x, y, availableWidth } = this.writer.context()
  processNode.call(this, node, ...rest)
  const context = this.writer.context()
  // Its first line may not have had room on the page.
  const first = this.writer.transactionLevel === 0 ? (node.positions?.[0]?.pageNumber ?? 1) - 1 : page
  const isMoved = first > page
  const top = isMoved ? context.pageMargins.top : y
  const [left, above, right, below] = node.placed.borders
  const isOver = context.page > Math.max(first, page)
  const bottom = isOver ? context.pages[first]!.pageSize.height - context.pageMargins.bottom : context.y
  const area = {
    x: x + left,
    y: top + above,
    width: availableWidth - left - right,
    height: Math.max(0, bottom - top - above - below),
  }
  const end = isOver
    ? { ...area, y: context.pageMargins.top, height: context.y - context.pageMargins.top - below }
    : area
  for (const placed of node.placed.content)
    if (placed.top === undefined && placed.bottom !== undefined) place(this, placed, end, context.page)
    else place(this, placed, area, Math.max(first, page))
}

type OnPages = NonNullable<EngineNode['onPages']>

function placeOnPages(builder: Builder, { onFirst, onEach }: OnPages): void {
  const { pages } = builder.writer.context()
  const [first] = pages
  const { pageSize, pageMargins } = first!
  const height = pageSize.height - pageMargins.top - pageMargins.bottom
  const byPage = Map.groupBy(onFirst, placed => pageOf(placed, height, pages.length))
  for (const [at, page] of pages.entries()) {
    const { pageSize, pageMargins } = page
    const area = {
      x: pageMargins.left,
      y: pageMargins.top,
      width: pageSize.width - pageMargins.left - pageMargins.right,
      height: pageSize.height - pageMargins.top - pageMargins.bottom,
    }
    for (const placed of byPage.get(at) ?? [])
      place(builder, placed, { ...area, y: area.y - at * height }, at)
    for (const placed of onEach(at + 1, pages.length)) place(builder, placed, area, at)
  }
}

/** Returns the page at the distance from the top of the first, counted from 0. Some templates reach other pages this way. */
function pageOf({ top }: Placed, height: number, pages: number): number {
  const distance = pointsIn(top, height) ?? 0
  return Math.max(0, Math.min(pages - 1, Math.floor(distance / height)))
}

function place(builder: Builder, placed: Placed, area: Area, page: number): void {
  const { writer } = builder
  const block = builder.docMeasure.measureBlock(builder.docPreprocessor.preprocessBlock(placed.block))
  const width = widthOf(placed, block, area.width)
  const { items, height } = laidOut(builder, block, width)
  const context = writer.context()
  const { page: current } = context
  context.page = page
  const [x, y] = cornerOf(placed, area, { width, height })
  const [left, top] = onPaper(writer, { x, y, width, height }, placed.turn !== 0)
  addItems(writer, { items, height, xOffset: left, yOffset: top }, width, placed)
  context.page = current
}

type Size = Pick<Area, 'width' | 'height'>

function widthOf({ left, right, width, isWide }: Placed, block: EngineNode, room: number): number {
  const between = room - (pointsIn(left, room) ?? 0) - (pointsIn(right, room) ?? 0)
  if (isWide) return Math.max(1, between)
  const own = pointsIn(width, room)
  const { _minWidth: least = 0, _maxWidth: most = 0 } = block
  return own ?? Math.max(1, least, Math.min(most, between)) + HAIR
}

type Fragment = { readonly items: PageItem[]; readonly height: number }

function laidOut(builder: Builder, block: EngineNode, width: number): Fragment {
  const { writer } = builder
  const { originalX } = writer
  writer.pushContext(width, NO_LIMIT)
  writer.transactionLevel += 1
  writer.originalX = 0
  builder.processNode(block)
  writer.originalX = originalX
  writer.transactionLevel -= 1
  const { pages, y } = writer.context()
  writer.popContext()
  return { items: pages[0]!.items, height: y }
}

function cornerOf(placed: Placed, area: Area, { width, height }: Size): [x: number, y: number] {
  const left = pointsIn(placed.left, area.width)
  const right = pointsIn(placed.right, area.width)
  const top = pointsIn(placed.top, area.height)
  const bottom = pointsIn(placed.bottom, area.height)
  const isFromTheRight = left === undefined && (right !== undefined || placed.isFromTheRight)
  const x = isFromTheRight ? area.x + area.width - width - (right ?? 0) : area.x + (left ?? 0)
  const isFromBelow = top === undefined && bottom !== undefined
  const y = isFromBelow ? area.y + area.height - height - bottom : area.y + (top ?? 0)
  const [over, down] = placed.shift
  return [x + over * width, y + down * height]
}

/** Moves content onto the paper, where it can be read. Text that is turned may extend beyond, as watermarks do. */
function onPaper(
  writer: Builder['writer'],
  { x, y, width, height }: Area,
  isTurned: boolean,
): [x: number, y: number] {
  if (isTurned) return [x, y]
  const context = writer.context()
  const { pageSize } = (writer.contextStack[0] ?? context).getCurrentPage()
  // A block that is kept together begins at its own corner, and its page is not yet known.
  const isApart = writer.transactionLevel > 0
  const leftmost = isApart ? -writer.originalX : 0
  const lowest = isApart ? context.y : pageSize.height
  return [
    Math.max(leftmost, Math.min(x, leftmost + pageSize.width - width)),
    Math.max(0, Math.min(y, lowest - height)),
  ]
}

function addItems(
  writer: Builder['writer'],
  fragment: Fragment & { readonly xOffset: number; readonly yOffset: number },
  width: number,
  { isBehind, turn }: Placed,
): void {
  const context = writer.context()
  const { items } = context.pages[context.page]!
  const start = items.length
  // The engine would draw the backgrounds before everything on the page.
  for (const { item } of fragment.items) Reflect.deleteProperty(item, '_isFillColorFromUnbreakable')
  const { xOffset: x, yOffset: y, height } = fragment
  if (turn !== 0) items.push({ type: 'beginClip', item: { x, y, width, height, turn } })
  writer.addFragment(fragment, true, true, true)
  if (turn !== 0) items.push({ type: 'endClip', item: {} })
  if (isBehind) items.splice(context.backgroundLength[context.page]!, 0, ...items.splice(start))
}

const { beginClip } = renderer.default.prototype

/** Content that is turned is between marks which the engine has for clips. */
renderer.default.prototype.beginClip = function (area) {
  if (area.turn === undefined) {
    beginClip.call(this, area)
    return
  }
  this.pdfDocument.save()
  this.pdfDocument.rotate(area.turn, { origin: [area.x + area.width / 2, area.y + area.height / 2] })
}
