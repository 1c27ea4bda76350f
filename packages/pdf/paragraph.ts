import { splitByDirection } from './bidi.ts'
import type { Block, Placed, Run } from './engine.ts'
import { byFont, type DocumentFonts, MAIN_FONT, MAIN_FONT_EXTENT } from './fonts.ts'
import type { HtmlElement } from './html.ts'
import type { Images } from './images.ts'
import type { ConversionBudget } from './limits.ts'
import type { Sheet } from './sheet.ts'
import type { Style } from './style.ts'

/** Collects the content that is placed in relation to an element. */
export type Containing = {
  readonly placed: Placed[]
  /** In points, as far as it is known before the layout. */
  readonly width: number
  readonly height: number | undefined
}

/** Collects the content that is placed on the first page and on every page. */
export type ContainingPages = Containing & {
  readonly fixed: { readonly element: HtmlElement; readonly own: Style }[]
}

export type Flow = {
  readonly sheet: Sheet
  readonly budget: ConversionBudget
  readonly images: Images
  readonly fonts: DocumentFonts
  /** The width between the margins of the page, in points. */
  readonly width: number
  /** The height between the margins of the page, in points, if no header or footer needs more room. */
  readonly height: number
  /** The current page, only in headers and footers. Elsewhere the id of a block gives its page. */
  readonly page?: number
  readonly pages?: number
  /** Whether the content cannot continue on another page: in headers, in footers, and outside of the flow. */
  readonly isWhole?: boolean
  /** The nearest element around it with a `position`. */
  readonly containing?: Containing | undefined
  /** Undefined in headers and footers. */
  readonly onPages?: ContainingPages
  /** Elements that have a place and stay in the text, because they are higher than the page. */
  readonly tooHigh: Set<HtmlElement>
  /** Creates ids for blocks that print their page. */
  readonly nextId: () => string
}

type Paragraph = { runs: Run[]; id: string | undefined; endsBlank: boolean; hasText: boolean }

/** Returns an empty paragraph. `endsBlank` is set, so that `addText` drops blanks at its start. */
export const newParagraph = (): Paragraph => ({ runs: [], id: undefined, endsBlank: true, hasText: false })

/** Collapses blanks as browsers do: a run of blanks becomes one, and none remain at the start of a line. */
export function addText(paragraph: Paragraph, text: string, style: Style, flow: Flow): void {
  if (style.whiteSpace === 'pre') {
    addRun(paragraph, text.replace(/\t/g, '    ').replace(/\r/g, ''), style, flow)
    return
  }
  const kept =
    style.whiteSpace === 'pre-line' ? text.replace(/[ \t\r]+/g, ' ') : text.replace(/[ \t\r\n\f]+/g, ' ')
  addRun(paragraph, paragraph.endsBlank ? kept.replace(/^ +/, '') : kept, style, flow)
}

/** Control characters and soft hyphens, which no font has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
const UNPRINTABLE = /[\u0000-\u0009\u000b-\u001f\u007f\u00ad\u200b\ufeff]/g

/**
 * Adds text without collapsing its blanks, in a run for each font and each part of a long word. Removes control characters and soft
 * hyphens.
 */
export function addRun(paragraph: Paragraph, given: string, style: Style, flow: Flow): void {
  const text = transformText(given.replace(UNPRINTABLE, ''), style.transform)
  if (text === '') return
  paragraph.endsBlank = /[ \n]$/.test(text) && style.whiteSpace !== 'pre'
  paragraph.hasText ||= /[^ ]/.test(text)
  const family = style.families.map(one => flow.fonts.own.get(one)).find(one => one !== undefined)
  for (const piece of byFont(text, flow.fonts, family))
    for (const part of splitLongWords(piece.text))
      paragraph.runs.push({
        text: part,
        ...runStyle(style),
        // The engine would keep a line break on the line.
        ...(part === '\n' && { noWrap: false }),
        ...(piece.font !== MAIN_FONT && { font: piece.font }),
        ...(piece.font !== MAIN_FONT && piece.font !== family?.name && { extent: strutOf(style) }),
      })
}

/** Splits very long words and runs of blanks, because the engine measures their whole remainder for each line. */
const splitLongWords = (text: string): string[] =>
  /[^ \n]{400}| {400}/.test(text) ? text.match(/[^ \n]{1,200}[ \n]{0,200}|[ \n]{1,200}/gu)! : [text]

/** Adds characters that control the direction of the text after them. */
export function addControl(paragraph: Paragraph, text: string | undefined): void {
  if (text !== undefined) paragraph.runs.push({ text, isControl: true })
}

