// The layout engine (pdfmake 0.3) drops anything that it must keep together and that is higher than a page: a row, a block, the
// head of a table with the row after it. Such a document is laid out again, with these blocks allowed to break.

import layoutBuilder, { type EngineNode } from 'pdfmake/js/LayoutBuilder.js'
import pageElementWriter, { type Context, type PageWriter } from 'pdfmake/js/PageElementWriter.js'

/** The block that is being laid out, last, and the blocks around it. Layout is synchronous, so this belongs to one document. */
const path: EngineNode[] = []

/** A block, or rows of a table. */
type Kept = Pick<EngineNode, 'unbreakable' | 'table'>

/** Blocks that were kept together and did not fit on any page. */
const tooHigh = new Set<Kept>()

const { layoutDocument, tryLayoutDocument, processNode, processSection } = layoutBuilder.default.prototype

/** The engine would begin another page for a margin below a block, which may remain empty. */
layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  const given = node._margin
  const [left, top, right, bottom] = given ?? [0, 0, 0, 0]
  path.push(node)
  node._margin = given && [left, marginWithin(top, this.writer.context()), right, 0]
  processNode.call(this, node, ...rest)
  node._margin = given
  path.pop()
  if (node.pageBreak === 'after') return
  moveDownWithinPage(bottom, this.writer.context())
}

/** Leaves a margin, or the rest of a height, which ends with its page. */
export function moveDownWithinPage(points: number, context: Context): void {
  const { availableHeight } = context
  context.moveDown(availableHeight < points ? Math.max(0, availableHeight) : marginWithin(points, context))
}

/** A negative margin moves nothing above the text of the page, where it would be lost. */
const marginWithin = (margin: number, { y, pageMargins }: Context): number =>
  margin < 0 ? Math.max(margin, Math.min(0, pageMargins.top - y)) : margin

/** A section after a page break begins with that page. The engine would keep the size of the page before. */
layoutBuilder.default.prototype.processSection = function (section) {
  const context = this.writer.context()
  while (context.pages.at(-1)?.items.length === 0) {
    context.pages.pop()
    context.backgroundLength.pop()
    context.page = context.pages.length - 1
  }
  processSection.call(this, section)
}

/** Properties in which the engine records where cells and tables begin, end and break. */
const NOTES = [
  ...['_willBreak', '_bottomY', '_rowTopPageY', '_rowTopPageYPadding', '_lastPageNumber'],
  ...['_startingRowSpanY', '_startingRowSpanPage', '_endingCell', '_leftEndingCell', '_columnEndingContext'],
  ...['_isUnbreakableContext', '_originalXOffset', '_breaksBySpan', '_bottomByPage'],
]

const forgetNotes = (node: object): void => {
  for (const note of NOTES) Reflect.deleteProperty(node, note)
}

/**
 * When a document is laid out again, the engine would mistake what it recorded during the first layout for the current one, and
 * move cells to places that are no longer theirs.
 */
layoutBuilder.default.prototype.tryLayoutDocument = function (...given) {
  path.length = 0
  tooHigh.clear()
  for (const node of this.linearNodeList ?? [])
    if (node.table) for (const one of [node, ...node.table.body.flat()]) forgetNotes(one)
  return tryLayoutDocument.apply(this, given)
}

layoutBuilder.default.prototype.layoutDocument = function (...given) {
  try {
    for (;;) {
      const pages = layoutDocument.apply(this, given)
      if ([...tooHigh].filter(removeKeepTogether).length === 0) return pages
      for (const node of this.linearNodeList ?? []) node.resetXY()
    }
  } finally {
    path.length = 0
    tooHigh.clear()
  }
}

/** Removes the next constraint that keeps the block together. Returns false if none is left. */
function removeKeepTogether(node: Kept): boolean {
  const { table } = node
  if (node.unbreakable) node.unbreakable = false
  else if (table?.keepWithHeaderRows) table.keepWithHeaderRows = 0
  else if (table?.dontBreakRows) table.dontBreakRows = false
  else if (table?.headerRows) table.headerRows = 0
  else return false
  return true
}

const { beginUnbreakableBlock, moveToNextPage, addFragment, addLine } = pageElementWriter.default.prototype

/** The block of each writer that is being laid out and is kept together; undefined for headers and footers. */
const keptTogether = new WeakMap<object, Kept | undefined>()

pageElementWriter.default.prototype.beginUnbreakableBlock = function (...size) {
  if (this.transactionLevel === 0) keptTogether.set(this, path.at(-1))
  beginUnbreakableBlock.apply(this, size)
}

/** Begins rows that are kept together. */
export function keepTogether(rows: Kept, writer: Omit<PageWriter, 'context'>): void {
  const isOutermost = writer.transactionLevel === 0
  writer.beginUnbreakableBlock()
  if (isOutermost) keptTogether.set(writer, rows)
}

/** A block that is kept together cannot contain a page break, so it is laid out again. */
pageElementWriter.default.prototype.moveToNextPage = function (...given) {
  const node = this.transactionLevel > 0 ? keptTogether.get(this) : undefined
  if (node) tooHigh.add(node)
  else moveToNextPage.apply(this, given)
}

pageElementWriter.default.prototype.addFragment = function (...given) {
  const isPlaced = addFragment.apply(this, given)
  const node = keptTogether.get(this)
  if (!isPlaced && node) tooHigh.add(node)
  return isPlaced
}

/**
 * A line that is higher than a page is cut off at the end of the page, as in browsers. The marker of a list item stays with its
 * line, even if its font needs more height.
 */
pageElementWriter.default.prototype.addLine = function (line, isMarker, ...rest) {
  const context = this.context()
  const { availableHeight } = context
  if (isMarker) context.availableHeight = Number.POSITIVE_INFINITY
  const place = addLine.call(this, line, isMarker, ...rest)
  if (isMarker) context.availableHeight = availableHeight
  if (place) return place
  context.availableHeight = Math.max(context.availableHeight, line.getHeight())
  return addLine.call(this, line, isMarker, ...rest)
}
