// The `@page` rules of style sheets: size, margins and margin boxes such as `@top-right`, with page numbers. The boxes become
// the header and footer of a document that has none.
import { FOOTER_TAG, HEADER_TAG, PAGE_COUNT_TAG, PAGE_NUMBER_TAG } from './html.ts'
import { type Margins, PAGE_SIZES, type PageRule, type PageSize } from './page.ts'
import { lengthOf, ROOT_SIZE } from './values.ts'

const PLACES = ['left', 'center', 'right'] as const
type Place = (typeof PLACES)[number]

type Box = { readonly html: string; readonly style: string }
type Boxes = Partial<Record<Place, Box>>

export type PageRules = PageRule & { readonly top: Boxes; readonly bottom: Boxes }

export const NO_PAGE_RULES: PageRules = { margins: {}, top: {}, bottom: {} }

type Declarations = ReadonlyMap<string, string>

/** In points. Pages with sides outside of this range are ignored. */
const [SHORTEST_SIDE, LONGEST_SIDE] = [72, 3_000]

/** Adds another `@page` to the rules. `boxes` are its margin boxes by name. */
export function withPageRule(
  rules: PageRules,
  declarations: Declarations,
  boxes: readonly (readonly [name: string, declarations: Declarations])[],
): PageRules {
  const margins: { -readonly [Side in keyof Margins]?: number } = { ...rules.margins }
  for (const side of ['top', 'right', 'bottom', 'left'] as const) {
    const margin = lengthOf(declarations.get(`margin-${side}`) ?? '', ROOT_SIZE)
    if (margin !== undefined && margin >= 0) margins[side] = margin
  }
  const made = { ...rules, ...sizeOf(declarations.get('size') ?? ''), margins }
  for (const [name, own] of boxes) {
    const [, edge, place] = /^@(top|bottom)-(left|center|right)$/i.exec(name.toLowerCase()) ?? []
    const html = contentOf(own.get('content') ?? '')
    if (edge === 'top' || edge === 'bottom')
      made[edge] = { ...made[edge], [place as Place]: { html, style: styleOf(own) } }
  }
  return made
}

/** Adds the rules of a page with a name to those of all pages. Margin boxes are the same on all pages. */
export const mergedRules = (rules: PageRules, named: PageRules): PageRules => ({
  ...rules,
  ...(named.size && { size: named.size, orientation: undefined }),
  ...(named.orientation && { orientation: named.orientation }),
  margins: { ...rules.margins, ...named.margins },
})

/** Reads `letter`, `A4 landscape`, `210mm 297mm`, `landscape`. */
function sizeOf(text: string): Pick<PageRule, 'size' | 'orientation'> {
  const words = text.toLowerCase().split(/\s+/)
  const named = Object.keys(PAGE_SIZES).find(name => words.includes(name.toLowerCase()))
  const lengths = words.flatMap(word => lengthOf(word, ROOT_SIZE) ?? [])
  const [width, height = width] = lengths
  const isPage = (side: number | undefined): side is number =>
    side !== undefined && side >= SHORTEST_SIDE && side <= LONGEST_SIDE
  const orientation = words.find(word => word === 'portrait' || word === 'landscape')
  return {
    ...(named !== undefined && { size: PAGE_SIZES[named as PageSize] }),
    ...(named === undefined && isPage(width) && isPage(height) && { size: [width, height] as const }),
    ...(orientation !== undefined && { orientation: orientation as 'portrait' | 'landscape' }),
  }
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>]/g, sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]!)

/** An escaped sign outside of quotes begins no quoted text: otherwise each of many would be searched to the end. */
const CONTENT = /\\.|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|counter\(\s*(page|pages)\s*(?:,[^)]*)?\)/gi

/** Converts `"Page " counter(page) " of " counter(pages)` to HTML. */
const contentOf = (text: string): string =>
  [...text.matchAll(CONTENT)]
    .map(([, double, single, counter]) => {
      const words = (double ?? single ?? '').replace(/\\a\s?/gi, '\n').replace(/\\(.)/g, '$1')
      if (counter === undefined) return escapeHtml(words).replaceAll('\n', '<br>')
      const tag = counter.toLowerCase() === 'page' ? PAGE_NUMBER_TAG : PAGE_COUNT_TAG
      return `<${tag}></${tag}>`
    })
    .join('')

const TEXT_STYLES = 'color font-family font-size font-style font-weight line-height text-align'.split(' ')

const styleOf = (declarations: Declarations): string =>
  TEXT_STYLES.flatMap(name => {
    const value = declarations.get(name)?.replace(/["<>;&]/g, '')
    return value === undefined ? [] : [`${name}: ${value};`]
  }).join(' ')

/** Returns header and footer as HTML, each undefined without boxes. */
export function marginBoxes({ top, bottom }: PageRules): { header?: string; footer?: string } {
  const made = (tag: string, boxes: Boxes): string | undefined => {
    if (!PLACES.some(place => boxes[place]?.html)) return undefined
    const cells = PLACES.map(place => {
      const { html = '', style = '' } = boxes[place] ?? {}
      return `<td style="border: none; padding: 0; width: 33%; text-align: ${place}; ${style}">${html}</td>`
    })
    return `<${tag}><table style="width: 100%; border: none; margin: 0"><tr>${cells.join('')}</tr></table></${tag}>`
  }
  return { header: made(HEADER_TAG, top), footer: made(FOOTER_TAG, bottom) }
}
