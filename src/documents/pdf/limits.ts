// What one document may ask of the renderer. All is counted, nothing is timed (docs/design.md, section 2).
import { ConversionError } from './page.ts'

export const CONVERSION_LIMITS = {
  /** Elements of the HTML. A table of 1,500 rows of three cells takes up about half of an isolate's memory. */
  elements: 6_000,
  /** Characters of its text. */
  characters: 400_000,
  /** Elements within one another. */
  depth: 100,
  /** Rules of all style sheets together. */
  rules: 1_000,
  /** Comparisons of an element with a selector. */
  matches: 10_000_000,
  /** Columns of a table. */
  columns: 60,
  images: 200,
  /** Bytes of all images together. */
  imageBytes: 10_000_000,
  /** Pixels of one image. */
  imagePixels: 12_000_000,
  /** Elements of a header or footer, which is laid out anew on every page. */
  marginElements: 500,
} as const

const WORDS: Readonly<Record<keyof typeof CONVERSION_LIMITS, string>> = {
  elements: 'elements',
  characters: 'characters of text',
  depth: 'elements within one another',
  rules: 'style rules',
  matches: 'comparisons of elements with selectors',
  columns: 'columns in a table',
  images: 'images',
  imageBytes: 'bytes of images',
  imagePixels: 'pixels in one image',
  marginElements: 'elements in a header or footer',
}

/** What one conversion has used up. `count` throws a ConversionError when a limit is passed. */
export class ConversionBudget {
  readonly #used = new Map<string, number>()

  count(what: keyof typeof CONVERSION_LIMITS, units = 1): void {
    const used = (this.#used.get(what) ?? 0) + units
    this.#used.set(what, used)
    this.check(what, used)
  }

  check(what: keyof typeof CONVERSION_LIMITS, used: number): void {
    if (used > CONVERSION_LIMITS[what])
      throw new ConversionError(
        `The document has more than ${CONVERSION_LIMITS[what]} ${WORDS[what]}; make it smaller.`,
      )
  }
}
