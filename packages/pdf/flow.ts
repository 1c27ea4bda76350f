// Converts blocks to content of the layout engine. Blocks follow one another with collapsed margins, and boxes become tables of
// one cell.
import { bordered, endsBetween, isBox, lineStyle, sides } from './borders.ts'
import { rowOf } from './columns.ts'
import { blocksIn } from './content.ts'
import type { Block, Cell, Margin, Placed } from './engine.ts'
import type { HtmlElement, HtmlNode } from './html.ts'
import { type Containing, type Flow, MOST_HEIGHT } from './paragraph.ts'
import { edgesOf, type Style, styleOf } from './style.ts'
import { tableBlock } from './table.ts'
import { type Length, pointsIn } from './values.ts'

/** Returns the content of an element, with collapsed margins between blocks. */
export const flowOf = (element: HtmlElement, style: Style, flow: Flow): Block[] =>
  collapseMargins(placing(style, flow, [], within => blocksIn(element.children, style, within)))

/**
 * Converts a block element with its margins; nothing if it shows nothing and breaks no page. In headers and footers its own page
 * breaks are ignored.
 */
export function blockElement(element: HtmlElement, given: Style, flow: Flow): Block[] {
  // A header or footer cannot continue on another page.
  const style = !flow.isWhole ? given : { ...given, breakBefore: false, breakAfter: false }
  if (element.tag === 'hr') {
    const rule = ruleBlock(style)
    return withMargins([style.width ? placeBlock(rule, style) : rule], style)
  }
  const content = sizedContent(element, style, { ...flow, width: innerWidth(style, flow.width) })
  if (content.length === 0)
    return style.breakBefore || style.breakAfter
      ? withMargins([blank()], { ...style, margin: [0, 0, 0, 0] })
      : []
  return withMargins(isKeptWithNext(element, style) ? keepWithNext(content, element) : content, style)
}

const isHeading = ({ tag }: HtmlElement): boolean => /^h[1-6]$/.test(tag)

const isKeptWithNext = (element: HtmlElement, { breakAfter, keepWithNext }: Style): boolean =>
  !breakAfter && (keepWithNext || isHeading(element))

/** The parts of a heading also stay together. */
const keepWithNext = (content: readonly Block[], element: HtmlElement): Block[] =>
  content.map((block, at) =>
    isHeading(element) || at === content.length - 1 ? { ...block, keepsWithNext: true } : block,
  )

/** Returns the content in one piece with the width and height of its style. A table with cells already has these. */
function sizedContent(element: HtmlElement, style: Style, flow: Flow): Block[] {
  const content = contentOf(element, style, flow)
  if (content.length === 0) return style.height === undefined ? [] : [spacer(style.height)]
  const kept = style.keepTogether ? [{ stack: collapseMargins(content), unbreakable: true }] : content
  if (element.tag === 'table') return kept
  if (!style.width) return kept
  return [wrapInBox(collapseMargins(kept), stack => placeBlock({ stack }, style))]
}

const contentOf = (element: HtmlElement, style: Style, flow: Flow): Block[] =>
  placing(style, flow, style.borders, within => boxedContent(element, style, within))

/** Makes the content of an element. If it has a `position`, other content may be placed in relation to it. */
function placing(
  style: Style,
  flow: Flow,
  borders: Style['borders'],
  make: (flow: Flow) => Block[],
): Block[] {
  if (!style.position) return make(flow)
  const { padding, height } = style
  const containing: Containing = {
    placed: [],
    width: flow.width + padding[0] + padding[2],
    height: height && height + padding[1] + padding[3],
  }
  const content = make({ ...flow, containing })
  if (containing.placed.length === 0) return content
  const empty: Block = { ...blank(), ...(height !== undefined && { minHeight: height }) }
  return [withPlaced(content.length === 0 ? [empty] : content, containing.placed, borders)]
}

