// Parses HTML into the tree that the renderer reads: elements, texts, style sheets. It follows the rules of browsers, so that a
// missing end tag never loses a row.
import { type DefaultTreeAdapterMap, Parser } from 'parse5'
import { ConversionBudget } from './limits.ts'
import { countingAdapter, type Drawing, drawingOf } from './svg.ts'

export type HtmlElement = {
  readonly tag: string
  /** Only for `svg`, whose child elements are not read. */
  readonly drawing?: Drawing
  readonly attributes: Readonly<Record<string, string>>
  readonly classes: ReadonlySet<string>
  readonly children: readonly HtmlNode[]
  readonly parent: HtmlElement | undefined
  /** The position among the elements of its parent, from 0. */
  readonly index: number
  readonly size: number
}
export type HtmlNode = HtmlElement | string

/** If there are several headers or footers, the last one counts, like a variable that is set again. */
export type HtmlDocument = {
  readonly body: HtmlElement
  readonly header: HtmlElement | undefined
  readonly footer: HtmlElement | undefined
  readonly sheets: readonly string[]
  readonly title: string | undefined
}

/** Printed by Liquid's `header` and `footer` blocks and by the page filters (packages/liquid). */
export const HEADER_TAG = 'bindery-header'
export const FOOTER_TAG = 'bindery-footer'
export const PAGE_NUMBER_TAG = 'bindery-page-number'
export const PAGE_COUNT_TAG = 'bindery-page-count'
/** What `::before` and `::after` add to an element (generated.ts). */
export const GENERATED_TAG = 'bindery-generated'

/**
 * Empty elements of these classes are filled in within headers and footers. Templates written for other PDF generators contain
 * them.
 */
const FILLED: readonly (readonly [name: string, tag: string])[] = [
  ['page', PAGE_NUMBER_TAG],
  ['topage', PAGE_COUNT_TAG],
]

const IGNORED = new Set(['script', 'noscript', 'template', 'head', 'object', 'iframe', 'math'])

type Growing = { -readonly [K in keyof HtmlElement]: HtmlElement[K] }
type Node = DefaultTreeAdapterMap['childNode']
type Element = DefaultTreeAdapterMap['element']

/** Throws only a ConversionError, when a limit is exceeded. */
export function readHtml(html: string, budget = new ConversionBudget()): HtmlDocument {
  const sheets: string[] = []
  const found: Record<string, HtmlElement> = {}
  let title: string | undefined
  const read = (node: Node, parent: Growing, depth: number): HtmlNode | undefined => {
    if (node.nodeName === '#text' && 'value' in node) {
      budget.count('characters', node.value.length)
      return node.value
    }
    if (!('tagName' in node)) return undefined
    const { tagName: tag } = node
    if (tag === 'style') sheets.push(textOf(node))
    if (tag === 'title' && parent.tag === 'head') title ??= textOf(node).trim()
    if (tag === 'style' || (IGNORED.has(tag) && tag !== 'head')) return undefined
    const element = make(node, parent, depth)
    parent.size += 1
    if (tag !== HEADER_TAG && tag !== FOOTER_TAG) return element
    found[tag] = element
    return undefined
  }
  const make = (node: Element, parent: HtmlElement | undefined, depth: number): HtmlElement => {
    const named = attributesOf(node)
    const isEmpty = parent !== undefined && node.childNodes.length === 0
    const filled = isEmpty ? FILLED.find(([name]) => named.classes.has(name)) : undefined
    const tag = filled && isInMargin(parent) ? filled[1] : node.tagName
    const element: Growing = {
      tag,
      ...named,
      children: [],
      parent,
      index: parent?.size ?? 0,
      size: 0,
    }
    if (tag === 'svg') return { ...element, drawing: drawingOf(node, budget) }
    budget.count('elements')
    budget.check('depth', depth)
    const value = printedValue(node, named.attributes)
    if (value !== undefined) {
      budget.count('characters', value.length)
      // The box of a control would be that of its letters.
      return { ...element, attributes: {}, classes: new Set(), children: [value] }
    }
    element.children = node.childNodes.flatMap(child => read(child, element, depth + 1) ?? [])
    return element
  }
  const root = parseCountedHtml(html, new ConversionBudget()).childNodes.find(
    (node): node is Element => node.nodeName === 'html',
  )!
  const whole = make(root, undefined, 1)
  const body = whole.children.find(
    (node): node is HtmlElement => typeof node !== 'string' && node.tag === 'body',
  )!
  return { body, header: found[HEADER_TAG], footer: found[FOOTER_TAG], sheets, title }
}

/** Controls of forms print their values, as browsers do. Undefined for other elements. */
function printedValue(
  { tagName, childNodes }: Element,
  { type = 'text', value = '', checked }: HtmlElement['attributes'],
): string | undefined {
  if (tagName === 'select') return chosen(childNodes)
  if (tagName !== 'input') return undefined
  const kind = type.toLowerCase()
  if (kind === 'checkbox') return checked === undefined ? '☐' : '☑'
  if (kind === 'radio') return checked === undefined ? '○' : '◉'
  return UNPRINTED.has(kind) ? '' : value
}

const UNPRINTED = new Set(['hidden', 'password', 'file', 'image', 'color', 'range'])

/** Returns the text of the selected option, which is the first if none is marked. */
function chosen(nodes: readonly Node[]): string {
  const options = nodes.flatMap(node => {
    if (node.nodeName === 'optgroup' && 'childNodes' in node) return node.childNodes
    return [node]
  })
  const elements = options.filter((node): node is Element => node.nodeName === 'option')
  const isMarked = ({ attrs }: Element): boolean => attrs.some(({ name }) => name === 'selected')
  const option = elements.find(isMarked) ?? elements[0]
  return option ? textOf(option).trim() : ''
}

const textOf = (element: Element): string =>
  element.childNodes
    .map(child => (child.nodeName === '#text' && 'value' in child ? child.value : ''))
    .join('')

function isInMargin(element: HtmlElement | undefined): boolean {
  for (let at = element; at !== undefined; at = at.parent)
    if (at.tag === HEADER_TAG || at.tag === FOOTER_TAG) return true
  return false
}

function attributesOf({ attrs }: Element): Pick<HtmlElement, 'attributes' | 'classes'> {
  const attributes = Object.fromEntries(attrs.map(({ name, value }) => [name, value]))
  return { attributes, classes: new Set((attributes.class ?? '').split(/\s+/)) }
}

type WithAttributes = { currentToken: { attrs: unknown[] }; _leaveAttrName(): void }

/** The parser compares each attribute with all preceding ones, so they are counted during parsing. */
function parseCountedHtml(html: string, budget: ConversionBudget): DefaultTreeAdapterMap['document'] {
  const parser = new Parser<DefaultTreeAdapterMap>({ treeAdapter: countingAdapter(budget) })
  const tokenizer = parser.tokenizer as unknown as WithAttributes
  const leave = tokenizer._leaveAttrName
  tokenizer._leaveAttrName = function () {
    budget.check('attributes', this.currentToken.attrs.length)
    leave.call(this)
  }
  parser.tokenizer.write(html, true)
  return parser.document
}

/** Returns the number of characters of the text in a node, without the blanks around each of its texts. */
export const charactersOf = (node: HtmlNode): number =>
  typeof node === 'string'
    ? node.trim().length
    : node.children.reduce((sum, child) => sum + charactersOf(child), 0)
