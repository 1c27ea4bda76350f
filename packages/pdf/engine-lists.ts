// The markers of lists in the layout engine (pdfmake 0.3): their distance from the text, and those of right-to-left lists, which
// are on the right.

import docMeasure from 'pdfmake/js/DocMeasure.js'
import { offsetVector } from 'pdfmake/js/helpers/tools.js'
import layoutBuilder, { type EngineNode, type ListMarker } from 'pdfmake/js/LayoutBuilder.js'
import line, { type EngineLine } from 'pdfmake/js/Line.js'
import type { PageWriter } from 'pdfmake/js/PageElementWriter.js'

/** The contents of a list begin after its padding, and the marker precedes them. */
for (const measure of ['measureUnorderedList', 'measureOrderedList'] as const) {
  const engines = docMeasure.default.prototype[measure]
  docMeasure.default.prototype[measure] = function (node) {
    const measured = engines.call(this, node)
    const more = (measured.indent ?? 0) - measured._gapSize.width
    measured._gapSize = { ...measured._gapSize, width: measured._gapSize.width + more }
    measured._minWidth += more
    measured._maxWidth += more
    // Numbers end at the text, so that their digits are below one another.
    for (const { listMarker } of measured.ol ?? [])
      if (listMarker?._inlines) listMarker._minWidth = listMarker._inlines[0]!.width
    // The marker of an item with a box is outside of it.
    for (const { listMarker, outdent } of measured.ol ?? measured.ul ?? [])
      if (listMarker && outdent !== undefined) listMarker._minWidth += outdent
    return measured
  }
}

const { processList } = layoutBuilder.default.prototype

layoutBuilder.default.prototype.processList = function (isOrdered, list) {
  if (!list.fromTheRight) {
    processList.call(this, isOrdered, list)
    return
  }
  const { writer } = this
  const { width } = list._gapSize!
  let marker: ListMarker | undefined
  const addMarker = (first: EngineLine): void => {
    const own = marker
    marker = undefined
    if (own) markOnTheRight(writer, own, first)
  }
  writer.context().addMargin(0, width)
  writer.addListener('lineAdded', addMarker)
  for (const item of (isOrdered ? list.ol : list.ul) as readonly EngineNode[]) {
    marker = item.listMarker
    this.processNode(item)
    list.positions!.push(...item.positions!)
  }
  writer.removeListener('lineAdded', addMarker)
  writer.context().addMargin(0, -width)
}

function markOnTheRight(writer: PageWriter, marker: ListMarker, first: EngineLine): void {
  const { availableWidth } = writer.context()
  const end = availableWidth + marker._minWidth
  const [vector] = marker.canvas ?? []
  if (vector) {
    // It is as far from the text as on the left.
    const { x = 0, w = 0 } = vector
    offsetVector(vector, end - 2 * x - w, 0)
    writer.addVector(vector)
  }
  const [number] = marker._inlines ?? []
  if (!number) return
  const markerLine = new line.default(end)
  const [, digits, separator] = /^(.*?)(\.?\s*)$/s.exec(number.text)!
  number.text = [...separator!].reverse().join('') + digits
  markerLine.addInline(number)
  markerLine.x = end - number.width
  markerLine.y = first.getAscenderHeight() - markerLine.getAscenderHeight()
  writer.addLine(markerLine, true)
}
