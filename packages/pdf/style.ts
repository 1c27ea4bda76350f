// The computed style of an element: the defaults of its tag, then attributes and style sheets, then the inherited style.
import { USUAL_ROOM } from './calc.ts'
import type { Declarations } from './declarations.ts'
import { type FlexRow, flexRowIn, type Growth, growthIn } from './flex.ts'
import { type Area, areaIn, type Grid, gridIn } from './grid.ts'
import type { HtmlElement } from './html.ts'
import type { ConversionBudget } from './limits.ts'
import { type Position, positionIn } from './positions.ts'
import { declarationsFor, familyName, type Sheet } from './sheet.ts'
import { type Display, defaultPadding, displayOf, tagDeclarations } from './tags.ts'
import { colourOf, type Length, lengthOf, partOf, percentageOf, pointsIn, ROOT_SIZE } from './values.ts'

const SIDES = ['left', 'top', 'right', 'bottom'] as const
type Side = (typeof SIDES)[number]
/** In the order of `SIDES`, in points. */
type Sides = readonly [number, number, number, number]
export type Border = {
  readonly width: number
  readonly colour: string
  /** Undefined for a solid line. */
  readonly line: 'dashed' | 'dotted' | 'double' | undefined
}

/** Inherited from the parent element. */
type Inherited = {
  readonly fontSize: number
  readonly bold: boolean
  readonly italic: boolean
  readonly colour: string
  /** `start` is the side where lines of that direction begin. */
  readonly align: 'start' | 'end' | 'left' | 'center' | 'right' | 'justify'
  /** Undefined for `dir="auto"`, where the first letter decides. */
  readonly direction: 'ltr' | 'rtl' | undefined
  readonly families: readonly string[]
  /** A multiple of the font size. */
  readonly lineHeight: number
  readonly whiteSpace: 'normal' | 'pre' | 'nowrap' | 'pre-line'
  readonly transform: 'none' | 'uppercase' | 'lowercase' | 'capitalize'
  readonly letterSpacing: number
  /** Of the first line of a block, in points. Negative for a line that begins further out. */
  readonly textIndent: number
  readonly listType: string
  readonly underline: boolean
  readonly lineThrough: boolean
  /** A background behind the text only, as by a highlighter. */
  readonly highlight: string | undefined
  readonly script: 'sub' | 'super' | undefined
  readonly link: string | undefined
  readonly verticalAlign: 'top' | 'middle' | 'bottom'
  /** Where the caption of a table is. */
  readonly captionSide: 'top' | 'bottom'
  /** From 0 to 1, of everything around it together. */
  readonly opacity: number
  /** Whether padding and borders are part of a given size. Only `inherit` takes it from the parent element. */
  readonly isBorderBox: boolean
}

export type Style = Inherited & {
  readonly display: Display
  readonly position: Position | undefined
  /** The name of its `@page` rules. */
  readonly page: string | undefined
  readonly margin: Sides
  /** `margin-left: auto`, `margin-right: auto`. */
  readonly autoLeft: boolean
  readonly autoRight: boolean
  readonly padding: Sides
  readonly borders: readonly [Border?, Border?, Border?, Border?]
  readonly background: string | undefined
  /** From border to border; of cells and their columns without padding and borders, unless it is in per cent. */
  readonly width: Length | undefined
  /** Without padding and borders. */
  readonly height: number | undefined
  /** Only for images. `mostHeight` is in points. */
  readonly mostWidth: Length | undefined
  readonly mostHeight: number | undefined
  readonly breakBefore: boolean
  readonly breakAfter: boolean
  readonly keepTogether: boolean
  readonly keepWithNext: boolean
  readonly float: 'left' | 'right' | undefined
  /** Whether the element begins below the preceding floats. */
  readonly clears: boolean
  /** Set if its children are placed side by side. */
  readonly row: FlexRow | undefined
  /** Set if its children are placed in a grid. */
  readonly grid: Grid | undefined
  /** Undefined for an item of a flex row that does not grow. */
  readonly growth: Growth | undefined
  readonly area: Area
}

export const ROOT_STYLE: Inherited = {
  fontSize: ROOT_SIZE,
  bold: false,
  italic: false,
  colour: '#000000',
  align: 'start',
  direction: 'ltr',
  families: [],
  lineHeight: 1.2,
  whiteSpace: 'normal',
  transform: 'none',
  letterSpacing: 0,
  textIndent: 0,
  listType: 'disc',
  underline: false,
  lineThrough: false,
  highlight: undefined,
  script: undefined,
  link: undefined,
  verticalAlign: 'top',
  captionSide: 'top',
  opacity: 1,
  isBorderBox: false,
}

