// The layout engine (pdfmake 0.3) leaves out what it must keep together and what is higher than a page: a row, a block, the head of a
// table with the row after it. Such a document is laid out again, with these blocks broken.

import layoutBuilder, { type EngineNode } from 'pdfmake/js/LayoutBuilder.js'
import pageElementWriter from 'pdfmake/js/PageElementWriter.js'

// Layout is synchronous, so what is laid out belongs to one document.
/** The blocks around the one that is being laid out, and that one. */
const path: EngineNode[] = []

/** Blocks that were kept together and fitted no page. */
const tooHigh = new Set<EngineNode>()

const { layoutDocument, tryLayoutDocument, processNode } = layoutBuilder.default.prototype

layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  path.push(node)
  processNode.call(this, node, ...rest)
  path.pop()
}

/** What the engine notes of cells and tables as it lays them out: where they begin, end and break. */
const NOTES = [
  ...['_willBreak', '_bottomY', '_rowTopPageY', '_rowTopPageYPadding', '_lastPageNumber'],
  ...['_startingRowSpanY', '_startingRowSpanPage', '_endingCell', '_leftEndingCell', '_columnEndingContext'],
  ...['_isUnbreakableContext', '_originalXOffset', '_breaksBySpan', '_bottomByPage'],
]

const forgetNotes = (node: object): void => {
  for (const note of NOTES) Reflect.deleteProperty(node, note)
}

/**
 * The engine itself lays a document out again for headings at the end of a page; the last time counts. It would take what it noted
 * the first time for what it notes now, and move cells to where they no longer are.
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
      if ([...tooHigh].filter(letBreak).length === 0) return pages
      for (const node of this.linearNodeList ?? []) node.resetXY()
    }
  } finally {
    path.length = 0
    tooHigh.clear()
  }
}

/** Lets go of the next thing that keeps the block together; false when nothing is left. */
function letBreak(node: EngineNode): boolean {
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

/** Of a block with a page break in it the engine would show the first page alone. */
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

/** A line that is higher than a page is cut off at its end, as in browsers. */
pageElementWriter.default.prototype.addLine = function (line, ...rest) {
  const place = addLine.call(this, line, ...rest)
  if (place) return place
  const context = this.context()
  context.availableHeight = Math.max(context.availableHeight, line.getHeight())
  return addLine.call(this, line, ...rest)
}