/** The margins of the content are outside of the block in relation to which the other content is placed. */
export function withPlaced(
  content: Block[],
  placed: readonly Placed[],
  borders: Style['borders'] = [],
): Block {
  const blocks = collapseMargins(content)
  const [top, bottom] = [blocks[0]!.margin![1], blocks.at(-1)!.margin![3]]
  const last = blocks.length - 1
  const isKept = blocks.every(({ keepsWithNext }) => keepsWithNext)
  const within = blocks.map((block, at): Block => {
    const [left, above, right, below] = block.margin!
    return { ...block, margin: [left, at === 0 ? 0 : above, right, at === last ? 0 : below] }
  })
  const widths = sides(side => borders[side]?.width ?? 0)
  return wrapInBox(within, stack => ({
    stack: [{ stack, placed: { content: placed, borders: widths } }],
    margin: [0, top, 0, bottom],
    ...(isKept && { keepsWithNext: true }),
  }))
}

function boxedContent(element: HtmlElement, style: Style, flow: Flow): Block[] {
  if (element.tag === 'table') return tableBlock(element, style, flow)
  if (element.tag === 'ul' || element.tag === 'ol') return boxedList(element, style, flow)
  const content = blocksIn(element.children, style, flow)
  if (isBox(style)) return [wrapInBox(collapseMargins(content), stack => boxBlock(stack, style))]
  if (style.height === undefined || content.length === 0) return content
  return [wrapInBox(collapseMargins(content), stack => highBlock(stack, style.height!))]
}

/** The padding where markers are is part of the list. */
function boxedList(element: HtmlElement, style: Style, flow: Flow): Block[] {
  const [left, top, right, bottom] = style.padding
  const padding: Style['padding'] =
    style.direction === 'rtl' ? [left, top, 0, bottom] : [0, top, right, bottom]
  const around = { ...style, padding }
  const list = listBlock(element, style, flow)
  return isBox(around) && list.length > 0
    ? [wrapInBox(collapseMargins(list), stack => boxBlock(stack, around))]
    : list
}

/** The margin above the content is above the height. */
function highBlock([first, ...others]: Block[], minHeight: number): Block {
  const [left, top, right, bottom] = first!.margin!
  const stack: Block[] = [{ ...first!, margin: [left, 0, right, bottom] }, ...others]
  return { stack: [{ stack, minHeight }], margin: [0, top, 0, 0] }
}

const innerWidth = (style: Style, outer: number): number => {
  const most = outer - style.margin[0] - style.margin[2]
  return Math.max(10, Math.min(pointsIn(style.width, outer) ?? most, most) - edgesOf(style, 'across'))
}

/** Adds left and right margins to every block, and top and bottom margins to the first and last. The larger margin wins. */
function withMargins(content: Block[], style: Style): Block[] {
  const [left, top, right, bottom] = style.margin
  const last = content.length - 1
  // A block can have only one page break.
  const isBetween = style.breakBefore && style.breakAfter && last === 0
  const blocks = content.map((block, at) => {
    const own = block.margin ?? [0, 0, 0, 0]
    return {
      ...block,
      margin: [
        own[0] + left,
        at === 0 ? larger(own[1], top) : own[1],
        own[2] + right,
        at === last ? larger(own[3], bottom) : own[3],
      ] as Margin,
      ...(at === 0 && style.breakBefore && { pageBreak: 'before' as const }),
      ...(at === last && style.breakAfter && { pageBreak: 'after' as const }),
    }
  })
  return isBetween ? [{ ...blank(), pageBreak: 'before' }, ...blocks] : blocks
}

const larger = (a: number, b: number): number => (a < 0 || b < 0 ? a + b : Math.max(a, b))

/**
 * Keeps the larger of two adjoining margins, and only one of two adjoining page breaks. Margins on both sides of a page break do
 * not adjoin.
 */
export function collapseMargins(blocks: Block[]): Block[] {
  let [before, isBroken] = [0, false]
  return blocks.map(block => {
    const [left, top, right, bottom] = block.margin ?? [0, 0, 0, 0]
    const isFirst = block === blocks[0]
    const kept = isFirst || top < 0 || block.pageBreak === 'before' ? top : Math.max(0, top - before)
    const isAgain = isBroken && block.pageBreak === 'before'
    isBroken = block.pageBreak === 'after'
    before = isBroken ? 0 : Math.max(0, bottom)
    return { ...(isAgain ? withoutPageBreak(block) : block), margin: [left, kept, right, bottom] as Margin }
  })
}

const withoutPageBreak = (block: Block): Block => ({ ...block, pageBreak: undefined })

