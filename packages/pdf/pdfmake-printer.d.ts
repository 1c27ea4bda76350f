// The parts of pdfmake that lay out and write, without those that read files and URLs.
declare module 'pdfmake/js/Printer.js' {
  type PdfStream = {
    readonly page: { readonly height: number }
    /** Identifies the file in its trailer. */
    _id: Uint8Array
    /** Texts, such as the creation date. */
    info: Record<string, unknown>
    /** Writes the info into the metadata, which is XML. */
    _addInfo(): void
    on(event: 'data', take: (chunk: Uint8Array) => void): void
    on(event: 'end', done: () => void): void
    on(event: 'error', failed: (problem: unknown) => void): void
    end(): void
  }
  class PdfPrinter {
    constructor(
      fonts: Readonly<
        Record<string, Readonly<Record<'normal' | 'bold' | 'italics' | 'bolditalics', string>>>
      >,
      files: {
        existsSync(name: string): boolean
        readFileSync(name: string): Uint8Array | undefined
        readonly budget: import('./limits.ts').ConversionBudget
      },
      addresses: { resolve(url: string): void; resolved(): Promise<void> },
      isAllowed: (path: string) => boolean,
    )
    createPdfKitDocument(content: object): Promise<PdfStream>
  }
  /** CommonJS compiled from an ES module: the default export is a property of the imported default. */
  const printer: { readonly default: typeof PdfPrinter }
  export default printer
}

declare module 'pdfmake/js/Line.js' {
  export type Extent = { readonly above: number; readonly below: number }
  export type Inline = {
    readonly font: { readonly ascender: number; lineHeight(size: number): number }
    text: string
    fontSize: number
    /** Height of the text itself. */
    height: number
    /** The height of its line (engine.ts). List markers have none. */
    line?: number
    readonly level?: number
    readonly fromTheRight?: boolean
    readonly alignment?: string
    readonly decoration?: unknown
    readonly background?: unknown
    /** Room before it in a justified line. */
    justifyShift?: number
    width: number
    leadingCut?: number
    trailingCut?: number
    characterSpacing?: number
    x: number
    /** Whether no line break is allowed after it. */
    readonly noNewLine?: boolean
    strut?: Extent
    extent?: Extent
  }
  export type EngineLine = {
    inlines: Inline[]
    readonly inlineWidths: number
    readonly leadingCut: number
    readonly maxWidth: number
    readonly newLineForced: boolean
    readonly lastLineInParagraph?: boolean
    x?: number
    getWidth(): number
    getAscenderHeight(): number
    getHeight(): number
    hasEnoughSpaceForInline(inline: Inline, following?: Iterable<Inline>): boolean
  }
  type NewLine = EngineLine & { y?: number; addInline(inline: Inline): void }
  const line: { readonly default: { readonly prototype: EngineLine; new (width: number): NewLine } }
  export default line
}

declare module 'pdfmake/js/ElementWriter.js' {
  import type { EngineLine } from 'pdfmake/js/Line.js'

  /** Where the alignment of a cell begins or ends. */
  export type AlignedItem = {
    page?: unknown
    isSplit?: boolean
    readonly cell?: object
    /** For the end of an alignment: its beginning, which has the heights. */
    begin?: AlignedItem
    /** The height of the cell's content, in points. */
    getNodeHeight?(): number
    /** The height of its row, in points. */
    getViewHeight?(): number
  }
  export type Aligned = { readonly item: AlignedItem }
  type Writer = {
    alignLine(line: EngineLine): void
    beginVerticalAlignment(alignment: string): Aligned
    endVerticalAlignment(alignment: string): Aligned
    context(): { readonly availableWidth: number; getCurrentPage(): unknown }
    addFragment(block: { readonly items: readonly unknown[] }, ...rest: unknown[]): unknown
  }
  const writer: { readonly default: { readonly prototype: Writer } }
  export default writer
}

declare module 'pdfmake/js/PageElementWriter.js' {
  import type { EngineLine } from 'pdfmake/js/Line.js'

