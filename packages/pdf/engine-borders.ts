// Double borders, which the layout engine (pdfmake 0.3) does not have: two lines with a gap, each a third of the width.

import renderer, { type Vector } from 'pdfmake/js/Renderer.js'

const { renderVector } = renderer.default.prototype

renderer.default.prototype.renderVector = function (vector) {
  const { dash, lineWidth = 1 } = vector
  if (!dash?.double) {
    renderVector.call(this, vector)
    return
  }
  const { outer, inner, inside } = dash.double
  const third = lineWidth / 3
  const line = { ...vector, dash: undefined, lineWidth: third }
  renderVector.call(this, movedLine(line, -inside * third, outer))
  renderVector.call(this, movedLine(line, inside * third, inner))
}

/** Moves a line across its direction, and makes it longer at its ends. */
function movedLine(line: Vector, across: number, [start, end]: readonly [number, number]): Vector {
  const { x1 = 0, x2 = 0, y1 = 0, y2 = 0 } = line
  return x1 === x2
    ? { ...line, x1: x1 + across, x2: x2 + across, y1: y1 - start, y2: y2 + end }
    : { ...line, x1: x1 - start, x2: x2 + end, y1: y1 + across, y2: y2 + across }
}
