// Patches classes of the layout engine (pdfmake 0.3) where it differs from browsers: position and order of text in a line.
// Also bounds work that would otherwise never end.

import docMeasure from 'pdfmake/js/DocMeasure.js'
import elementWriter from 'pdfmake/js/ElementWriter.js'
import line, { type EngineLine, type Extent, type Inline } from 'pdfmake/js/Line.js'
import { wordToDraw } from './bidi.ts'
import { hasRoom } from './room.ts'

/** Returns the extent above and below the baseline. Half of the line's extra height is above the text. */
export function extentOf({ font, fontSize, height, line: own, strut, extent }: Inline): Extent {
  const ascender = (font.ascender / 1_000) * fontSize
  const half = own === undefined ? 0 : (own - font.lineHeight(fontSize)) / 2
  return {
    above: Math.max(extent?.above ?? ascender + half, strut?.above ?? 0),
    below: Math.max(extent?.below ?? (own ?? height) - ascender - half, strut?.below ?? 0),
  }
}

const prototype = line.default.prototype

prototype.getAscenderHeight = function (this: EngineLine): number {
  return this.inlines.reduce((most, inline) => Math.max(most, extentOf(inline).above), 0)
}

prototype.getHeight = function (this: EngineLine): number {
  const below = this.inlines.reduce((most, inline) => Math.max(most, extentOf(inline).below), 0)
  return Math.max(0, this.getAscenderHeight() + below)
}

const SIZES = [
  ...(['fontSize', 'width', 'height', 'line'] as const),
  ...(['leadingCut', 'trailingCut', 'characterSpacing'] as const),
]

const shrunkExtent = ({ above, below }: Extent, share: number): Extent => ({
  above: above * share,
  below: below * share,
})

/** The words of a text that are not in a line yet. The engine would copy its whole list for each of them. */
export class Words {
  readonly #words: Inline[]
  #first = 0

  constructor(words: Inline[]) {
    this.#words = words
  }

  get length(): number {
    return this.#words.length - this.#first
  }

  get 0(): Inline | undefined {
    return this.#words[this.#first]
  }

  shift(): Inline | undefined {
    this.#first += 1
    return this.#words[this.#first - 1]
  }

  unshift(...words: Inline[]): void {
    this.#first -= words.length
    if (this.#first < 0) {
      this.#words.unshift(...new Array(-this.#first))
      this.#first = 0
    }
    for (const [at, word] of words.entries()) this.#words[this.#first + at] = word
  }

  get largest(): number {
    return this.#words.reduce((most, { fontSize }) => Math.max(most, fontSize), 0)
  }

  /** Makes the text smaller. */
  shrink(share: number): void {
    for (const word of this.#words) {
      for (const name of SIZES) if (word[name] !== undefined) word[name] *= share
      word.strut &&= shrunkExtent(word.strut, share)
      word.extent &&= shrunkExtent(word.extent, share)
    }
  }

  /** The engine reads the words after the first to see whether there is room for all that must stay with it. */
  slice(from: number): Iterable<Inline> {
    return this[0]?.noNewLine ? this.#after(from) : []
  }

  *#after(from: number): Generator<Inline> {
    const start = this.#first + from
    const end = Math.min(this.#words.length, start + MOST_HELD)
    for (let at = start; at < end; at += 1) yield this.#words[at]!
  }
}

const MOST_HELD = 200

prototype.hasEnoughSpaceForInline = function (inline, following = []) {
  return hasRoom(this, inline, following)
}

const measureLeaf = docMeasure.default.prototype.measureLeaf
docMeasure.default.prototype.measureLeaf = function (node) {
  const measured = measureLeaf.call(this, node)
  measured._inlines = new Words(measured._inlines as Inline[])
  return measured
}

const alignLine = elementWriter.default.prototype.alignLine
elementWriter.default.prototype.alignLine = function (placed) {
  if (placed.inlines.some(({ level }) => level !== undefined)) inVisualOrder(placed)
  if (placed.inlines[0]?.alignment === 'justify') justifyLine(placed, this.context().availableWidth)
  else alignLine.call(this, placed)
}

