// HTML to PDF without a browser. Built with its libraries (parse5, pdfmake) into its own file, renderer.bundle.mjs,
// which the service loads for its first document (scripts/bundles.ts).
import { createHash } from 'node:crypto'
import { type Block, type ContentDefinition, Engine, type Margin } from './engine.ts'
import { flowOf } from './flow.ts'
import { coverageOf, type Font, type FontFiles, MAIN_FONT, OTHER_FONT, type OwnFontFiles } from './fonts.ts'
import { type HtmlElement, PAGE_COUNT_TAG, readHtml } from './html.ts'
import { Images } from './images.ts'
import { CONVERSION_LIMITS, ConversionBudget } from './limits.ts'
import { ownFonts } from './own-fonts.ts'
import { ConversionError, type Page, paperOf, type RenderedPdf } from './page.ts'
import { marginBoxes } from './page-rules.ts'
import type { Flow } from './paragraph.ts'
import { readSheets } from './sheet.ts'
import { ROOT_STYLE, styleOf } from './style.ts'
import { ROOT_SIZE } from './values.ts'

export { ConversionError }

/** Least distance of headers and footers from the page's edge and from the text; points. */
const GAP = 12

/** Points. Sums of heights are not exact. */
const HAIR = 0.01

type Fonts = { files: ReadonlyMap<string, Uint8Array>; main: Font; other: Font }
let fonts: Fonts | undefined

/** Fonts are read once per isolate. */
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
 * The same HTML, page, fonts and time give the same bytes. `madeAt` is the creation time in milliseconds.
 * `bindery-header` and `bindery-footer` are in the margins of every page, which grow if they need more. Throws a
 * ConversionError past a limit, and for images that cannot be read.
 */
export async function renderPdf(...given: Parameters<typeof pdfOf>): Promise<RenderedPdf> {
  try {
    return await pdfOf(...given)
  } catch (problem) {
    if (problem instanceof ConversionError) throw problem
    // The result depends only on the HTML, so a retry would fail in the same way.
    const reason = problem instanceof Error ? problem.message : problem
    throw new ConversionError(`It could not be laid out: ${reason}`)
  }
}