  /** A line, vector, image or mark on a page. */
  export type PageItem = {
    readonly type: string
    /** `turn` is in degrees, of content that is turned (engine-positions.ts). */
    readonly item: { x?: number; y?: number; width?: number; height?: number; turn?: number }
  }
  export type EnginePage = {
    readonly items: PageItem[]
    readonly pageSize: { readonly width: number; readonly height: number }
    readonly pageMargins: {
      readonly left: number
      readonly top: number
      readonly right: number
      readonly bottom: number
    }
  }
  /** Where the next content begins. Heights are in points. */
  export type Context = {
    page: number
    readonly x: number
    readonly y: number
    readonly availableWidth: number
    readonly pageMargins: EnginePage['pageMargins']
    availableHeight: number
    readonly pages: EnginePage[]
    /** The number of items of each page that are drawn before its text. */
    readonly backgroundLength: number[]
    getCurrentPage(): EnginePage
    /** The rows around the content. */
    readonly snapshots: readonly unknown[]
    moveDown(points: number): void
    addMargin(left: number, right?: number): void
  }
  export type PageWriter = {
    /** Above 0 within a block that is kept together. */
    transactionLevel: number
    /** Where that block begins. */
    originalX: number
    /** The contexts outside of the current one, outermost first. */
    readonly contextStack: readonly Context[]
    pushContext(width: number, height: number): void
    popContext(): void
    addListener(event: 'pageChanged', listener: () => void): void
    addListener(event: 'lineAdded', listener: (line: EngineLine) => void): void
    removeListener(event: 'pageChanged', listener: () => void): void
    removeListener(event: 'lineAdded', listener: (line: EngineLine) => void): void
    addVector(vector: object): unknown
    moveToNextPage(orientation?: string): void
    addImage(image: { readonly _height: number }, ...rest: unknown[]): unknown
    addSVG(image: { readonly _height: number }, ...rest: unknown[]): unknown
    beginUnbreakableBlock(...size: unknown[]): void
    /** `x` and `y` are set for headers and footers only. */
    commitUnbreakableBlock(x?: number, y?: number): void
    /** Returns false if the block does not fit on any page. */
    addFragment(fragment: { readonly height: number }, ...rest: unknown[]): unknown
    /** The position of the context stays the same for the marker of a list item. */
    addLine(line: EngineLine, isMarker?: boolean, ...rest: unknown[]): unknown
    context(): Context
  }
  const writer: { readonly default: { readonly prototype: PageWriter } }
  export default writer
}

declare module 'pdfmake/js/helpers/tools.js' {
  /** Moves a line or a shape by this number of points. */
  export function offsetVector(vector: object, right: number, down: number): void
}

declare module 'pdfmake/js/LayoutBuilder.js' {
  type ConversionBudget = import('./limits.ts').ConversionBudget

  type Pdf = { readonly virtualfs: { readonly budget: ConversionBudget } }
  /** A bullet, whose `x` is its centre or its left side with a width, or a number. */
  export type ListMarker = {
    _minWidth: number
    readonly canvas?: readonly { readonly x?: number; readonly w?: number }[]
    readonly _inlines?: readonly import('pdfmake/js/Line.js').Inline[]
  }
  /** A block, which the engine keeps across all its layouts. */
  export type EngineNode = {
    unbreakable?: boolean
    /** Set for blocks that are not to be at the end of a page (engine.ts). */
    readonly keepsWithNext?: true
    readonly pageBreak?: 'before' | 'after'
    /** In points. */
    readonly minHeight?: number
    readonly placed?: import('./engine.ts').Block['placed']
    readonly onPages?: import('./engine.ts').OnPages
    readonly _minWidth?: number
    readonly _maxWidth?: number
    readonly text?: readonly unknown[] | string
    readonly stack?: readonly EngineNode[]
    readonly ul?: readonly EngineNode[]
    readonly ol?: readonly EngineNode[]
    readonly columns?: readonly EngineNode[]
    readonly _inlines?: import('./engine-layout.ts').Words
    readonly colSpan?: number
    /** Of an image. */
    readonly _height?: number
    readonly _layout?: import('./engine.ts').TableLayout
    readonly positions?: { pageNumber: number }[]
    _margin?: import('./engine.ts').Margin | null
    readonly fromTheRight?: true
    readonly outdent?: number
    readonly _gapSize?: { readonly width: number }
    readonly listMarker?: ListMarker
    readonly table?: {
      keepWithHeaderRows?: number
      dontBreakRows?: boolean
      headerRows?: number
      readonly body: readonly (readonly EngineNode[])[]
    }
    resetXY(): void
  }
  type Aligned = import('pdfmake/js/ElementWriter.js').Aligned
  export type Builder = {
    readonly docPreprocessor: { preprocessBlock(block: object): object }
    readonly docMeasure: { measureBlock(block: object): EngineNode }
    readonly writer: import('pdfmake/js/PageElementWriter.js').PageWriter
    /** The nodes of the previous layout; undefined before the first. */
    readonly linearNodeList?: readonly EngineNode[]
    readonly verticalAlignmentItemStack: readonly { readonly begin: Aligned; readonly end: Aligned }[]
    layoutDocument(structure: object, pdf: Pdf, ...rest: unknown[]): unknown
    tryLayoutDocument(...given: unknown[]): unknown
    /** Lays out a paragraph. */
    processLeaf(node: EngineNode): void
    /** Returns the next line of the paragraph, and null after the last. */
    buildNextLine(node: EngineNode): import('pdfmake/js/Line.js').EngineLine | null
    processSection(section: EngineNode): void
    processList(isOrdered: boolean, list: EngineNode): void
    processNode(node: EngineNode, isCell?: boolean, ...rest: unknown[]): void
    processRow(row: { readonly cells: readonly object[] }): unknown
  }
  const builder: { readonly default: { readonly prototype: Builder } }
  export default builder
}

