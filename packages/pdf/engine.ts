// The layout engine: pdfmake with the platform's streams and compression, and fonts from memory.
// First, so that the other patches wrap it.
import './engine-positions.ts'
import './engine-alignment.ts'
import './engine-breaks.ts'
import './engine-headings.ts'
import './engine-heights.ts'
import './engine-borders.ts'
import './engine-layout.ts'
import './engine-lists.ts'
import './engine-paragraphs.ts'
import './engine-rows.ts'
import './engine-text.ts'
import './engine-widths.ts'
import './engine-letters.ts'
import printer from 'pdfmake/js/Printer.js'
import { MAIN_FONT, OTHER_FONT } from './fonts.ts'
import type { ConversionBudget } from './limits.ts'
import type { Position } from './positions.ts'
import type { Length } from './values.ts'

const FACES = {
  [MAIN_FONT]: { normal: 'regular', bold: 'bold', italics: 'italic', bolditalics: 'boldItalic' },
  [OTHER_FONT]: {
    normal: 'otherRegular',
    bold: 'otherBold',
    italics: 'otherRegular',
    bolditalics: 'otherBold',
  },
} as const

/** Lays out content with these fonts under the budget. It reads no files and no URLs. */
export class Engine {
  readonly #printer: InstanceType<typeof printer.default>

  constructor(
    files: ReadonlyMap<string, Uint8Array>,
    budget: ConversionBudget,
    own: Readonly<Record<string, Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>>> = {},
  ) {
    this.#printer = new printer.default(
      { ...FACES, ...own },
      {
        existsSync: (name: string) => files.has(name),
        readFileSync: (name: string) => files.get(name),
        budget,
      },
      { resolve: () => undefined, resolved: async () => undefined },
      () => false,
    )
  }

  /** Returns the height of the content on a page without a limit. With `isWhole`, includes the space below its last line. */
  async heightOf(definition: ContentDefinition, isWhole: boolean): Promise<number> {
    const end = { canvas: [{ type: 'line', x1: 0, y1: 0, x2: 0, y2: 0 }] }
    const content = isWhole ? [...definition.content, end] : definition.content
    const pdf = await this.#printer.createPdfKitDocument({ ...definition, content })
    return pdf.page.height
  }

  /** `id` is 16 bytes that identify the file. */
  async bytesOf(content: ContentDefinition, id: Uint8Array): Promise<Uint8Array> {
    const pdf = await this.#printer.createPdfKitDocument(content)
    pdf._id = id
    // The library writes texts into XML unescaped.
    const addInfo = pdf._addInfo
    pdf._addInfo = function () {
      this.info = Object.fromEntries(
        Object.entries(this.info).map(([key, value]) => [
          key,
          typeof value === 'string' ? escapedXml(value) : value,
        ]),
      )
      addInfo.call(this)
    }
    const chunks: Uint8Array[] = []
    return await new Promise((resolve, reject) => {
      pdf.on('data', chunk => chunks.push(chunk))
      pdf.on('end', () => resolve(new Uint8Array(Buffer.concat(chunks))))
      pdf.on('error', reject)
      pdf.end()
    })
  }
}

const XML_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Escapes text for XML and drops characters that XML does not allow. */
const escapedXml = (text: string): string =>
  text
    .replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>]/g, sign => XML_ENTITIES[sign]!)

// The part of the engine's input that documents need.
export type Run = {
  text: string
  font?: string
  fontSize?: number
  bold?: boolean
  italics?: boolean
  color?: string
  background?: string
  decoration?: ('underline' | 'lineThrough')[]
  decorationThickness?: number
  sup?: true
  sub?: true
  /** Odd for right-to-left text; absent for 0. */
  level?: number
  /** Whether its paragraph runs from right to left. */
  fromTheRight?: boolean
  /** Line height in points. */
  line?: number
  /** The minimum extent of each line of the block above and below the baseline, in points. */
  strut?: { above: number; below: number }
  /** Set only for a fallback font, so that it does not make the line higher. */
  extent?: { above: number; below: number }
  characterSpacing?: number
  /** Of the first run of a paragraph: how much further in its first line begins, in points. */
  indent?: number
  /** The width of an empty run in points. */
  gap?: number
  /** Whether no line break is allowed after it. */
  noNewLine?: true
  /** Whether it only controls the direction of text. It is not laid out. */
  isControl?: true
  link?: string
  noWrap?: boolean
  opacity?: number
  /** Prints the number of the page on which the block with this id begins. */
  pageReference?: string
}

