// What one document may ask of the renderer. All is counted, nothing is timed (docs/design.md, section 2).
import { ConversionError } from './page.ts'

export const CONVERSION_LIMITS = {
  /** Elements of the HTML. A table of 1,500 rows of three cells takes up about half of an isolate's memory. */
  elements: 6_000,
  /** Characters of its text. */
  characters: 400_000,
  /** Elements within one another. */
  depth: 100,
  /** Attributes of one element. */
  attributes: 200,
  /** Rules of all style sheets together. */
  rules: 1_000,
  /** Comparisons of an element with a selector. */
  matches: 10_000_000,
  /** Columns of a table. */
  columns: 60,
  /** Places in the grids of all tables, those that a cell reaches into with them. */
  cells: 12_000,
  images: 200,
  /** Bytes of all images together. */
  imageBytes: 10_000_000,
  /** Pixels of one image. */
  imagePixels: 12_000_000,
  /** Bytes of one PNG, which takes up many times its size when it is read. */
  pngBytes: 4_000_000,
  /** Pixels of all images that have to be unpacked: PNGs with transparency, and interlaced ones. */
  unpackedPixels: 8_000_000,
  /** Characters of one drawing (SVG). */
  drawingCharacters: 500_000,
  /** Elements of a header or footer, which is laid out anew on every page. */
  marginElements: 500,
  /** The same on all pages together. */
  marginElementsOnAllPages: 50_000,
  pages: 1_000,
  /** Words and blocks that are laid out, each time that they are: on every page, and when a heading moves to the next. */
  steps: 300_000,
  /** Characters whose glyphs are chosen and measured, words that come again once. */
  glyphs: 1_500_000,
  /** Lines, borders and the like of what is kept together on a page, and of heads of tables on every page. */
  copies: 500_000,
  /** Characters of drawings (SVG), on all pages on which they stand; what one refers to counts for each time. */
  drawnCharacters: 3_000_000,
} as const

const WORDS: Readonly<Record<keyof typeof CONVERSION_LIMITS, string>> = {
  elements: 'elements',
  characters: 'characters of text',
  depth: 'elements within one another',
  attributes: 'attributes of one element',
  rules: 'style rules',
  matches: 'comparisons of elements with selectors',
  columns: 'columns in a table',
  cells: 'cells in its tables',
  images: 'images',
  imageBytes: 'bytes of images',
  imagePixels: 'pixels in one image',
  pngBytes: 'bytes in one PNG',
  unpackedPixels: 'pixels in PNGs with transparency or interlaced ones',
  drawingCharacters: 'characters in one drawing (SVG)',
  marginElements: 'elements in a header or footer',
  marginElementsOnAllPages: 'elements of headers and footers on all its pages',
  pages: 'pages',
  steps: 'words and blocks to lay out, counted again on every page that repeats them',
  glyphs: 'characters to measure; very long words count several times, so put blanks into them',
  copies: 'lines and borders in rows kept together and in repeated heads of tables',
  drawnCharacters:
    'characters in drawings (SVG), counted on every page, gradients and clips wherever they are used',
}

/** What one conversion has used up. `count` throws a ConversionError when a limit is passed. */
export class ConversionBudget {
  readonly #used = new Map<string, number>()

  count(what: keyof typeof CONVERSION_LIMITS, units = 1): void {
    const used = (this.#used.get(what) ?? 0) + units
    this.#used.set(what, used)
    this.check(what, used)
  }

  used(what: keyof typeof CONVERSION_LIMITS): number {
    return this.#used.get(what) ?? 0
  }

  /** All that was counted, in one number: what making the document costs. */
  get work(): number {
    return [...this.#used.values()].reduce((sum, used) => sum + used, 0)
  }

  check(what: keyof typeof CONVERSION_LIMITS, used: number): void {
    if (used > CONVERSION_LIMITS[what])
      throw new ConversionError(
        `The document has more than ${CONVERSION_LIMITS[what]} ${WORDS[what]}; make it smaller.`,
      )
  }
}