/** Moves a page break at the beginning of a box before the box, and one at its end after the box. */
function wrapInBox(content: readonly Block[], box: (stack: Block[]) => Block): Block {
  const last = content.length - 1
  let outer: number | undefined
  if (content[last]?.pageBreak === 'after') outer = last
  if (content[0]?.pageBreak === 'before') outer = 0
  if (outer === undefined) return box([...content])
  const stack = content.map((block, at) => (at === outer ? withoutPageBreak(block) : block))
  return { ...box(stack), pageBreak: content[outer]!.pageBreak }
}

/** Removes the page breaks at the beginning and end of a whole document, which has a page boundary there anyway. */
export const withoutOuterBreaks = (blocks: readonly Block[]): Block[] =>
  blocks.map((block, at) => {
    const isOuter =
      (at === 0 && block.pageBreak === 'before') || (at === blocks.length - 1 && block.pageBreak === 'after')
    return isOuter ? withoutPageBreak(block) : block
  })

const spacer = (height: number): Block => ({
  text: [],
  lineHeight: 0.01,
  margin: [0, Math.min(height, MOST_HEIGHT), 0, 0],
})

/** Returns a block without content and with almost no height, which carries page breaks and placed content. */
export const blank = (): Block => ({ text: [], lineHeight: 0.01 })

/** Places the block at its width, or as wide as it needs. `auto` margins decide which side of the line remains empty. */
export function placeBlock(block: Block, { width, margin, autoLeft, autoRight }: Style): Block {
  if (width && width.percent >= 100) return block
  const onTheRight = autoRight ? 'center' : 'end'
  return rowOf(
    [{ ...block, width: width ? betweenMargins(width, margin) : 'auto' } as Block],
    autoLeft ? onTheRight : 'start',
  )
}

/** Margins are outside of the line, but the percentage is of the width that includes them. */
const betweenMargins = ({ percent, points }: Length, margin: Style['margin']): Length => ({
  percent,
  points: points + (percent * (margin[0] + margin[2])) / 100,
})

/** Creates a new object for each table, because the engine stores its measurements in it. */
const oneCell = () => ({ widths: ['auto'], fills: true, headerRows: 0, keepWithHeaderRows: 0 })
const none = (): number => 0

/** A table of one cell, which can break across pages, for borders, background and padding. */
function boxBlock(stack: Block[], style: Style): Block {
  const { borders, padding, background } = style
  const [left, top, right, bottom] = borders
  const cell: Cell = {
    stack: [
      {
        stack: stack.length > 0 ? stack : [spacer(0)],
        ...(style.height !== undefined && { minHeight: style.height }),
      },
    ],
    ...bordered(borders),
    ...(background !== undefined && { fillColor: background, fillOpacity: style.opacity }),
  }
  const ends = endsBetween(borders)
  const isKept = stack.length > 0 && stack.every(({ keepsWithNext }) => keepsWithNext)
  return {
    ...(isKept && { keepsWithNext: true }),
    table: { ...oneCell(), dontBreakRows: false, body: [[cell]] },
    layout: {
      hLineWidth: line => (line === 0 ? top : bottom)?.width ?? 0,
      vLineWidth: line => (line === 0 ? left : right)?.width ?? 0,
      hLineStyle: line => lineStyle(line === 0 ? top : bottom, ends.across, line === 0 ? 1 : -1),
      vLineStyle: line => lineStyle(line === 0 ? left : right, ends.down, line === 0 ? 1 : -1),
      paddingLeft: () => padding[0],
      paddingTop: () => padding[1],
      paddingRight: () => padding[2],
      paddingBottom: () => padding[3],
    },
  }
}

function ruleBlock(style: Style): Block {
  const { borders, height = 0.75, background = '#888888' } = style
  const line = borders[1] ?? borders[3] ?? { width: height, colour: background, line: undefined }
  const cell: Cell = {
    stack: [spacer(0)],
    border: [false, true, false, false],
    borderColor: sides(() => line.colour),
  }
  return {
    table: { ...oneCell(), dontBreakRows: true, body: [[cell]] },
    layout: {
      hLineWidth: at => (at === 0 ? line.width : 0),
      vLineWidth: none,
      hLineStyle: () => lineStyle(line),
      paddingLeft: none,
      paddingTop: none,
      paddingRight: none,
      paddingBottom: none,
    },
  }
}