declare module 'pdfmake/js/Renderer.js' {
  import type { AlignedItem } from 'pdfmake/js/ElementWriter.js'

  type Clip = {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
    /** Of content that is turned (engine-positions.ts), in degrees. */
    readonly turn?: number
  }
  export type Vector = {
    readonly x1?: number
    readonly x2?: number
    readonly y1?: number
    readonly y2?: number
    readonly lineWidth?: number
    readonly dash?: NonNullable<import('./engine.ts').LineStyle>['dash'] | undefined
  }
  type Renderer = {
    renderVector(vector: Vector): void
    readonly pdfDocument: {
      save(): void
      rotate(degrees: number, around: { readonly origin: readonly [number, number] }): void
    }
    beginClip(area: Clip): void
    beginVerticalAlignment(item: AlignedItem): void
    endVerticalAlignment(item: AlignedItem): void
  }
  const renderer: { readonly default: { readonly prototype: Renderer } }
  export default renderer
}

declare module 'pdfmake/js/PDFDocument.js' {
  type Shaped = { glyphs: unknown[]; positions: unknown[]; advanceWidth: number }
  export type EngineFont = {
    lineHeight(size: number): number
    layoutRun(text: string, features?: unknown): Shaped
    layoutCached(text: string): Shaped
    layout(text: string, features?: unknown, onlyWidth?: boolean): Shaped
  }
  type Pdf = {
    provideFont(family: string, bold: boolean, italics: boolean): EngineFont
    /** The name of a file, or null for a font that is not known. */
    getFontFile(family: string, bold: boolean, italics: boolean): unknown
    registerFont(name: string, bytes: Uint8Array): void
    readonly _registeredFonts: Readonly<Record<string, unknown>>
    readonly virtualfs: {
      existsSync(name: string): boolean
      readFileSync(name: string): Uint8Array
    }
  }
  const pdf: { readonly default: { readonly prototype: Pdf } }
  export default pdf
}

declare module 'pdfmake/js/TextBreaker.js' {
  import type { MeasuredInline, StyleStack } from 'pdfmake/js/TextInlines.js'

  class TextBreaker {
    getBreaks(runs: readonly unknown[], styles: StyleStack): MeasuredInline[]
  }
  const breaker: { readonly default: typeof TextBreaker }
  export default breaker
}

declare module 'pdfmake/js/TextInlines.js' {
  import type { EngineFont } from 'pdfmake/js/PDFDocument.js'

  export type StyleStack = {
    getProperty(name: string): unknown
    auto<T>(item: object, use: () => T): T
  }
  /** A word with its styles and its size. */
  export type MeasuredInline = Record<string, unknown> & {
    text: string
    font: EngineFont
    fontSize: number
    width: number
    height: number
    leadingCut: number
    trailingCut: number
    lineEnd?: boolean
  }
  type Inlines = { items: MeasuredInline[]; minWidth: number; maxWidth: number }
  type TextInlines = {
    readonly pdfDocument: { provideFont(family: string, bold: boolean, italics: boolean): EngineFont }
    buildInlines(given: unknown, stack: StyleStack): Inlines
    measure(words: MeasuredInline[], styles: StyleStack): MeasuredInline[]
    widthOfText(text: string, word: MeasuredInline): number
  }
  const inlines: { readonly default: { readonly prototype: TextInlines } }
  export default inlines
}