/** Left, top, right, bottom, in points. */
export type Margin = [number, number, number, number]

/** Content outside of the flow, at a place in its containing block. */
export type Placed = Omit<Position, 'kind'> & {
  readonly block: Block
  /** Including margins. Undefined for the width of its text. */
  readonly width: Length | undefined
  /** Whether it extends from `left` to `right`. */
  readonly isWide: boolean
  readonly isFromTheRight: boolean
}

/** Content placed in relation to the text area of pages. */
export type OnPages = {
  readonly onFirst: readonly Placed[]
  /** Returns new content for each page; pages are counted from 1. */
  readonly onEach: (page: number, pages: number) => readonly Placed[]
}

type Common = {
  /** Content placed in relation to this block, which has borders of these widths. Only for blocks without margins. */
  placed?: { readonly content: readonly Placed[]; readonly borders: Margin }
  /** Of the last block of a document. */
  onPages?: OnPages
  margin?: Margin
  alignment?: string
  pageBreak?: 'before' | 'after'
  unbreakable?: boolean
  /** Moves to the next page if the block after it begins there. */
  keepsWithNext?: true
  id?: string
  /** Next to other blocks: the width of its text is `auto`, and the remaining room is `*`. */
  width?: number | string | Length
  /** In points. Only for blocks without margins. */
  minHeight?: number
  /** The number of an item of a list. */
  counter?: number
  /** Of an item of a list: how far its text is from where its marker ends, in points. */
  outdent?: number
}

export type Cell = (Block | { stack: Block[] } | { text: '' }) & {
  colSpan?: number
  rowSpan?: number
  border?: [boolean, boolean, boolean, boolean]
  borderColor?: [string, string, string, string]
  fillColor?: string
  fillOpacity?: number
  verticalAlignment?: string
}

type Ends = readonly [start: number, end: number]

/** How much longer the two lines are than the border at their ends, in points. The inner one is below or to the right for 1. */
export type DoubleLine = { readonly outer: Ends; readonly inner: Ends; readonly inside: 1 | -1 }

/** Null for a solid line. */
export type LineStyle = { dash: { length: number; space?: number; double?: DoubleLine } } | null

export type TableLayout = {
  hLineWidth(line: number): number
  vLineWidth(line: number): number
  hLineStyle?(line: number): LineStyle
  vLineStyle?(line: number): LineStyle
  hLineColor?(line: number): string
  paddingLeft(column: number): number
  paddingRight(column: number): number
  paddingTop(row: number): number
  paddingBottom(row: number): number
}

/** From the first row to the last. `unbreakable` is removed if they do not fit on a page. */
export type KeptRows = { readonly first: number; readonly last: number; unbreakable: boolean }

/** `indent` is the room for its markers in points, on the right if it is read from the right. */
type ListLook = {
  type: string
  indent: number
  markerColor: string
  fontSize: number
  fromTheRight?: true
}

export type Block = Common &
  (
    | { text: Run[]; lineHeight?: number; preserveLeadingSpaces?: boolean; preserveTrailingSpaces?: boolean }
    | { stack: Block[] }
    | { columns: Block[]; columnGap?: number }
    | (ListLook & { ul: Block[] })
    | (ListLook & { ol: Block[]; start: number })
    | { image: string; width: number; height: number; opacity?: number }
    /** `weight` is the cost of drawing it, in characters. */
    | { svg: string; weight: number; width: number; height: number }
    | {
        table: {
          widths: (number | string)[]
          headerRows: number
          keepWithHeaderRows: number
          dontBreakRows: boolean
          /** The rows that begin a page. */
          breaksBefore?: ReadonlySet<number>
          /** Rows that stay on one page. */
          keptRows?: KeptRows[]
          /** Uses the full available width, no matter what its texts need. */
          fills?: boolean
          heights?: (row: number) => number | 'auto'
          body: Cell[][]
        }
        layout: TableLayout
      }
  )

/** Content on pages of its own. */
export type EngineSection = {
  section: { stack: Block[] }
  pageSize: { width: number; height: number }
  pageMargins: Margin
  header: InMargin
  footer: InMargin
}

type InMargin = (page: number, pages: number) => Block

export type ContentDefinition = {
  pageSize: { width: number; height: number | 'auto' }
  pageMargins: Margin
  defaultStyle: { font: string; fontSize: number }
  images: Record<string, string>
  version: '1.7'
  info: { title?: string; creator: string; producer: string; creationDate: Date }
  content: Block[] | EngineSection[]
  header?: InMargin
  footer?: InMargin
}
