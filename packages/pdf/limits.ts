// Limits of one document. They are counted, not timed (docs/design.md, section 2).
import { ConversionError } from './page.ts'

/** Each limit with its description in messages. */
const LIMITS = {
  /** Elements of the HTML. A table of 1,500 rows of three cells needs about half of an isolate's memory. */
  elements: [6_000, 'elements'],
  characters: [400_000, 'characters of text'],
  depth: [100, 'levels of nested elements'],
  attributes: [200, 'attributes of one element'],
  rules: [1_000, 'style rules'],
  matches: [10_000_000, 'comparisons of elements with selectors'],
  columns: [60, 'columns in a table'],
  /** Cells in the grids of all tables, including cells that a span covers. */
  cells: [12_000, 'cells in its tables'],
  images: [200, 'images'],
  imageBytes: [10_000_000, 'bytes of images'],
  /** The pixels of a JPEG, and of a PNG that is not unpacked, cost nothing here, but readers of the PDF need memory for them. */
  imagePixels: [100_000_000, 'pixels in one image'],
  /** Bytes of one PNG. Reading it needs many times that size. */
  pngBytes: [4_000_000, 'bytes in one PNG'],
  /** Pixels of all images that must be unpacked: PNGs with transparency or interlacing. */
  unpackedPixels: [8_000_000, 'pixels in PNGs that are transparent or interlaced'],
  drawingCharacters: [500_000, 'characters in one drawing (SVG)'],
  /** Elements of a header or footer, which is laid out again on every page. */
  marginElements: [500, 'elements in a header or footer'],
  /** Elements of headers and footers, totalled over all pages. */
  marginElementsOnAllPages: [50_000, 'elements of headers and footers, counted on every page'],
  pages: [1_000, 'pages'],
  /** Words and blocks, counted each time they are laid out: on every page, and again if something that is kept together does not fit. */
  steps: [300_000, 'words and blocks to lay out, counted on every page that repeats them'],
  /** Characters to shape and measure. Repeated words count once. */
  glyphs: [1_500_000, 'characters to measure (very long words count several times; add blanks to them)'],
  /** Lines, borders and the like in blocks kept together, and in table heads on every page. */
  copies: [500_000, 'lines and borders in rows that are kept together and in repeated table headings'],
  /** Characters of drawings (SVG) on all their pages. Referenced parts count for each reference. */
  drawnCharacters: [
    3_000_000,
    'characters in drawings (SVG), counted on every page and, for gradients and clips, at every use',
  ],
} as const satisfies Readonly<Record<string, readonly [most: number, words: string]>>

type Limited = keyof typeof LIMITS

export const CONVERSION_LIMITS = Object.fromEntries(
  Object.entries(LIMITS).map(([what, [most]]) => [what, most]),
) as Record<Limited, number>

/** Counted while the pages are laid out, so again if they are laid out again. */
const OF_LAYOUT: readonly Limited[] = ['steps', 'glyphs', 'copies', 'drawnCharacters']

/** The work of one conversion. `count` throws a ConversionError when a limit is exceeded. */
export class ConversionBudget {
  readonly #used = new Map<string, number>()
  /** What was used before a layout that is to be repeated. */
  #before: ReadonlyMap<string, number> | undefined

  count(what: Limited, units = 1): void {
    const used = (this.#used.get(what) ?? 0) + units
    this.#used.set(what, used)
    const isRepeated = this.#before !== undefined && OF_LAYOUT.includes(what)
    this.check(what, isRepeated ? 2 * used - (this.#before!.get(what) ?? 0) : used)
  }

  /** Whether the layout that follows is to be repeated. If the limits do not allow that, it already fails. */
  set isRepeated(isRepeated: boolean) {
    this.#before = isRepeated ? new Map(this.#used) : undefined
  }

  /** The sum of everything counted: the cost of the document. */
  get work(): number {
    return [...this.#used.values()].reduce((sum, used) => sum + used, 0)
  }

  check(what: Limited, used: number): void {
    const [most, words] = LIMITS[what]
    if (used > most)
      throw new ConversionError(`The document has more than ${most} ${words}. Make it smaller.`)
  }
}