declare module 'bidi-js' {
  type Bidi = {
    getEmbeddingLevels(
      text: string,
      direction?: 'ltr' | 'rtl',
    ): { levels: Uint8Array; paragraphs: { start: number; end: number; level: number }[] }
    /** Returns a name such as `L`, `AL`, `B`. */
    getBidiCharTypeName(character: string): string
    /** Returns null if the character is not an opening bracket. */
    openingToClosingBracket(character: string): string | null
    closingToOpeningBracket(character: string): string | null
    /** Returns the equivalent bracket; null for most characters. */
    getCanonicalBracket(character: string): string | null
    /** Returns null if the character has no mirror image. */
    getMirroredCharacter(character: string): string | null
  }
  export default function bidiFactory(): Bidi
}

declare module 'pdfmake/js/columnCalculator.js' {
  type Column = {
    width: number | string | { readonly percent: number; readonly points: number }
    readonly fits?: true
    readonly growth?: import('./flex.ts').Growth
    readonly table?: object
    readonly _minWidth: number
    readonly _maxWidth: number
    _calcWidth: number
  }
  type Lines = (at: number, table: Table) => number
  type Table = {
    readonly table: { readonly fills?: boolean; readonly widths: readonly Column[] }
    readonly _layout: {
      readonly paddingLeft: Lines
      readonly paddingRight: Lines
      readonly vLineWidth: Lines
    }
  }
  const calculator: {
    readonly default: {
      buildColumnWidths(columns: Column[], available: number, offsets?: number, table?: Table): void
      measureMinMax(columns: Column[]): { min: number; max: number }
    }
  }
  export default calculator
}

declare module 'pdfmake/js/TableProcessor.js' {
  type EngineNode = import('pdfmake/js/LayoutBuilder.js').EngineNode
  type PageWriter = import('pdfmake/js/PageElementWriter.js').PageWriter
  export type TableWriter = PageWriter
  type Lines = (at: number, table: TableNode) => number
  /** `_offsets` has the space before the text of each column, and the total of everything that is not text. */
  export type TableNode = {
    readonly table: {
      readonly widths: readonly { readonly _calcWidth: number; readonly _minWidth: number }[]
      readonly body: readonly (readonly EngineNode[])[]
      readonly breaksBefore?: ReadonlySet<number>
      readonly keptRows?: readonly KeptRows[]
    }
    _layout: { readonly paddingLeft: Lines; readonly paddingRight: Lines; readonly vLineWidth: Lines }
    _offsets: { readonly offsets: readonly number[]; readonly total: number }
  }
  type KeptRows = import('./engine.ts').KeptRows
  type Processor = {
    readonly tableNode: TableNode
    readonly headerRows: number
    /** The rows that are being laid out and stay on one page (engine-rows.ts). */
    keptRows?: KeptRows | undefined
    beginTable(writer: TableWriter): void
    beginRow(row: number, writer: TableWriter): void
    endRow(row: number, writer: TableWriter, breaks: unknown): void
    drawHorizontalLine(row: number, writer: TableWriter): void
  }
  const processor: { readonly default: { readonly prototype: Processor } }
  export default processor
}

declare module 'pdfmake/js/DocMeasure.js' {
  type List = {
    readonly indent?: number
    readonly ul?: readonly import('pdfmake/js/LayoutBuilder.js').EngineNode[]
    readonly ol?: readonly import('pdfmake/js/LayoutBuilder.js').EngineNode[]
    _gapSize: { width: number }
    _minWidth: number
    _maxWidth: number
  }
  type Measure = (node: List) => List
  const measure: {
    readonly default: {
      readonly prototype: {
        measureUnorderedList: Measure
        measureOrderedList: Measure
        measureLeaf(node: object): { _inlines: unknown }
        measureNode(node: object): object
        measureSVG(node: { readonly weight: number }): object
      }
    }
  }
  export default measure
}

declare module 'pdfmake/js/DocumentContext.js' {
  type Context = { readonly pages: readonly unknown[]; addPage(...given: unknown[]): unknown }
  const context: { readonly default: { readonly prototype: Context } }
  export default context
}

declare module 'fontkit' {
  export function create(bytes: Uint8Array, family?: string): unknown
}
