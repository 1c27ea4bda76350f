// Where a cell begins at the end of a page and all of it stands on the next, the layout engine (pdfmake 0.3) begins its vertical
// alignment on the one and ends it on the other, which moves whatever follows out of sight. Of a row over two pages it may take the
// height on the second, less than that of a cell, and move the cell above its page, or more than there is, and move it onto the next row.
// Such cells are not aligned.
import elementWriter, { type AlignedItem } from 'pdfmake/js/ElementWriter.js'
import layoutBuilder from 'pdfmake/js/LayoutBuilder.js'
import renderer from 'pdfmake/js/Renderer.js'

const { processNode, processRow } = layoutBuilder.default.prototype
layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  const before = this.verticalAlignmentItemStack.length
  processNode.call(this, node, ...rest)
  // That of the node itself; nodes inside of it had theirs.
  const { begin, end } = this.verticalAlignmentItemStack.at(-1) ?? {}
  if (!begin || !end || this.verticalAlignmentItemStack.length === before) return
  begin.item.isSplit = begin.item.page !== end.item.page
  end.item.begin = begin.item
}

layoutBuilder.default.prototype.processRow = function (row) {
  const { page } = this.writer.context()
  const first = this.verticalAlignmentItemStack.length
  const result = processRow.call(this, row)
  if (this.writer.context().page === page) return result
  for (const { begin } of this.verticalAlignmentItemStack.slice(first))
    if (begin.item.cell && row.cells.includes(begin.item.cell)) begin.item.isSplit = true
  return result
}

/** Those of a node that is no cell have no heights, and are not moved. */
const hasRoom = (cell: AlignedItem): boolean =>
  !cell.isSplit && (cell.getNodeHeight?.() ?? 0) <= (cell.getViewHeight?.() ?? 0)

for (const method of ['beginVerticalAlignment', 'endVerticalAlignment'] as const) {
  const written = elementWriter.default.prototype[method]
  elementWriter.default.prototype[method] = function (alignment) {
    const placed = written.call(this, alignment)
    placed.item.page = this.context().getCurrentPage()
    return placed
  }
  const rendered = renderer.default.prototype[method]
  renderer.default.prototype[method] = function (item) {
    if (hasRoom(item.begin ?? item)) rendered.call(this, item)
  }
}
