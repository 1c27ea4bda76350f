// Renders HTML to PDF without a browser. Built with its libraries (parse5, pdfmake) into a separate file, renderer.bundle.mjs,
// which the service loads for its first document (scripts/bundles.ts).
import { createHash } from 'node:crypto'
import { placedElement } from './content.ts'
import {
  type Block,
  type ContentDefinition,
  Engine,
  type EngineSection,
  type OnPages,
  type Placed,
} from './engine.ts'
import { flowOf, withoutOuterBreaks } from './flow.ts'
import { coverageOf, type Font, type FontFiles, MAIN_FONT, OTHER_FONT, type OwnFontFiles } from './fonts.ts'
import { addGenerated } from './generated.ts'
import { type HtmlDocument, type HtmlElement, PAGE_COUNT_TAG, readHtml } from './html.ts'
import { Images } from './images.ts'
import { ConversionBudget } from './limits.ts'
import { ownFonts } from './own-fonts.ts'
import { ConversionError, type Margins, type Page, type Paper, paperOf, type RenderedPdf } from './page.ts'
import { marginBoxes, NO_PAGE_RULES, type PageRules } from './page-rules.ts'
import type { ContainingPages, Flow } from './paragraph.ts'
import { type Section, sectionsOf } from './sections.ts'
import { readSheets } from './sheet.ts'
import { ROOT_STYLE, type Style, styleOf } from './style.ts'
import { ROOT_SIZE } from './values.ts'

export { ConversionError }

/** The minimum distance of headers and footers from the page's edge and from the text, in points. */
const GAP = 12

/** In points. Sums of heights are not exact. */
const HAIR = 0.01

/** Points. */
const LEAST_TEXT_HEIGHT = 100

/** Stands for page numbers while headers and footers are measured. It is as wide as any. */
const WIDE_NUMBER = 888

type Fonts = { files: ReadonlyMap<string, Uint8Array>; main: Font; other: Font }
let fonts: Fonts | undefined

/** Reads the fonts once per isolate. */
function readFonts(files: FontFiles): Fonts {
  if (fonts) return fonts
  const bytes = (name: string) => new Uint8Array(files[name as keyof FontFiles])
  fonts = {
    files: new Map(Object.keys(files).map(name => [name, bytes(name)])),
    main: { name: MAIN_FONT, coverage: coverageOf(new DataView(files.regular)) },
    other: { name: OTHER_FONT, coverage: coverageOf(new DataView(files.otherRegular)) },
  }
  return fonts
}

/**
 * Returns the same bytes for the same HTML, page, fonts and time. `madeAt` is the creation time in milliseconds.
 * `bindery-header` and `bindery-footer` are in the margins of every page, which grow if necessary. Throws a ConversionError when
 * a limit is exceeded, and for images that cannot be read.
 */
export async function renderPdf(...given: Parameters<typeof pdfOf>): Promise<RenderedPdf> {
  try {
    return await pdfOf(...given)
  } catch (problem) {
    if (problem instanceof ConversionError) throw problem
    // The result depends only on the HTML, so a retry would fail in the same way.
    const reason = problem instanceof Error ? problem.message : problem
    throw new ConversionError(`The document could not be laid out: ${reason}`)
  }
}

async function pdfOf(
  html: string,
  page: Page,
  files: FontFiles,
  ownFiles: OwnFontFiles,
  madeAt: number,
): Promise<RenderedPdf> {
  const rendering = new Rendering(html, page, files, ownFiles, madeAt)
  const frames = await rendering.frames()
  const id = createHash('sha256').update(JSON.stringify(page)).update(html).digest().subarray(0, 16)
  const first = await rendering.print(frames, id, undefined)
  // Text with the page count is laid out again once the count is known.
  const { bytes } = rendering.hasPageCount ? await rendering.print(frames, id, first.pages) : first
  return { bytes, ...rendering.findings }
}

/** In points. `room` is the height that the header or footer needs from the edge of the page to the text. */
type MarginPart = {
  readonly element: HtmlElement | undefined
  readonly height: number
  readonly room: number
}

/** `width` is that of the text, in points. */
type MarginFlow = Required<Pick<Flow, 'width' | 'page' | 'pages'>>

/** A section with its pages: header and footer after they are measured, and margins that leave room for them. */
type Frame = {
  readonly section: Section
  readonly paper: Paper
  readonly header: MarginPart
  readonly footer: MarginPart
  /** The size of the text area in points. */
  readonly area: Pick<Flow, 'width' | 'height'>
}

