// What the layout engine (pdfmake 0.3) does for a document is counted while it lays it out, which it does in one go:
// whatever is laid out belongs to the conversion whose budget is set here.
import docMeasure from 'pdfmake/js/DocMeasure.js'
import documentContext from 'pdfmake/js/DocumentContext.js'
import elementWriter from 'pdfmake/js/ElementWriter.js'
import layoutBuilder from 'pdfmake/js/LayoutBuilder.js'
import type { ConversionBudget } from './limits.ts'

let current: ConversionBudget | undefined

/** Of the conversion that is being laid out; undefined while its pages are written. */
export const layoutBudget = (): ConversionBudget | undefined => current

const layoutDocument = layoutBuilder.default.prototype.layoutDocument
layoutBuilder.default.prototype.layoutDocument = function (structure, pdf, ...rest) {
  const before = current
  current = pdf.virtualfs.budget
  try {
    return layoutDocument.call(this, structure, pdf, ...rest)
  } finally {
    current = before
  }
}

const { measureNode, measureSVG } = docMeasure.default.prototype

/** Every block counts each time that it is laid out: with a heading that goes to the next page, on each page of a header. */
docMeasure.default.prototype.measureNode = function (node) {
  current?.count('steps')
  return measureNode.call(this, node)
}

docMeasure.default.prototype.measureSVG = function (node) {
  current?.count('drawnCharacters', node.weight)
  return measureSVG.call(this, node)
}

const { addFragment } = elementWriter.default.prototype

/** What is kept together is laid out apart and copied; heads of tables are copied to every page. */
elementWriter.default.prototype.addFragment = function (block, ...rest) {
  current?.count('copies', block.items.length)
  return addFragment.call(this, block, ...rest)
}

const { addPage } = documentContext.default.prototype

/** Pages are counted as they are made: what fills too many of them is stopped before it is all laid out. */
documentContext.default.prototype.addPage = function (...given) {
  current?.check('pages', this.pages.length + 1)
  return addPage.apply(this, given)
}