/** Adds the margin and padding of an element within a line. The padding has its background. */
export function addGap(paragraph: Paragraph, style: Style, side: 'before' | 'after'): void {
  const isFromTheRight = style.direction === 'rtl'
  const at = (side === 'before') === isFromTheRight ? 2 : 0
  const margin = { gap: style.margin[at], background: undefined }
  const padding = { gap: style.padding[at], background: style.highlight }
  for (const { gap, background } of side === 'before' ? [margin, padding] : [padding, margin])
    if (gap > 0)
      paragraph.runs.push({
        text: '',
        fontSize: style.fontSize,
        line: style.fontSize * style.lineHeight,
        gap,
        ...(background !== undefined && { background }),
        ...(side === 'before' && { noNewLine: true }),
      })
}

/**
 * Adds the number of the current page. Outside of headers and footers that is known only after the layout, so it adds a reference
 * to the page of the paragraph.
 */
export function addPageNumber(paragraph: Paragraph, style: Style, flow: Flow): void {
  if (flow.page !== undefined) {
    addRun(paragraph, String(flow.page), style, flow)
    return
  }
  paragraph.id ??= flow.nextId()
  paragraph.runs.push({ text: '', ...runStyle(style), pageReference: paragraph.id })
  paragraph.endsBlank = false
  paragraph.hasText = true
}

function transformText(text: string, transform: Style['transform']): string {
  if (transform === 'uppercase') return text.toUpperCase()
  if (transform === 'lowercase') return text.toLowerCase()
  return transform === 'capitalize'
    ? text.replace(/(^|\s)(\p{L})/gu, (_, before, letter) => before + letter.toUpperCase())
    : text
}

function runStyle(style: Style): Omit<Run, 'text'> {
  const decoration = (['underline', 'lineThrough'] as const).filter(line => style[line])
  return {
    fontSize: style.fontSize,
    line: style.fontSize * style.lineHeight,
    color: style.colour,
    ...(style.bold && { bold: true }),
    ...(style.italic && { italics: true }),
    ...(style.highlight !== undefined && { background: style.highlight }),
    ...(decoration.length > 0 && { decoration, decorationThickness: Math.max(0.75, style.fontSize / 10) }),
    ...(style.script === 'super' && { sup: true as const }),
    ...(style.script === 'sub' && { sub: true as const }),
    ...(style.letterSpacing !== 0 && { characterSpacing: style.letterSpacing }),
    ...(style.link !== undefined && { link: style.link }),
    ...(style.whiteSpace === 'nowrap' && { noWrap: true }),
    ...(style.opacity < 1 && { opacity: style.opacity }),
  }
}

/** `isFirst` for the first paragraph of a block, which has its indent. */
export function paragraphBlock(
  { runs, id, hasText }: Paragraph,
  style: Style,
  isFirst: boolean,
): Block | undefined {
  if (!hasText) return undefined
  const strut = strutOf(style)
  for (const run of runs) if (run.fontSize !== style.fontSize || run.font !== undefined) run.strut = strut
  const last = runs.findLast(({ isControl }) => !isControl)!
  // A line break at the end of a block has no effect.
  if (style.whiteSpace !== 'pre') last.text = withoutBlanksAtEnd(last.text).replace(/\n$/, '')
  const { runs: text, fromTheRight } = splitByDirection(runs, style.direction)
  if (isFirst && style.textIndent !== 0) text[0]!.indent = style.textIndent
  return {
    text,
    alignment: alignmentOf(style, fromTheRight),
    ...(style.whiteSpace === 'pre' && { preserveLeadingSpaces: true, preserveTrailingSpaces: true }),
    ...(id !== undefined && { id }),
  }
}

/** A pattern would search each blank of a long run to its end. */
function withoutBlanksAtEnd(text: string): string {
  let end = text.length
  while (text[end - 1] === ' ') end -= 1
  return text.slice(0, end)
}

/** Returns `left`, `right`, `center` or `justify`. `start` and `end` depend on the direction of the text. */
export const alignmentOf = ({ align }: Style, fromTheRight: boolean): string => {
  if (align === 'start') return fromTheRight ? 'right' : 'left'
  if (align === 'end') return fromTheRight ? 'left' : 'right'
  return align
}

/** Returns the minimum extent of a line: that of the block's own text, no matter how small the line's contents are. */
export function strutOf({ fontSize, lineHeight }: Style): { above: number; below: number } {
  const { above, below } = MAIN_FONT_EXTENT
  const half = (fontSize * (lineHeight - above - below)) / 2
  return { above: fontSize * above + half, below: fontSize * below + half }
}

/** In points, of what stays on one page. */
export const MOST_HEIGHT = 700
/** The room on a page that borders, padding and a preceding line need in addition to content of the maximum height. */
const BESIDE = 40

/** The engine drops content that is higher than its page. */
export const mostHeight = ({ height }: Pick<Flow, 'height'>): number =>
  Math.min(MOST_HEIGHT, Math.max(BESIDE, height - BESIDE))