/**
 * Replaces the engine's justification, which inserts room between all parts of a line. A word may have several parts, in
 * different fonts or directions.
 */
function justifyLine(placed: EngineLine, width: number): void {
  const rest = width - placed.getWidth()
  const gaps = placed.inlines.map(
    (inline, at) => at > 0 && (isBlankAt('right', placed.inlines[at - 1]!) || isBlankAt('left', inline)),
  )
  const count = gaps.filter(Boolean).length
  if (placed.newLineForced || placed.lastLineInParagraph || count === 0) {
    if (placed.inlines[0]!.fromTheRight) placed.x = (placed.x ?? 0) + rest
    return
  }
  const room = rest / count
  let shift = 0
  for (const [at, inline] of placed.inlines.entries()) {
    if (!gaps[at]) {
      inline.x += shift
      continue
    }
    shift += room
    inline.x += shift
    const before = placed.inlines[at - 1]!
    // The room before a word is underlined and coloured like the word.
    if (before.decoration === inline.decoration && before.background === inline.background)
      inline.justifyShift = room
  }
}

function isBlankAt(side: 'left' | 'right', inline: Inline): boolean {
  const isFromTheRight = levelOf(inline) % 2 === 1
  const text = logicalTexts.get(inline) ?? inline.text
  // A part without letters has a single gap, after it.
  return (
    (isFromTheRight === (side === 'left') ? /\S\s+$/ : /^\s+\S/).test(text) ||
    (side === 'right' && !/\S/.test(text))
  )
}

/**
 * The original text of the parts of lines, before it is prepared for drawing. The engine splits words that are too long for a
 * line.
 */
const logicalTexts = new WeakMap<Inline, string>()

function inVisualOrder(placed: EngineLine): void {
  const [first] = placed.inlines
  const last = placed.inlines.at(-1)!
  for (const inline of placed.inlines) makeDrawable(inline)
  const inlines = visualOrder(placed.inlines)
  // The blank at the end of the line is not shown. It is to the right of its word, or to the left of a right-to-left word.
  const cut = last.trailingCut ?? 0
  const isCutLeft = levelOf(last) % 2 === 1
  // The indent of a paragraph from the left.
  let x = first!.fromTheRight ? 0 : Math.max(0, -(first!.leadingCut ?? 0))
  for (const inline of inlines) {
    if (inline === last && isCutLeft) x -= cut
    inline.x = x
    x += inline.width
    if (inline === last && !isCutLeft) x -= cut
  }
  placed.inlines = inlines
}

const levelOf = ({ level = 0 }: Inline): number => level

function makeDrawable(inline: Inline): void {
  if (inline.level === undefined) return
  const text = logicalTexts.get(inline) ?? inline.text
  logicalTexts.set(inline, text)
  inline.text = wordToDraw(text, inline.level)
}

/** Reverses right-to-left text, from the innermost level outwards (Unicode rule L2). */
function visualOrder(logical: Inline[]): Inline[] {
  let inlines = logical
  const deepest = inlines.reduce((most, inline) => Math.max(most, levelOf(inline)), 0)
  for (let level = deepest; level > 0; level -= 1) inlines = withRunsReversed(inlines, level)
  return inlines
}

/** Reverses each run of words that have at least this level. */
function withRunsReversed(inlines: readonly Inline[], level: number): Inline[] {
  const turned: Inline[] = []
  for (let start = 0; start < inlines.length; ) {
    let end = start
    while (end < inlines.length && levelOf(inlines[end]!) >= level) end += 1
    for (let from = end - 1; from >= start; from -= 1) turned.push(inlines[from]!)
    // The word after the run keeps its place.
    if (end < inlines.length) turned.push(inlines[end]!)
    start = end + 1
  }
  return turned
}