const SIZE_WORDS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'xx-small': 7,
    'x-small': 7.5,
    small: 10,
    medium: 12,
    large: 13.5,
    'x-large': 18,
    'xx-large': 24,
  }),
)

/** `parent` is the style of the parent element, and `room` the width in points to which percentages of margins and padding refer. */
export function styleOf(
  element: HtmlElement,
  parent: Inherited,
  sheet: Sheet,
  budget: ConversionBudget,
  room?: number,
): Style {
  const { tag } = element
  const declarations = new Map<string, string>([
    ...tagDeclarations(element),
    ...declarationsFor(element, sheet, budget),
  ])
  const fontSize = fontSizeOf(declarations.get('font-size'), parent.fontSize)
  const colour = colourOf(declarations.get('color') ?? '') ?? parent.colour
  const display = displayIn(declarations, displayOf(tag))
  const isBlock = display !== 'inline'
  const background = colourOf(declarations.get('background-color') ?? '')
  const decoration = declarations.get('text-decoration')?.toLowerCase() ?? ''
  const vertical = declarations.get('vertical-align')?.toLowerCase()
  const padding = sides(side =>
    Math.max(0, edgeIn(declarations, `padding-${side}`, fontSize, room) ?? defaultPadding(tag)),
  )
  const borders: Style['borders'] = isBlock
    ? sides(side => borderOf(side, declarations, fontSize, colour))
    : []
  const isBorderBox = isBorderBoxIn(declarations, parent)
  const sized: Sized = { tag, display, padding, borders, isBorderBox }
  const width = usedWidth(askedWidth(sized, declarations, fontSize), sized)
  return {
    fontSize,
    colour,
    bold: weightOf(declarations.get('font-weight'), parent.bold),
    italic: /italic|oblique/i.test(declarations.get('font-style') ?? (parent.italic ? 'italic' : '')),
    align:
      oneOf(declarations.get('text-align'), ['start', 'end', 'left', 'center', 'right', 'justify']) ??
      parent.align,
    direction: directionOf(declarations.get('direction') ?? element.attributes.dir, parent.direction),
    families: familiesOf(declarations.get('font-family')) ?? parent.families,
    lineHeight: lineHeightOf(declarations.get('line-height'), fontSize) ?? parent.lineHeight,
    whiteSpace: whiteSpaceOf(declarations.get('white-space')) ?? parent.whiteSpace,
    transform:
      oneOf(declarations.get('text-transform'), ['none', 'uppercase', 'lowercase', 'capitalize']) ??
      parent.transform,
    letterSpacing: lengthIn(declarations, 'letter-spacing', fontSize) ?? parent.letterSpacing,
    textIndent: indentIn(declarations, fontSize) ?? parent.textIndent,
    listType: declarations.get('list-style-type')?.toLowerCase() ?? parent.listType,
    underline: decoration.includes('underline') || (decoration !== 'none' && parent.underline),
    lineThrough: decoration.includes('line-through') || (decoration !== 'none' && parent.lineThrough),
    highlight: isBlock ? undefined : (background ?? parent.highlight),
    script: oneOf(vertical, ['sub', 'super']) ?? (isBlock ? undefined : parent.script),
    link: tag === 'a' ? linkOf(element.attributes.href) : parent.link,
    verticalAlign: oneOf(vertical, ['top', 'middle', 'bottom']) ?? parent.verticalAlign,
    captionSide: oneOf(declarations.get('caption-side'), ['top', 'bottom']) ?? parent.captionSide,
    opacity: parent.opacity * opacityOf(declarations.get('opacity')),
    display,
    position: positionIn(declarations, fontSize),
    page: declarations.get('page'),
    margin: sides(side =>
      isBlock || tag === 'img' || tag === 'svg'
        ? (edgeIn(declarations, `margin-${side}`, fontSize, room) ?? 0)
        : inlineMargin(declarations, side, fontSize),
    ),
    autoLeft: declarations.get('margin-left') === 'auto',
    autoRight: declarations.get('margin-right') === 'auto',
    isBorderBox,
    padding,
    borders,
    background: isBlock ? background : undefined,
    width,
    mostWidth: widthOf(declarations.get('max-width'), fontSize),
    mostHeight: lengthIn(declarations, 'max-height', fontSize),
    height: usedHeight(heightIn(declarations, fontSize), sized),
    breakBefore: isForced(declarations.get('page-break-before')),
    breakAfter: isForced(declarations.get('page-break-after')),
    keepTogether: isAvoided(declarations.get('page-break-inside')),
    keepWithNext: isAvoided(declarations.get('page-break-after')),
    float: oneOf(declarations.get('float'), ['left', 'right']),
    clears: /^(?:left|right|both|all)$/i.test(declarations.get('clear') ?? element.attributes.clear ?? ''),
    row: display === 'flex' ? flexRowIn(declarations, fontSize) : undefined,
    grid: display === 'grid' ? gridIn(declarations, fontSize) : undefined,
    growth: growthIn(declarations, width),
    area: areaIn(declarations),
  }
}

