// Paragraphs over two pages: at least two lines are on each. The layout engine (pdfmake 0.3) breaks after any line.

import layoutBuilder, { type Builder } from 'pdfmake/js/LayoutBuilder.js'
import type { EngineLine } from 'pdfmake/js/Line.js'

/** The minimum of lines before and after a page break, as `orphans` and `widows` are in browsers. */
const FEWEST = 2

/** Higher lines may stand alone. As a part of the page. */
const HIGHEST_LINE = 1 / 12

const { processLeaf, buildNextLine } = layoutBuilder.default.prototype

layoutBuilder.default.prototype.processLeaf = function (node) {
  const context = this.writer.context()
  // Cells next to each other break one by one, and what is kept together does not break.
  if (this.writer.transactionLevel > 0 || context.snapshots.length > 0) {
    processLeaf.call(this, node)
    return
  }
  const lines: EngineLine[] = []
  for (let line = buildNextLine.call(this, node); line; line = buildNextLine.call(this, node))
    lines.push(line)
  let next = 0
  let last = lastOfPage(this, lines, next)
  // The engine asks for each line after it has placed the line before.
  this.buildNextLine = () => {
    if (next === last && next < lines.length) {
      this.writer.moveToNextPage()
      last = lastOfPage(this, lines, next)
    }
    next += 1
    return lines[next - 1] ?? null
  }
  processLeaf.call(this, node)
  Reflect.deleteProperty(this, 'buildNextLine')
}

/** Returns the number of lines before the next page break. It is all of them where the engine decides. */
function lastOfPage({ writer }: Builder, lines: readonly EngineLine[], first: number): number {
  const { y, availableHeight, pageMargins } = writer.context()
  const isAtTop = y <= pageMargins.top
  const highest = (y - pageMargins.top + availableHeight) * HIGHEST_LINE
  let fitting = first
  for (let room = availableHeight; fitting < lines.length; fitting += 1) {
    const height = lines[fitting]!.getHeight()
    room -= height
    if (height > highest) return lines.length
    if (room < 0) break
  }
  if (fitting === lines.length) return fitting
  const end = Math.min(fitting, lines.length - FEWEST)
  if (end - first >= FEWEST) return end
  return isAtTop ? lines.length : first
}
