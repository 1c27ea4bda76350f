// Text in columns that are narrower than a letter. The layout engine (pdfmake 0.3) breaks the words of a column that is too
// narrow for them, but a letter that does not fit would overlap the next column, so the text becomes smaller.

import type { EngineNode } from 'pdfmake/js/LayoutBuilder.js'
import tableProcessor from 'pdfmake/js/TableProcessor.js'

const { beginTable } = tableProcessor.default.prototype

tableProcessor.default.prototype.beginTable = function (writer) {
  beginTable.call(this, writer)
  const { widths, body } = this.tableNode.table
  for (const row of body)
    for (const [at, cell] of row.entries()) {
      const { _calcWidth: width, _minWidth: least } = widths[at]!
      if ((cell.colSpan ?? 1) > 1 || width >= least) continue
      const size = largestFont(cell)
      if (size > width) shrink(cell, width / size)
    }
}

const partsOf = ({ stack, ul, ol }: EngineNode): readonly EngineNode[] => stack ?? ul ?? ol ?? []

/** Letters are at most about as wide as their font size. Tables and columns within the cell have widths of their own. */
const largestFont = (node: EngineNode): number =>
  partsOf(node).reduce((most, part) => Math.max(most, largestFont(part)), node._inlines?.largest ?? 0)

function shrink(node: EngineNode, share: number): void {
  node._inlines?.shrink(share)
  for (const part of partsOf(node)) shrink(part, share)
}