const inlineMargin = (declarations: Declarations, side: Side, fontSize: number): number =>
  side === 'left' || side === 'right'
    ? Math.max(0, lengthIn(declarations, `margin-${side}`, fontSize) ?? 0)
    : 0

const opacityOf = (text = '1'): number => {
  const opacity = text.endsWith('%') ? Number.parseFloat(text) / 100 : Number(text)
  return opacity >= 0 && opacity <= 1 ? opacity : 1
}

function heightIn(declarations: Declarations, fontSize: number): number | undefined {
  const given = ['height', 'min-height'].flatMap(property => lengthIn(declarations, property, fontSize) ?? [])
  return given.length === 0 ? undefined : Math.max(...given)
}

/** A margin or padding. Its percentage is undefined without a room. */
function edgeIn(
  declarations: Declarations,
  property: string,
  fontSize: number,
  room: number | undefined,
): number | undefined {
  const length = partOf(declarations.get(property) ?? '', fontSize)
  return length && (length.percent === 0 || room !== undefined) ? pointsIn(length, room ?? 0) : undefined
}

const lengthIn = (declarations: Declarations, property: string, fontSize: number): number | undefined =>
  lengthOf(declarations.get(property) ?? '', fontSize)

/** Larger indents hide text on screens. In points. */
const MOST_INDENT = 200

function indentIn(declarations: Declarations, fontSize: number): number | undefined {
  const indent = lengthIn(declarations, 'text-indent', fontSize)
  return indent !== undefined && Math.abs(indent) <= MOST_INDENT ? indent : undefined
}

const sides = <T>(of: (side: Side) => T): [T, T, T, T] => SIDES.map(of) as [T, T, T, T]

const isAvoided = (text: string | undefined): boolean => /^avoid/i.test(text ?? '')

const isForced = (text: string | undefined): boolean => /^(?:always|page|left|right)$/i.test(text ?? '')

const oneOf = <T extends string>(text: string | undefined, allowed: readonly T[]): T | undefined =>
  allowed.find(one => one === text?.toLowerCase())

function displayIn(declarations: Declarations, otherwise: Display): Display {
  const display = declarations.get('display')?.toLowerCase()
  if (display === 'none' || declarations.get('visibility') === 'hidden') return 'none'
  if (otherwise === 'table' || otherwise === 'none') return otherwise
  if (display === 'block' || display === 'inline' || display === 'list-item') return display
  if (display === 'table' && otherwise === 'inline') return 'block'
  if (display === 'inline-block' || /^inline-(?:flex|grid)$/.test(display ?? '')) return 'inline-block'
  if (display === 'table-cell') return 'cell'
  if (display === 'grid') return 'grid'
  if (display === 'flex') return /^column/i.test(declarations.get('flex-direction') ?? '') ? 'block' : 'flex'
  return otherwise
}

function relativeFontSize(word: string, parent: number): number | undefined {
  if (word === 'smaller') return parent * 0.83
  return word === 'larger' ? parent * 1.2 : undefined
}

function fontSizeOf(text: string | undefined, parent: number): number {
  if (text === undefined) return parent
  const word = text.trim().toLowerCase()
  const percent = percentageOf(word)
  const size =
    SIZE_WORDS.get(word) ??
    relativeFontSize(word, parent) ??
    (percent === undefined ? lengthOf(word, parent) : (parent * percent) / 100)
  return size === undefined || size <= 0 ? parent : Math.min(size, 300)
}

function directionOf(text: string | undefined, parent: Style['direction']): Style['direction'] {
  const asked = text?.toLowerCase()
  if (asked === 'auto') return undefined
  return asked === 'ltr' || asked === 'rtl' ? asked : parent
}

const familiesOf = (text: string | undefined): string[] | undefined =>
  text === undefined || text === 'inherit' ? undefined : text.split(',').map(familyName)

const weightOf = (text: string | undefined, parent: boolean): boolean => {
  if (text === undefined || text === 'inherit') return parent
  return /^bold/i.test(text) || Number(text) >= 600
}

