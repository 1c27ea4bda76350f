// Patches vertical alignment in the layout engine (pdfmake 0.3). If a cell begins at the end of a page and all of its content is
// on the next, the engine begins the alignment on the first page and ends it on the second, which moves everything after it out
// of sight. For a row over two pages it may use the height on the second page. If that is less than the height of a cell, the
// cell moves above its page; if it is more than is available, the cell moves onto the next row. Such cells are not aligned.
import elementWriter, { type AlignedItem } from 'pdfmake/js/ElementWriter.js'
import layoutBuilder from 'pdfmake/js/LayoutBuilder.js'
import renderer from 'pdfmake/js/Renderer.js'

const { processNode, processRow } = layoutBuilder.default.prototype
layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  const before = this.verticalAlignmentItemStack.length
  processNode.call(this, node, ...rest)
  // The alignment of the node itself. Nodes inside of it have already been processed.
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

/** Items of a node that is not a cell have no heights, and are not moved. */
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