/** The rendering of one document: the data read from it, and the engine that lays it out. */
class Rendering {
  readonly #budget = new ConversionBudget()
  readonly #document: HtmlDocument
  readonly #page: Page
  readonly #sections: readonly Section[]
  readonly #missing = new Set<string>()
  readonly #flow: Flow
  readonly #bodyStyle: Style
  readonly #engine: Engine
  readonly #madeAt: number

  constructor(html: string, page: Page, files: FontFiles, ownFiles: OwnFontFiles, madeAt: number) {
    const budget = this.#budget
    const known = readFonts(files)
    const document = readHtml(html, budget)
    const sheet = readSheets(document.sheets, budget, textWidth(page))
    this.#document = withMarginBoxes(document, sheet.page, budget)
    addGenerated(this.#document, sheet, budget)
    this.#page = page
    const own = ownFonts(sheet.faces, ownFiles)
    this.#engine = new Engine(new Map([...own.files, ...known.files]), budget, own.faces)
    const { width, height, margins } = paperOf(page, sheet.page)
    let ids = 0
    this.#flow = {
      sheet,
      budget,
      images: new Images(budget),
      fonts: { main: known.main, other: known.other, own: own.fonts, missing: this.#missing },
      width: width - margins.left - margins.right,
      height: height - margins.top - margins.bottom,
      tooHigh: new Set(),
      nextId: () => {
        ids += 1
        return `block${ids}`
      },
    }
    const { body } = this.#document
    const root = styleOf(body.parent!, ROOT_STYLE, sheet, budget)
    this.#bodyStyle = { ...styleOf(body, root, sheet, budget), background: undefined }
    this.#sections = sectionsOf(body, this.#bodyStyle, sheet, budget)
    this.#madeAt = madeAt
  }

  get hasPageCount(): boolean {
    return has(this.#document.body, PAGE_COUNT_TAG)
  }

  get findings(): Pick<RenderedPdf, 'missing' | 'work'> {
    return { missing: [...this.#missing].join(''), work: this.#budget.work }
  }

  /** Measures header and footer of each section. Throws a ConversionError if they leave no room for the text. */
  async frames(): Promise<Frame[]> {
    for (const part of this.#marginElements) this.#budget.check('marginElements', sizeOf(part))
    const known = new Map<PageRules, Omit<Frame, 'section'>>()
    const frames: Frame[] = []
    for (const section of this.#sections) {
      const frame = known.get(section.rules) ?? (await this.#frameOf(section.rules))
      known.set(section.rules, frame)
      frames.push({ ...frame, section })
    }
    return frames
  }

  async #frameOf(rules: PageRules): Promise<Omit<Frame, 'section'>> {
    const paper = paperOf(this.#page, rules)
    const { margins, width, height } = paper
    const textWidth = width - margins.left - margins.right
    const header = await this.#measured(this.#document.header, textWidth)
    const footer = await this.#measured(this.#document.footer, textWidth)
    const top = Math.max(margins.top, header.room)
    const bottom = Math.max(margins.bottom, footer.room)
    if (top + bottom > height - LEAST_TEXT_HEIGHT)
      throw new ConversionError(
        'The header, footer and margins leave no room for the text. Make them smaller.',
      )
    const area = { width: textWidth, height: height - top - bottom }
    return { paper: { ...paper, margins: { ...margins, top, bottom } }, header, footer, area }
  }

  /** `pages` is the page count, if it is already known. `id` is 16 bytes that identify the file. */
  async print(
    frames: readonly Frame[],
    id: Uint8Array,
    pages: number | undefined,
  ): Promise<{ bytes: Uint8Array; pages: number }> {
    this.#budget.isRepeated = this.hasPageCount && pages === undefined
    const onPages = { placed: [], fixed: [], ...frames[0]!.area }
    const budget = new ConversionBudget()
    const contents = frames.map(({ section, area }) =>
      withoutOuterBreaks(
        flowOf(section.body, this.#bodyStyle, { ...this.#flow, ...area, budget, pages, onPages }),
      ),
    )
    const fixed = onPages.fixed.map(({ element }) => element)
    for (const element of fixed) this.#budget.check('marginElements', sizeOf(element))
    const perPage = [...this.#marginElements, ...fixed].reduce((sum, part) => sum + sizeOf(part), 0)
    let counted = 0
    const count = (all: number): void => {
      this.#budget.check('marginElementsOnAllPages', all * perPage)
      counted = all
    }
    const onEach: OnPages['onEach'] = (page, all) => {
      count(all)
      return this.#fixedOn(onPages, page, all)
    }
    contents.at(-1)!.push({ text: [], lineHeight: 1, onPages: { onFirst: onPages.placed, onEach } })
    const sections = frames.map((frame, at) => this.#sectionOf(frame, contents[at]!, count))
    const [first] = sections
    const content = sections.length === 1 ? contents[0]! : sections
    return { bytes: await this.#engine.bytesOf(this.#definition({ ...first!, content }), id), pages: counted }
  }

  /** `count` is called with the number of pages before each header. */
  #sectionOf(
    { paper, header, footer, area }: Frame,
    stack: Block[],
    count: (pages: number) => void,
  ): EngineSection {
    const { width, height, margins } = paper
    return {
      section: { stack },
      pageSize: { width, height },
      pageMargins: [margins.left, margins.top, margins.right, margins.bottom],
      header: (page, all) => {
        count(all)
        return this.#inMargin(header, margins, margins.top, { ...area, page, pages: all })
      },
      footer: (page, all) => this.#inMargin(footer, margins, margins.bottom, { ...area, page, pages: all }),
    }
  }

  /** Returns the content of elements with `position: fixed`. */
  #fixedOn({ fixed, ...containing }: ContainingPages, page: number, pages: number): Placed[] {
    const { width } = containing
    const flow = { ...this.#flow, width, budget: new ConversionBudget(), page, pages, containing }
    return fixed.map(({ element, own }) => placedElement(element, own, flow))
  }

  get #marginElements(): HtmlElement[] {
    const { header, footer } = this.#document
    return [header, footer].filter(part => part !== undefined)
  }

  async #measured(element: HtmlElement | undefined, width: number): Promise<MarginPart> {
    const height = element ? await this.#heightOf(element, width, false) : 0
    if (!element || height === 0) return { element, height: 0, room: 0 }
    // The engine moves a table row to another page, where nobody sees it, if the last margin of its cells does not fit.
    const below = (await this.#heightOf(element, width, true)) - height + HAIR
    return { element, height, room: height + 2 * Math.max(GAP, below) }
  }

  async #heightOf(element: HtmlElement, width: number, isWhole: boolean): Promise<number> {
    const content = this.#marginContent(element, { width, page: WIDE_NUMBER, pages: WIDE_NUMBER })
    if (content.length === 0) return 0
    const pageSize = { width, height: 'auto' as const }
    return await this.#engine.heightOf(
      this.#definition({ content, pageSize, pageMargins: [0, 0, 0, 0] }),
      isWhole,
    )
  }

  #inMargin({ element, height }: MarginPart, margins: Margins, room: number, on: MarginFlow): Block {
    if (!element) return { stack: [] }
    return {
      stack: this.#marginContent(element, on),
      margin: [margins.left, (room - height) / 2, margins.right, 0],
    }
  }

  #marginContent(element: HtmlElement, on: MarginFlow): Block[] {
    const flow: Flow = { ...this.#flow, ...on, budget: new ConversionBudget(), isWhole: true }
    const style = styleOf(element, this.#bodyStyle, flow.sheet, flow.budget)
    return flowOf(element, { ...style, margin: [0, 0, 0, 0] }, flow)
  }

  #definition(
    given: Pick<ContentDefinition, 'content' | 'pageSize' | 'pageMargins' | 'header' | 'footer'>,
  ): ContentDefinition {
    return {
      defaultStyle: { font: MAIN_FONT, fontSize: ROOT_SIZE },
      images: this.#flow.images.dictionary,
      version: '1.7',
      info: {
        title: this.#document.title || undefined,
        creator: 'Bindery',
        producer: 'Bindery',
        creationDate: new Date(this.#madeAt),
      },
      ...given,
    }
  }
}

/** In points, without the `@page` rules, because they may be within `@media` themselves. */
function textWidth(page: Page): number {
  const { width, margins } = paperOf(page, NO_PAGE_RULES)
  return width - margins.left - margins.right
}

/** Gives a document without its own header or footer the margin boxes of its `@page`. */
function withMarginBoxes(document: HtmlDocument, rules: PageRules, budget: ConversionBudget): HtmlDocument {
  const boxes = marginBoxes(rules)
  const read = (box: string | undefined) => (box === undefined ? undefined : readHtml(box, budget))
  return {
    ...document,
    header: document.header ?? read(boxes.header)?.header,
    footer: document.footer ?? read(boxes.footer)?.footer,
  }
}

const sizeOf = (element: HtmlElement): number =>
  element.children.reduce((sum, child) => sum + (typeof child === 'string' ? 0 : sizeOf(child)), 1)

const has = (element: HtmlElement, tag: string): boolean =>
  element.children.some(child => typeof child !== 'string' && (child.tag === tag || has(child, tag)))
