// Page breaks before rows of a table, and rows that stay on one page. The layout engine (pdfmake 0.3) has neither.

import tableProcessor, { type TableWriter } from 'pdfmake/js/TableProcessor.js'
import { keepTogether } from './engine-breaks.ts'

const { beginRow, endRow } = tableProcessor.default.prototype

tableProcessor.default.prototype.beginRow = function (row, writer) {
  const { breaksBefore, keptRows } = this.tableNode.table
  if (breaksBefore?.has(row)) {
    writer.moveToNextPage()
    drawTop(this, row, writer)
  }
  const rows = keptRows?.find(({ first }) => first === row)
  if (rows?.unbreakable) {
    this.keptRows = rows
    keepTogether(rows, writer)
  }
  beginRow.call(this, row, writer)
}

tableProcessor.default.prototype.endRow = function (row, writer, breaks) {
  endRow.call(this, row, writer, breaks)
  const rows = this.keptRows
  if (rows?.last !== row) return
  this.keptRows = undefined
  const onNewPage = (): void => drawTop(this, rows.first, writer)
  writer.addListener('pageChanged', onNewPage)
  writer.commitUnbreakableBlock()
  writer.removeListener('pageChanged', onNewPage)
}

type Processor = typeof tableProcessor.default.prototype

/** Draws the border above the first row of a page. A table head has its own. */
function drawTop(processor: Processor, row: number, writer: TableWriter): void {
  if (row > 0 && !processor.headerRows) processor.drawHorizontalLine(row, writer)
}