function lineHeightOf(text: string | undefined, fontSize: number): number | undefined {
  if (text === undefined) return undefined
  if (text === 'normal') return ROOT_STYLE.lineHeight
  const factor = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : undefined
  const percent = percentageOf(text)
  const points = lengthOf(text, fontSize)
  const height = factor ?? (percent === undefined ? points && points / fontSize : percent / 100)
  return height === undefined ? undefined : Math.max(0.5, Math.min(height, 10))
}

const whiteSpaceOf = (text: string | undefined): Style['whiteSpace'] | undefined =>
  text === 'pre-wrap' ? 'pre' : oneOf(text, ['normal', 'pre', 'nowrap', 'pre-line'])

/** Only schemes that lead out of the document. No other scheme is written into a file. */
const linkOf = (href: string | undefined): string | undefined =>
  /^(?:https?:|mailto:|tel:)/i.test(href ?? '') ? href : undefined

function widthOf(text: string | undefined, fontSize: number): Length | undefined {
  const length = text === undefined ? undefined : partOf(text, fontSize)
  if (!length || (length.percent <= 0 && length.points <= 0)) return undefined
  return { ...length, percent: Math.max(0, Math.min(length.percent, 100)) }
}

/** A block fills its room up to `max-width`, and an inline block with only `min-width` rarely has more content than that. */
function askedWidth(
  { tag, display }: Sized,
  declarations: Declarations,
  fontSize: number,
): Length | undefined {
  const of = (property: string): Length | undefined => widthOf(declarations.get(property), fontSize)
  const width = of('flex-basis') ?? of('width') ?? (display === 'inline-block' ? of('min-width') : undefined)
  const most = tag === 'img' || tag === 'svg' ? undefined : of('max-width')
  if (!width || !most) return width ?? most
  return pointsIn(width, USUAL_ROOM)! <= pointsIn(most, USUAL_ROOM)! ? width : most
}

type Sized = Pick<Style, 'display' | 'padding' | 'borders' | 'isBorderBox'> & { readonly tag: string }

function isBorderBoxIn(declarations: Declarations, parent: Inherited): boolean {
  const asked = declarations.get('box-sizing')?.toLowerCase()
  return asked === 'inherit' ? parent.isBorderBox : asked === 'border-box'
}

const CELLS = new Set(['td', 'th'])
/** Their sizes are from border to border, or they have neither padding nor borders here. */
const OUTER_SIZES = new Set(['img', 'svg', 'hr', 'col', 'colgroup', 'tr'])

/** Returns the width as `Style` has it. */
function usedWidth(width: Length | undefined, sized: Sized): Length | undefined {
  const { tag, display, isBorderBox } = sized
  if (!width || display === 'table' || OUTER_SIZES.has(tag)) return width
  if (!CELLS.has(tag))
    return isBorderBox ? width : { ...width, points: width.points + edgesOf(sized, 'across') }
  if (!isBorderBox || width.percent > 0) return width
  // Half of a collapsed border belongs to the next cell.
  const edges = (edgesOf(sized, 'across') + edgesOf({ ...sized, borders: [] }, 'across')) / 2
  return { ...width, points: Math.max(1, width.points - edges) }
}

const usedHeight = (height: number | undefined, sized: Sized): number | undefined =>
  height !== undefined && sized.isBorderBox && !OUTER_SIZES.has(sized.tag)
    ? Math.max(0, height - edgesOf(sized, 'down'))
    : height

/** Returns the extent of padding and borders in points. */
export function edgesOf(
  { padding, borders }: Pick<Style, 'padding' | 'borders'>,
  axis: 'across' | 'down',
): number {
  const [start, end] = axis === 'across' ? ([0, 2] as const) : ([1, 3] as const)
  return padding[start] + padding[end] + (borders[start]?.width ?? 0) + (borders[end]?.width ?? 0)
}

const BORDER_WORDS: Readonly<Record<string, number>> = { thin: 0.75, medium: 2.25, thick: 3.75 }

function borderOf(
  side: Side,
  declarations: Declarations,
  fontSize: number,
  colour: string,
): Border | undefined {
  const style = declarations.get(`border-${side}-style`) ?? 'none'
  if (/^(?:none|hidden)$/.test(style)) return undefined
  const text = declarations.get(`border-${side}-width`) ?? 'medium'
  const width = BORDER_WORDS[text.toLowerCase()] ?? lengthOf(text, fontSize) ?? BORDER_WORDS.medium!
  if (width <= 0) return undefined
  return {
    width: Math.min(width, 40),
    colour: colourOf(declarations.get(`border-${side}-color`) ?? '') ?? colour,
    line: oneOf(style, ['dashed', 'dotted', 'double']),
  }
}
