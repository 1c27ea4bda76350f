// Blocks with a minimum height, for which the layout engine (pdfmake 0.3) has no property.

import layoutBuilder from 'pdfmake/js/LayoutBuilder.js'
import { moveDownWithinPage } from './engine-breaks.ts'

const { processNode } = layoutBuilder.default.prototype

/** The height ends with the page, so no page shows only the rest of a block. */
layoutBuilder.default.prototype.processNode = function (node, ...rest) {
  const { page, y } = this.writer.context()
  processNode.call(this, node, ...rest)
  const context = this.writer.context()
  if (node.minHeight === undefined || context.page !== page) return
  moveDownWithinPage(Math.max(0, y + node.minHeight - context.y), context)
}