async function pdfOf(
  html: string,
  page: Page,
  files: FontFiles,
  ownFiles: OwnFontFiles,
  madeAt: number,
): Promise<RenderedPdf> {
  const known = readFonts(files)
  const budget = new ConversionBudget()
  const read = readHtml(html, budget)
  const sheet = readSheets(read.sheets, budget)
  const boxes = marginBoxes(sheet.page)
  const marginOf = (box: string | undefined) => (box === undefined ? undefined : readHtml(box, budget))
  const document = {
    ...read,
    header: read.header ?? marginOf(boxes.header)?.header,
    footer: read.footer ?? marginOf(boxes.footer)?.footer,
  }
  const own = ownFonts(sheet.faces, ownFiles)
  const engine = new Engine(new Map([...own.files, ...known.files]), budget, own.faces)
  const missing = new Set<string>()
  const { width: across, height: down, margins } = paperOf(page, sheet.page)
  let ids = 0
  const flow: Flow = {
    sheet,
    budget,
    images: new Images(budget),
    fonts: { main: known.main, other: known.other, own: own.fonts, missing },
    width: across - margins.left - margins.right,
    height: down - margins.top - margins.bottom,
    nextId: () => {
      ids += 1
      return `block${ids}`
    },
  }
  const elements = sizeOf(document.body)
  const root = styleOf(document.body.parent!, ROOT_STYLE, flow.sheet, budget)
  const bodyStyle = { ...styleOf(document.body, root, flow.sheet, budget), background: undefined }
  let marginElements = 0
  for (const part of [document.header, document.footer]) {
    const size = part ? sizeOf(part) : 0
    budget.check('marginElements', size)
    marginElements += size
  }
  const marginContent = (element: HtmlElement, pageNumber: number, pages: number): Block[] => {
    const own = { ...flow, budget: new ConversionBudget(), page: pageNumber, pages }
    const style = styleOf(element, bodyStyle, flow.sheet, own.budget)
    return flowOf(element, { ...style, margin: [0, 0, 0, 0] }, own)
  }
  const title = document.title || undefined
  const info = { title, creator: 'Bindery', producer: 'Bindery', creationDate: new Date(madeAt) }
  const define = (content: Block[], more: Partial<ContentDefinition>): ContentDefinition => ({
    pageSize: { width: across, height: down },
    pageMargins: [margins.left, margins.top, margins.right, margins.bottom],
    defaultStyle: { font: MAIN_FONT, fontSize: ROOT_SIZE },
    images: flow.images.dictionary,
    version: '1.7',
    info,
    content,
    ...more,
  })
  const heightOf = async (element: HtmlElement, isWhole: boolean): Promise<number> => {
    const content = marginContent(element, 888, 888)
    const pageSize = { width: flow.width, height: 'auto' as const }
    const measured = define(content, { pageSize, pageMargins: [0, 0, 0, 0] })
    return content.length === 0 ? 0 : await engine.heightOf(measured, isWhole)
  }
  const measure = async (element: HtmlElement | undefined): Promise<{ height: number; room: number }> => {
    const height = element ? await heightOf(element, false) : 0
    if (!element || height === 0) return { height: 0, room: 0 }
    // A row of a table without room for the last margin of its cells goes to another page, which nobody sees.
    const below = (await heightOf(element, true)) - height + HAIR
    return { height, room: height + 2 * Math.max(GAP, below) }
  }
  const header = await measure(document.header)
  const footer = await measure(document.footer)
  const top = Math.max(margins.top, header.room)
  const bottom = Math.max(margins.bottom, footer.room)
  if (top + bottom > down - 100)
    throw new ConversionError('Header, footer and margins leave no room for the text; make them smaller.')
  const inMargin = (element: HtmlElement | undefined, room: number, height: number) =>
    element &&
    ((pageNumber: number, pages: number): Block => ({
      stack: marginContent(element, pageNumber, pages),
      margin: [margins.left, (room - height) / 2, margins.right, 0] as Margin,
    }))
  const id = createHash('sha256').update(JSON.stringify(page)).update(html).digest().subarray(0, 16)
  const make = async (pages: number | undefined): Promise<{ bytes: Uint8Array; pages: number }> => {
    let counted = 0
    const above = inMargin(document.header, top, header.height)
    const below = inMargin(document.footer, bottom, footer.height)
    const content = flowOf(document.body, bodyStyle, { ...flow, budget: new ConversionBudget(), pages })
    const definition = define(content.length > 0 ? content : [{ text: [], lineHeight: 1 }], {
      pageMargins: [margins.left, top, margins.right, bottom],
      header: (pageNumber, all) => {
        budget.check('marginElementsOnAllPages', all * marginElements)
        counted = all
        return above ? above(pageNumber, all) : { stack: [] }
      },
      footer: below,
      ...(elements <= MOST_KEPT_WITH_NEXT && {
        pageBreakBefore: (node, queries) =>
          budget.used('steps') < MOST_STEPS_KEPT_WITH_NEXT && isLonelyHeading(node, queries),
      }),
    })
    // Measuring headers and footers collects their images, so use the dictionary only now.
    const bytes = await engine.bytesOf({ ...definition, images: flow.images.dictionary }, id)
    return { bytes, pages: counted }
  }
  const first = await make(undefined)
  // Text with the number of pages is laid out again once that is known.
  const { bytes } = has(document.body, PAGE_COUNT_TAG) ? await make(first.pages) : first
  return { bytes, missing: [...missing].join(''), work: budget.work }
}

/** Moves a heading with nothing after it to the next page. Longer documents skip this: it lays them out again. */
const MOST_KEPT_WITH_NEXT = 3_000

/** Documents with many such headings skip it too, if laying them out again takes half of all steps. */
const MOST_STEPS_KEPT_WITH_NEXT = CONVERSION_LIMITS.steps / 2

const isLonelyHeading: NonNullable<ContentDefinition['pageBreakBefore']> = (
  { headlineLevel },
  { getFollowingNodesOnPage },
) => headlineLevel !== undefined && getFollowingNodesOnPage().length === 0

const sizeOf = (element: HtmlElement): number =>
  element.children.reduce((sum, child) => sum + (typeof child === 'string' ? 0 : sizeOf(child)), 1)

const has = (element: HtmlElement, tag: string): boolean =>
  element.children.some(child => typeof child !== 'string' && (child.tag === tag || has(child, tag)))