const BULLETS = new Set(['disc', 'circle', 'square', 'none'])
const NUMBERS = new Set(['decimal', 'lower-alpha', 'upper-alpha', 'lower-roman', 'upper-roman', 'none'])
/** The engine's names for the numberings of CSS and of the `type` attribute. */
const NUMBER_NAMES = {
  'decimal-leading-zero': 'decimal',
  'lower-latin': 'lower-alpha',
  'upper-latin': 'upper-alpha',
}
const TYPE_NAMES = { 1: 'decimal', a: 'lower-alpha', A: 'upper-alpha', i: 'lower-roman', I: 'upper-roman' }

const nameIn = (names: Readonly<Record<string, string>>, given: string): string | undefined =>
  Object.hasOwn(names, given) ? names[given] : undefined

function listBlock(element: HtmlElement, style: Style, flow: Flow): Block[] {
  const given = integerOf(element.attributes.start) ?? 1
  const { before, items } = itemsOf(element, style, flow, given)
  if (items.length === 0) return before
  const named = nameIn(TYPE_NAMES, element.attributes.type ?? '') ?? style.listType
  const numbering = nameIn(NUMBER_NAMES, named) ?? named
  const isFromTheRight = style.direction === 'rtl'
  const look = {
    indent: listIndent(style),
    markerColor: style.colour,
    fontSize: style.fontSize,
    ...(isFromTheRight && { fromTheRight: true as const }),
  }
  if (element.tag === 'ul' && (named === 'none' || !NUMBERS.has(numbering)))
    return [...before, { ul: items, type: BULLETS.has(named) ? named : 'disc', ...look }]
  return [
    ...before,
    { ol: items, type: NUMBERS.has(numbering) ? numbering : 'decimal', start: given, ...look },
  ]
}

/** The padding of right-to-left lists is on the right, unless a template gives only that on the left. */
const listIndent = ({ direction, padding }: Style): number =>
  direction === 'rtl' ? Math.max(padding[0], padding[2]) : padding[0]

function integerOf(text: string | undefined): number | undefined {
  const given = Math.trunc(Number(text ?? Number.NaN))
  return Number.isSafeInteger(given) ? given : undefined
}

type Items = { before: Block[]; items: Block[] }

/** Content outside of the items has no marker. It follows the item before it. */
function itemsOf(element: HtmlElement, style: Style, flow: Flow, start: number): Items {
  const before: Block[] = []
  const items: Block[][] = []
  const counters: number[] = []
  let loose: HtmlNode[] = []
  const endLoose = (): void => {
    const blocks = blocksIn(loose, style, flow)
    if (items.length > 0) items.at(-1)!.push(...blocks)
    else {
      const indent = listIndent(style)
      const isFromTheRight = style.direction === 'rtl'
      const margin: Margin = isFromTheRight ? [0, 0, indent, 0] : [indent, 0, 0, 0]
      before.push(...withMargins(blocks, { ...style, margin }))
    }
    loose = []
  }
  for (const child of element.children) {
    const own =
      typeof child === 'string' ? undefined : styleOf(child, style, flow.sheet, flow.budget, flow.width)
    if (own?.display === 'none') continue
    if (own?.display !== 'list-item') {
      loose.push(child)
      continue
    }
    endLoose()
    const item = child as HtmlElement
    counters.push(integerOf(item.attributes.value) ?? (counters.at(-1) ?? start - 1) + 1)
    items.push(itemBlocks(item, own, flow))
  }
  endLoose()
  const filled = items.map(collapseMargins).flatMap((content, at): Block[] => {
    const [only] = content
    if (!only) return []
    const { outdent } = only
    const one = content.length === 1 ? only : { stack: content, ...(outdent !== undefined && { outdent }) }
    return [{ ...one, counter: counters[at]! }]
  })
  return { before, items: filled }
}

/** The marker precedes the borders of an item. */
function itemBlocks(item: HtmlElement, own: Style, flow: Flow): Block[] {
  const [left, , right] = own.padding
  const side = own.direction === 'rtl' ? 2 : 0
  const outdent = (side === 0 ? left : right) + (own.borders[side]?.width ?? 0)
  const [first, ...others] = blockElement(item, own, flow)
  return first ? [outdent > 0 ? { ...first, outdent } : first, ...others] : []
}
