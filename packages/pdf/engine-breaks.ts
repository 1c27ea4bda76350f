// The layout engine (pdfmake 0.3) drops anything that it must keep together and that is higher than a page: a row, a block, the
// head of a table with the row after it. Such a document is laid out again, with these blocks allowed to break.

import layoutBuilder, { type EngineNode } from 'pdfmake/js/LayoutBuilder.js'
import pageElementWriter from 'pdfmake/js/PageElementWriter.js'

/** The block that is being laid out, last, and the blocks around it. Layout is synchronous, so this belongs to one document. */
const path: EngineNode[] = []

/** Blocks that were kept together and did not fit on any page. */
const tooHigh = new Set<EngineNode>()

const { layoutDocument, tryLayoutDocument, processNode } = layoutBuilder.default.prototype

layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  path.push(node)
  processNode.call(this, node, ...rest)
  path.pop()
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
 * The engine itself lays a document out again if a heading is at the end of a page, and the last layout counts. It would mistake
 * what it recorded during the first layout for the current one, and move cells to places that are no longer theirs.
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
function removeKeepTogether(node: EngineNode): boolean {
  const { table } = node
  if (node.unbreakable) node.unbreakable = false
  else if (table?.keepWithHeaderRows) table.keepWithHeaderRows = 0
  else if (table?.dontBreakRows) table.dontBreakRows = false
  else if (table?.headerRows) table.headerRows = 0
  else return false
  return true
}

const { beginUnbreakableBlock, commitUnbreakableBlock, addFragment, addLine } =
  pageElementWriter.default.prototype

const keptTogether = new WeakMap<object, EngineNode>()

pageElementWriter.default.prototype.beginUnbreakableBlock = function (...size) {
  if (this.transactionLevel === 0) keptTogether.set(this, path.at(-1)!)
  beginUnbreakableBlock.apply(this, size)
}

/** The engine would show only the first page of a block that contains a page break. */
pageElementWriter.default.prototype.commitUnbreakableBlock = function (x, y) {
  const node = keptTogether.get(this)
  const isOfBody = x === undefined && y === undefined
  if (node && isOfBody && this.transactionLevel === 1 && this.context().pages.length > 1) tooHigh.add(node)
  commitUnbreakableBlock.call(this, x, y)
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
