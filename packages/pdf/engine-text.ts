// Makes the layout engine (pdfmake 0.3) measure text in linear time. Unpatched, it copies all runs of a paragraph for each run
// and all glyphs of a line for each word, and looks up each style in every block around a word.

import docMeasure from 'pdfmake/js/DocMeasure.js'
import documentContext from 'pdfmake/js/DocumentContext.js'
import elementWriter from 'pdfmake/js/ElementWriter.js'
import layoutBuilder from 'pdfmake/js/LayoutBuilder.js'
import pdfDocument, { type EngineFont } from 'pdfmake/js/PDFDocument.js'
import textBreaker from 'pdfmake/js/TextBreaker.js'
import textInlines, { type MeasuredInline, type StyleStack } from 'pdfmake/js/TextInlines.js'
import type { ConversionBudget } from './limits.ts'

// Counts the work of the layout engine. Layout is synchronous, so everything that is laid out belongs to the conversion whose
// budget is set here.
let current: ConversionBudget | undefined

/** Undefined while the pages are written. */
const layoutBudget = (): ConversionBudget | undefined => current

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

/** Counts a block each time it is laid out: again if a part does not stay together, and on each page of a header. */
docMeasure.default.prototype.measureNode = function (node) {
  current?.count('steps')
  return measureNode.call(this, node)
}

docMeasure.default.prototype.measureSVG = function (node) {
  current?.count('drawnCharacters', node.weight)
  return measureSVG.call(this, node)
}

const { addFragment } = elementWriter.default.prototype

/** Blocks that are kept together are laid out separately and copied. Table heads are copied to every page. */
elementWriter.default.prototype.addFragment = function (block, ...rest) {
  current?.count('copies', block.items.length)
  return addFragment.call(this, block, ...rest)
}

const { addPage } = documentContext.default.prototype

/** Checked while pages are created, so that a document with too many stops early. */
documentContext.default.prototype.addPage = function (...given) {
  current?.check('pages', this.pages.length + 1)
  return addPage.apply(this, given)
}

/** Styles from the blocks around a paragraph. They are the same for all its words, so each is looked up once. */
class BlockStyles implements StyleStack {
  readonly #stack: StyleStack
  readonly #known = new Map<string, unknown>()

  constructor(stack: StyleStack) {
    this.#stack = stack
  }

  getProperty(name: string): unknown {
    if (!this.#known.has(name)) this.#known.set(name, this.#stack.getProperty(name))
    return this.#known.get(name)
  }

  /** The engine reads a word's own styles before those of its blocks. */
  auto<T>(_item: object, use: () => T): T {
    return use()
  }
}

/** Styles of a word: from its run, otherwise from its blocks, otherwise these defaults. */
const STYLES: readonly (readonly [keyof MeasuredInline, unknown])[] = [
  ...Object.entries({ alignment: 'left', fontSize: 12, characterSpacing: 0, color: 'black', opacity: 1 }),
  ...['sup', 'sub'].map(name => [name, false] as const),
  ...['fontFeatures', 'background', 'link', 'linkToPage', 'linkToDestination', 'noWrap'].map(
    name => [name, null] as const,
  ),
  ...['decoration', 'decorationColor', 'decorationStyle', 'decorationThickness'].map(
    name => [name, null] as const,
  ),
]

/** The engine's factor for the font size. */
const SCRIPT_SIZE = 0.58

const prototype = textInlines.default.prototype

prototype.buildInlines = function (given, stack) {
  const styles = new BlockStyles(stack)
  const words = new textBreaker.default().getBreaks(Array.isArray(given) ? given : [given], styles)
  layoutBudget()?.count('steps', words.length)
  const items = this.measure(words, styles)
  let [minWidth, maxWidth] = [0, 0]
  let line: { width: number; leadingCut: number } | undefined
  for (const { width, leadingCut, trailingCut, lineEnd } of items) {
    minWidth = Math.max(minWidth, width - leadingCut - trailingCut)
    line ??= { width: 0, leadingCut }
    line.width += width
    maxWidth = Math.max(maxWidth, line.width - line.leadingCut - trailingCut)
    if (lineEnd) line = undefined
  }
  return { items, minWidth: styles.getProperty('noWrap') ? maxWidth : minWidth, maxWidth }
}

prototype.measure = function (words, styles) {
  for (const word of words) {
    const styleOf = (name: keyof MeasuredInline, otherwise: unknown): never =>
      (word[name] ?? styles.getProperty(name) ?? otherwise) as never
    word.font = this.pdfDocument.provideFont(
      styleOf('font', 'Roboto'),
      styleOf('bold', false),
      styleOf('italics', false),
    )
    for (const [name, otherwise] of STYLES) word[name] = styleOf(name, otherwise)
    if (word.sup || word.sub) word.fontSize *= SCRIPT_SIZE
    const widthOf = (text: string): number => (text === '' ? 0 : this.widthOfText(text, word))
    word.width = typeof word.gap === 'number' ? word.gap : this.widthOfText(word.text, word)
    word.height = word.font.lineHeight(word.fontSize) * styleOf('lineHeight', 1)
    const { text } = word
    word.leadingCut = styleOf('preserveLeadingSpaces', false)
      ? 0
      : widthOf(text.slice(0, text.length - text.trimStart().length))
    word.trailingCut = styleOf('preserveTrailingSpaces', false)
      ? 0
      : widthOf(text.slice(text.trimEnd().length))
  }
  const [first] = words
  if (first && typeof first.indent === 'number') first.leadingCut -= first.indent
  return words
}

const patched = new WeakSet<object>()
const provideFont = pdfDocument.default.prototype.provideFont

/** The library does not export the class of fonts, and each document has its own instances. */
pdfDocument.default.prototype.provideFont = function (...face) {
  const font = provideFont.apply(this, face)
  const fonts: EngineFont = Object.getPrototypeOf(font)
  if (!patched.has(fonts)) {
    patched.add(fonts)
    patchFont(fonts)
  }
  return font
}

function patchFont(fonts: EngineFont): void {
  const { layoutRun } = fonts
  fonts.layoutRun = function (text, features) {
    layoutBudget()?.count('glyphs', text.length)
    return layoutRun.call(this, text, features)
  }
  /** Shapes each word with the blank after it, so that repeated words are shaped only once. */
  fonts.layout = function (text, features, onlyWidth) {
    if (features) return this.layoutRun(text, features)
    const [glyphs, positions]: [unknown[], unknown[]] = [[], []]
    let [advanceWidth, start] = [0, 0]
    for (let end = 1; end <= text.length; end += 1) {
      const last = text.charCodeAt(end - 1)
      if (end < text.length && last !== BLANK && last !== TAB) continue
      const run = this.layoutCached(text.slice(start, end))
      advanceWidth += run.advanceWidth
      start = end
      if (onlyWidth) continue
      for (const glyph of run.glyphs) glyphs.push(glyph)
      for (const position of run.positions) positions.push(position)
    }
    return { glyphs, positions, advanceWidth }
  }
}

const [BLANK, TAB] = [0x20, 0x09]

const { getFontFile } = pdfDocument.default.prototype

/** The texts of drawings name the file of their font, which the engine would look for on a disk and leave the text out. */
pdfDocument.default.prototype.getFontFile = function (...asked) {
  const file = getFontFile.apply(this, asked)
  if (typeof file === 'string' && !this._registeredFonts[file] && this.virtualfs.existsSync(file))
    this.registerFont(file, this.virtualfs.readFileSync(file))
  return file
}
