// Drawings (SVG), inline and as images. Their contents are checked and serialized again, so that the engine reads nothing else.
import { type DefaultTreeAdapterMap, defaultTreeAdapter, parseFragment, serializeOuter } from 'parse5'
import type { ConversionBudget } from './limits.ts'
import { ConversionError } from './page.ts'
import { lengthOf } from './values.ts'

/** A drawing for the engine; its size is in points. */
export type Drawing = {
  readonly svg: string
  readonly width: number
  readonly height: number
  /** The number of characters, with gradients and clips counted for each reference. */
  readonly weight: number
}

type Element = DefaultTreeAdapterMap['element']

/** Elements that draw the same thing many times, or something from another place. */
const REFUSED = new Set(['use', 'symbol', 'image', 'pattern', 'mask', 'marker', 'foreignobject', 'filter'])
/** Elements that draw nothing here. */
const LEFT_OUT = new Set('script animate animatetransform animatemotion set metadata a'.split(' '))

/** Throws a ConversionError when a limit is exceeded, and for forbidden contents. */
export function drawingOf(element: Element, budget: ConversionBudget): Drawing {
  clean(element, budget, 1)
  cleanStyles(element, budget)
  const size = sizeOf(element)
  // The engine reads XML, which does not define this entity.
  const svg = serializeOuter(element).replaceAll('&nbsp;', '&#160;')
  budget.check('drawingCharacters', svg.length)
  return { svg, ...size, weight: weightOf(element, svg.length) }
}

/** Counts every element that the parser creates. It adds some that nobody wrote, and can create many from a few. */
export const countingAdapter = (budget: ConversionBudget): typeof defaultTreeAdapter => ({
  ...defaultTreeAdapter,
  createElement(...given) {
    budget.count('elements')
    return defaultTreeAdapter.createElement(...given)
  },
})

/** Returns undefined if the text is not a drawing. */
export function drawingOfText(text: string, budget: ConversionBudget): Drawing | undefined {
  budget.check('drawingCharacters', text.length)
  const { childNodes } = parseFragment(text.replace(/^[\s\S]*?(?=<svg[\s>])/i, ''), {
    treeAdapter: countingAdapter(budget),
  })
  const found = childNodes.find((node): node is Element => node.nodeName === 'svg')
  return found && drawingOf(found, budget)
}

function clean(element: Element, budget: ConversionBudget, depth: number): void {
  budget.count('elements')
  budget.check('depth', depth)
  element.childNodes = element.childNodes.filter(node => {
    if (node.nodeName === '#text') return true
    if (!('tagName' in node)) return false
    const tag = node.tagName.toLowerCase()
    const message = `A drawing (SVG) contains <${node.tagName}>, which is not supported. Remove it.`
    if (REFUSED.has(tag)) throw new ConversionError(message)
    if (LEFT_OUT.has(tag)) return false
    clean(node, budget, depth + 1)
    return true
  })
}

/** In characters, of all style sheets of a drawing. */
const LONGEST_STYLES = 20_000

/** The engine reads the style sheets of a drawing, and compares each rule with each element. */
function cleanStyles(drawing: Element, budget: ConversionBudget): void {
  let [elements, rules, characters] = [0, 0, 0]
  const read = (element: Element): void => {
    elements += 1
    if (element.tagName.toLowerCase() !== 'style') {
      for (const child of element.childNodes) if ('tagName' in child) read(child)
      return
    }
    for (const node of element.childNodes) {
      if (node.nodeName !== '#text' || !('value' in node)) continue
      node.value = node.value.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ').replace(/\s+/g, ' ')
      characters += node.value.length
      rules += node.value.split(/[{,]/).length
    }
  }
  read(drawing)
  if (characters > LONGEST_STYLES)
    throw new ConversionError(
      `A drawing (SVG) has style sheets of more than ${LONGEST_STYLES} characters. Make them smaller.`,
    )
  budget.count('matches', rules * elements)
}

const REFERENCE = /url\(\s*["']?#([^"')]+)/g

/** Gradients and clips may refer to others. Each counts with its references, and a circular reference counts once. */
function weightOf(drawing: Element, length: number): number {
  const named = new Map<string, Element>()
  const elementsIn = (element: Element): Element[] =>
    element.childNodes.filter((node): node is Element => 'tagName' in node)
  const name = (element: Element): void => {
    const id = element.attrs.find(one => one.name === 'id')?.value
    if (id !== undefined) named.set(id, element)
    for (const child of elementsIn(element)) name(child)
  }
  name(drawing)
  const known = new Map<Element, number>()
  const referredTo = (element: Element): number => {
    let weight = 0
    for (const { value } of element.attrs)
      for (const [, id] of value.matchAll(REFERENCE)) {
        const target = named.get(id!.trim())
        if (target) weight += weightOfNamed(target)
      }
    return elementsIn(element).reduce((sum, child) => sum + referredTo(child), weight)
  }
  const weightOfNamed = (element: Element): number => {
    const before = known.get(element)
    if (before !== undefined) return before
    const own = serializeOuter(element).length
    known.set(element, own)
    const weight = own + referredTo(element)
    known.set(element, weight)
    return weight
  }
  return length + referredTo(drawing)
}

/** Returns the width and height, or those of the view box. Pixels become points, as for images. */
function sizeOf({ attrs }: Element): { width: number; height: number } {
  const attributes = new Map(attrs.map(({ name, value }) => [name.toLowerCase(), value]))
  const points = (text: string | undefined): number | undefined =>
    text === undefined || text.endsWith('%')
      ? undefined
      : lengthOf(/[a-z]$/i.test(text) ? text : `${text}px`, 12)
  const viewBox = (attributes.get('viewbox') ?? '').trim().split(/[\s,]+/)
  const box = viewBox.length === 4 ? viewBox.map(Number) : []
  const [, , boxWidth, boxHeight] = box.every(Number.isFinite) ? box : []
  const ratio = boxWidth && boxHeight ? boxHeight / boxWidth : undefined
  const [width, height] = [points(attributes.get('width')), points(attributes.get('height'))]
  const across = width ?? (height !== undefined && ratio ? height / ratio : boxWidth && boxWidth * 0.75)
  const down = height ?? (across !== undefined && ratio ? across * ratio : boxHeight && boxHeight * 0.75)
  if (!across || !down || across < 0 || down < 0)
    throw new ConversionError('A drawing (SVG) has no size. Give it a width and height, or a viewBox.')
  return { width: across, height: down }
}
