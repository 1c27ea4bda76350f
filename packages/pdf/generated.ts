// Generated content of CSS: `::before` and `::after` become children of their elements, with counters filled in.
import type { Declarations } from './declarations.ts'
import { GENERATED_TAG, type HtmlDocument, type HtmlElement, type HtmlNode } from './html.ts'
import type { ConversionBudget } from './limits.ts'
import { declarationsFor, declareGenerated, type Sheet } from './sheet.ts'

/** What has no content of its own, and the parts of tables, whose children are rows and cells. */
const WITHOUT = new Set(
  `br hr img svg input select col colgroup table thead tbody tfoot tr bindery-page-number bindery-page-count`.split(
    ' ',
  ),
)

/** Adds the content to the document in its order, which is that of the counters. */
export function addGenerated(
  { body, header, footer }: HtmlDocument,
  sheet: Sheet,
  budget: ConversionBudget,
): void {
  if (sheet.generated.length === 0) return
  const counters = new Counters()
  for (const part of [body.parent, header, footer]) if (part) addTo(part, { sheet, budget, counters })
}

type Work = { sheet: Sheet; budget: ConversionBudget; counters: Counters }

function addTo(element: HtmlElement, work: Work): void {
  const { sheet, budget, counters } = work
  const declared = declarationsFor(element, sheet, budget)
  if (declared.get('display') === 'none') return
  counters.take(declared, element.parent)
  const before = generatedIn(element, 'before', work)
  for (const child of element.children) if (typeof child !== 'string') addTo(child, work)
  const after = generatedIn(element, 'after', work)
  counters.leave(element)
  if (before || after)
    (element as { children: readonly HtmlNode[] }).children = [
      ...(before ? [before] : []),
      ...element.children,
      ...(after ? [after] : []),
    ]
}

function generatedIn(
  element: HtmlElement,
  where: 'before' | 'after',
  { sheet, budget, counters }: Work,
): HtmlElement | undefined {
  if (WITHOUT.has(element.tag)) return undefined
  const children: string[] = []
  const generated: HtmlElement = {
    tag: GENERATED_TAG,
    attributes: {},
    classes: new Set(),
    children,
    parent: element,
    index: 0,
    size: 0,
  }
  const declared = declareGenerated(generated, { element, where }, sheet, budget)
  const content = declared.get('content')
  if (content === undefined || /^(?:none|normal|inherit|initial)$/i.test(content)) return undefined
  if (declared.get('display') === 'none') return undefined
  counters.take(declared, element)
  const text = textOf(content, element, counters)
  budget.count('elements')
  budget.count('characters', text.length)
  if (text !== '') children.push(text)
  return generated
}

/** An escaped sign outside of quotes begins no quoted text: otherwise each of many would be searched to the end. */
const CONTENT = new RegExp(
  String.raw`\\.|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|attr\(\s*([\w-]+)\s*\)` +
    String.raw`|counter\(\s*([\w-]+)\s*(?:,\s*([\w-]+)\s*)?\)` +
    String.raw`|counters\(\s*([\w-]+)\s*,\s*(?:"([^"]*)"|'([^']*)')\s*(?:,\s*([\w-]+)\s*)?\)|\b(open|close)-quote\b`,
  'gis',
)

function textOf(content: string, { attributes }: HtmlElement, counters: Counters): string {
  return [...content.matchAll(CONTENT)]
    .map(([, double, single, attribute, counter, style, nested, first, second, styleOfAll, quote]) => {
      if (attribute !== undefined) return attributes[attribute.toLowerCase()] ?? ''
      if (counter !== undefined) return numbered(counters.valuesOf(counter).at(-1)!, style)
      if (nested !== undefined)
        return counters
          .valuesOf(nested)
          .map(value => numbered(value, styleOfAll))
          .join(unescaped(first ?? second ?? ''))
      if (quote !== undefined) return quote.toLowerCase() === 'open' ? '“' : '”'
      return unescaped(double ?? single ?? '')
    })
    .join('')
}

/** Reads `\2713` and `\"`. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:([0-9a-f]{1,6})\s?|(\n)|(.))/gi, (_, code, line, sign) => {
    if (line !== undefined) return ''
    if (sign !== undefined) return sign
    const point = Number.parseInt(code, 16)
    return point === 0 || point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point)
  })

const ROMAN = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
] as const

/** Roman numbers and letters begin at 1, and are written as digits otherwise. */
function numbered(value: number, given = 'decimal'): string {
  const style = given.toLowerCase()
  const text = styled(value, style)
  return style.startsWith('upper-') ? text.toUpperCase() : text
}

function styled(value: number, style: string): string {
  if (style === 'none') return ''
  if (style === 'decimal-leading-zero' && value >= 0) return String(value).padStart(2, '0')
  if (/-(?:alpha|latin)$/.test(style) && value > 0) return lettersOf(value)
  if (!style.endsWith('-roman') || value <= 0 || value >= 4_000) return String(value)
  let [rest, text] = [value, '']
  for (const [size, letters] of ROMAN) for (; rest >= size; rest -= size) text += letters
  return text
}

function lettersOf(value: number): string {
  let text = ''
  for (let rest = value; rest > 0; rest = Math.floor((rest - 1) / 26))
    text = String.fromCharCode(97 + ((rest - 1) % 26)) + text
  return text
}

/** A counter begins again within each element that resets it, and ends with the parent of that element. */
type Counter = { value: number; readonly parent: HtmlElement | undefined }

/** The most counters of one name within one another. */
const DEEPEST = 100

class Counters {
  readonly #all = new Map<string, Counter[]>()

  take(declared: Declarations, parent: HtmlElement | undefined): void {
    for (const [name, value] of namesIn(declared.get('counter-reset'), 0)) {
      const own = this.#of(name)
      const last = own.at(-1)
      if (last && (last.parent === parent || own.length >= DEEPEST)) last.value = value
      else own.push({ value, parent })
    }
    for (const [name, value] of namesIn(declared.get('counter-increment'), 1)) {
      const own = this.#of(name)
      if (own.length === 0) own.push({ value: 0, parent })
      own.at(-1)!.value += value
    }
  }

  /** Ends the counters of the element's children. */
  leave(element: HtmlElement): void {
    for (const own of this.#all.values()) if (own.at(-1)?.parent === element) own.pop()
  }

  /** From the outermost to the innermost; never empty. */
  valuesOf(name: string): number[] {
    const own = this.#all.get(name) ?? []
    return own.length === 0 ? [0] : own.map(({ value }) => value)
  }

  #of(name: string): Counter[] {
    const own = this.#all.get(name) ?? []
    this.#all.set(name, own)
    return own
  }
}

/** The most counters that one declaration names. */
const MOST_NAMES = 20

/** Reads `chapter`, `chapter 2 section`, `none`. */
function namesIn(text: string | undefined, otherwise: number): [string, number][] {
  if (text === undefined || /^(?:none|inherit|initial)$/i.test(text)) return []
  const named = text.slice(0, 2_000).matchAll(/([a-z_-][\w-]*)(?:\s+([+-]?\d{1,9})\b)?/gi)
  return [...named]
    .slice(0, MOST_NAMES)
    .map(([, name, value]) => [name!, value === undefined ? otherwise : Number(value)])
}
