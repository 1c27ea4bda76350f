// Style sheets: declarations, and selectors by element, class, id, attribute, descendant and child.
import type { HtmlElement } from './html.ts'
import type { ConversionBudget } from './limits.ts'
import { NO_PAGE_RULES, type PageRules, withPageRule } from './page-rules.ts'

/** Longhand properties in lower case. */
export type Declarations = ReadonlyMap<string, string>

type Simple = {
  readonly tag?: string
  readonly id?: string
  readonly classes: readonly string[]
  readonly attributes: readonly { name: string; value?: string }[]
  readonly place?: 'first' | 'last' | 'odd' | 'even'
}
/** From the element outwards. `parent` means that the next part must match the direct parent. */
type Selector = { readonly parts: readonly { simple: Simple; parent: boolean }[]; readonly weight: number }

type Rule = {
  readonly selector: Selector
  readonly declarations: Declarations
  readonly important: Declarations
}

/** An `@font-face` rule whose `src` names a file. Rules with other sources are ignored. */
export type FontFace = {
  /** In lower case. */
  readonly family: string
  readonly bold: boolean
  readonly italic: boolean
  readonly file: string
}

export type Sheet = {
  readonly rules: readonly Rule[]
  readonly faces: readonly FontFace[]
  readonly page: PageRules
  /** The `@page` rules with a name, by name. */
  readonly namedPages: ReadonlyMap<string, PageRules>
  /** Cached results, because headers need theirs on every page. */
  readonly known: WeakMap<HtmlElement, Declarations>
}

/**
 * Limits on nested `@media`, on characters before a pair of braces, and on characters in a declaration. Anything beyond is
 * skipped.
 */
const [DEEPEST, LONGEST_PRELUDE, LONGEST_DECLARATION] = [4, 10_000, 2_000]

/** Skips anything unknown, as browsers do. `@media print` and `all` apply. */
export function readSheets(texts: readonly string[], budget: ConversionBudget): Sheet {
  const rules: Rule[] = []
  const faces: FontFace[] = []
  let page = NO_PAGE_RULES
  const namedPages = new Map<string, PageRules>()
  const take = (text: string, depth: number): void => {
    for (const [prelude, body] of blocks(text)) {
      if (prelude.length > LONGEST_PRELUDE) continue
      if (prelude.startsWith('@')) takeAtRule(prelude, body, depth)
      else takeRules(prelude, body)
    }
  }
  const takeAtRule = (prelude: string, body: string, depth: number): void => {
    if (/^@font-face$/i.test(prelude)) faces.push(...faceOf(body))
    else if (PAGE.test(prelude)) {
      budget.count('rules')
      const name = PAGE.exec(prelude)![1]
      if (name === undefined) page = withPage(page, body)
      else namedPages.set(name, withPage(namedPages.get(name) ?? NO_PAGE_RULES, body))
    } else if (depth < DEEPEST && /^@media\s+(?:[^{]*\b)?(?:print|all)\b/.test(prelude)) take(body, depth + 1)
  }
  const takeRules = (prelude: string, body: string): void => {
    const { plain, important } = declarationsOf(body)
    for (const one of prelude.split(',')) {
      const selector = selectorOf(one)
      if (!selector) continue
      budget.count('rules')
      rules.push({ selector, declarations: plain, important })
    }
  }
  for (const text of texts) take(text.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ').replace(/<!--|-->/g, ' '), 1)
  // The sort is stable: rules of the same weight keep their order.
  rules.sort((a, b) => a.selector.weight - b.selector.weight)
  return { rules, faces, page, namedPages, known: new WeakMap() }
}

const PAGE = /^@page(?:\s+([a-z][\w-]{0,100}))?$/i

const MOST_BOXES = 20

/** Reads `@page`. Skips rules for only some pages, such as `@page :first`. */
function withPage(page: PageRules, body: string): PageRules {
  const boxes = [...blocks(body)]
    .slice(0, MOST_BOXES)
    .map(([name, own]) => [name, declarationsOf(own).plain] as const)
  return withPageRule(page, declarationsOf(outsideBraces(body)).plain, boxes)
}

/** Returns the text without braces, their contents and the text before them. */
const outsideBraces = (text: string): string => text.replace(/@[\w-]{1,30}\s*\{[^{}]*\}/g, ';')

function faceOf(body: string): FontFace[] {
  const { plain } = declarationsOf(body)
  const family = familyName(plain.get('font-family') ?? '')
  const file = /url\(\s*["']?([^"')]+?)["']?\s*\)/i.exec(plain.get('src') ?? '')?.[1]
  if (family === '' || file === undefined) return []
  const weight = plain.get('font-weight') ?? ''
  const bold = /^bold/i.test(weight) || Number(weight) >= 600
  return [{ family, bold, italic: /italic|oblique/i.test(plain.get('font-style') ?? ''), file: file.trim() }]
}

/** Normalises the name of a family, which is compared without quotes and in lower case. */
export const familyName = (text: string): string =>
  text
    .trim()
    .replace(/^["']|["']$/g, '')
    .trim()
    .toLowerCase()

/** Yields, for each pair of braces, the text before it and its contents. */
function* blocks(text: string): Generator<[string, string]> {
  let at = 0
  for (let open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
    const prelude = text.slice(at, open)
    let depth = 1
    for (at = open + 1; at < text.length && depth > 0; at += 1)
      if (text[at] === '{') depth += 1
      else if (text[at] === '}') depth -= 1
    const body = text.slice(open + 1, depth === 0 ? at - 1 : at)
    yield [prelude.slice(prelude.lastIndexOf(';') + 1).trim(), body]
  }
}

const PART =
  /^(?:([a-z][a-z0-9-]*|\*)|#([\w-]+)|\.([\w-]+)|\[([\w-]+)(?:=["']?([^"'\]]*)["']?)?\]|:(first-child|last-child|nth-child\((?:odd|even|2n\+1|2n)\)))/i

type GrowingSimple = {
  tag?: string
  id?: string
  classes: Set<string>
  attributes: { name: string; value?: string }[]
  place?: Simple['place']
}

function simpleOf(text: string): { simple: Simple; weight: number } | undefined {
  const simple: GrowingSimple = { classes: new Set(), attributes: [] }
  let weight = 0
  for (let rest = text; rest !== ''; ) {
    const match = PART.exec(rest)
    if (!match) return undefined
    weight += addPart(simple, match)
    rest = rest.slice(match[0].length)
  }
  return { simple: { ...simple, classes: [...simple.classes] }, weight }
}

/** Adds one part of a selector and returns its weight. */
function addPart(simple: GrowingSimple, match: RegExpExecArray): number {
  const [, element, id, className, attribute, value, pseudo] = match
  if (element === '*') return 0
  if (element !== undefined) {
    simple.tag = element.toLowerCase()
    return 1
  }
  if (id !== undefined) {
    simple.id = id
    return 10_000
  }
  if (className !== undefined) simple.classes.add(className)
  else if (attribute !== undefined) simple.attributes.push({ name: attribute.toLowerCase(), value })
  else simple.place = placeOf(pseudo!.toLowerCase())
  return 100
}

function placeOf(pseudo: string): Simple['place'] {
  if (pseudo.startsWith('first')) return 'first'
  if (pseudo.startsWith('last')) return 'last'
  return /odd|\+1/.test(pseudo) ? 'odd' : 'even'
}

function selectorOf(text: string): Selector | undefined {
  const words = text.trim().replaceAll('>', ' > ').split(/\s+/)
  const parts: { simple: Simple; parent: boolean }[] = []
  let weight = 0
  let parent = false
  for (const word of words.reverse()) {
    if (word === '>') {
      parent = true
      continue
    }
    const read = word === '' ? undefined : simpleOf(word)
    if (!read) return undefined
    const before = parts.at(-1)
    if (before) before.parent = parent
    parts.push({ simple: read.simple, parent: false })
    weight += read.weight
    parent = false
  }
  return parent || parts.length === 0 ? undefined : { parts, weight }
}

/** Returns the declarations of the matching rules and of the element's own style. Later ones win. */
export function declarationsFor(element: HtmlElement, sheet: Sheet, budget: ConversionBudget): Declarations {
  const known = sheet.known.get(element) ?? findDeclared(element, sheet, budget)
  sheet.known.set(element, known)
  return known
}

function findDeclared(element: HtmlElement, sheet: Sheet, budget: ConversionBudget): Declarations {
  const all = new Map<string, string>()
  const important = new Map<string, string>()
  const put = (into: Map<string, string>, from: Declarations): void => {
    for (const [name, value] of from) into.set(name, value)
  }
  budget.count('matches', sheet.rules.length)
  for (const rule of sheet.rules)
    if (matches(element, rule.selector, budget)) {
      budget.count('matches', rule.declarations.size + rule.important.size)
      put(all, rule.declarations)
      put(important, rule.important)
    }
  const own = declarationsOf(element.attributes.style ?? '')
  for (const declarations of [own.plain, important, own.important]) put(all, declarations)
  return all
}

function matches(element: HtmlElement, { parts }: Selector, budget: ConversionBudget): boolean {
  const attributeCount = parts[0]!.simple.attributes.length
  if (attributeCount > 0) budget.count('matches', attributeCount)
  if (!matchesSimple(element, parts[0]!.simple)) return false
  let at: HtmlElement | undefined = element
  for (let index = 1; index < parts.length; index += 1) {
    const { simple } = parts[index]!
    at = at.parent
    if (parts[index - 1]!.parent) {
      if (!at || !matchesSimple(at, simple)) return false
      continue
    }
    while (at && !matchesSimple(at, simple)) {
      budget.count('matches')
      at = at.parent
    }
    if (!at) return false
  }
  return true
}

function matchesSimple({ tag, attributes, classes, parent, index }: HtmlElement, simple: Simple): boolean {
  if (simple.tag !== undefined && simple.tag !== tag) return false
  if (simple.id !== undefined && simple.id !== attributes.id) return false
  if (!simple.classes.every(one => classes.has(one))) return false
  for (const { name, value } of simple.attributes)
    if (attributes[name] === undefined || (value !== undefined && attributes[name] !== value)) return false
  if (simple.place === 'first') return index === 0
  if (simple.place === 'last') return index === (parent?.size ?? 1) - 1
  return simple.place === undefined || index % 2 === (simple.place === 'odd' ? 0 : 1)
}

const IMPORTANT = /!\s*important$/i

function declarationsOf(text: string): { plain: Declarations; important: Declarations } {
  const [plain, important] = [new Map<string, string>(), new Map<string, string>()]
  for (const one of outsideParentheses(text, ';')) {
    const colon = one.indexOf(':')
    if (colon < 0 || one.length > LONGEST_DECLARATION) continue
    const name = one.slice(0, colon).trim().toLowerCase()
    const value = one.slice(colon + 1).trim()
    const insists = IMPORTANT.test(value)
    const into = insists ? important : plain
    for (const [long, part] of longhands(name, value.replace(IMPORTANT, '').trimEnd())) into.set(long, part)
  }
  return { plain, important }
}

/** Splits the text, but not inside parentheses. An unclosed parenthesis is ignored. */
function outsideParentheses(text: string, cut: string): string[] {
  const parts: string[] = []
  let [start, open] = [0, -1]
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '(' && open < 0) open = text.indexOf(')', at) < 0 ? text.length : at
    else if (character === ')') open = -1
    else if (character === cut && (open < 0 || open === text.length)) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}

const SIDES = ['top', 'right', 'bottom', 'left'] as const

function longhands(name: string, value: string): [string, string][] {
  const words = wordsOf(value)
  const [, part = ''] = /^border-(.*)$/.exec(name) ?? []
  if (name === 'margin' || name === 'padding')
    return SIDES.map((side, at) => [`${name}-${side}`, ofFour(words, at)])
  if (name === 'inset') return SIDES.map((side, at) => [side, ofFour(words, at)])
  if (name === 'background')
    return [['background-color', words.find(word => !word.startsWith('url(')) ?? value]]
  if (['width', 'style', 'color'].includes(part))
    return SIDES.map((side, at) => [`border-${side}-${part}`, ofFour(words, at)])
  const sides = name === 'border' ? SIDES : SIDES.filter(side => side === part)
  if (sides.length > 0)
    return sides.flatMap(side =>
      borderParts(words).map(([own, text]) => [`border-${side}-${own}`, text] as [string, string]),
    )
  if (name === 'font') return fontParts(value)
  if (name === 'list-style') return [['list-style-type', words[0] ?? '']]
  if (name === 'text-decoration-line') return [['text-decoration', value]]
  if (/^break-(before|after|inside)$/.test(name)) return [[`page-${name}`, value]]
  return [[name, value]]
}

/** Splits a value into words, but not at a blank inside parentheses, as in `rgb(0, 0, 0)`. */
function wordsOf(value: string): string[] {
  const words: string[] = []
  let [word, closes] = ['', false]
  for (const piece of value.split(/(\s+)/).reverse()) {
    const isBlank = piece.trim() === ''
    if (isBlank && !closes) {
      if (word !== '') words.push(word)
      word = ''
    } else word = piece + word
    const parenthesis = /[()]/.exec(piece)?.[0]
    if (parenthesis !== undefined) closes = parenthesis === ')'
  }
  if (word !== '') words.push(word)
  return words.reverse()
}

const ofFour = (words: readonly string[], at: number): string =>
  words[at] ?? words[at === 3 ? 1 : 0] ?? words[0] ?? ''

const BORDER_STYLES = /^(?:none|hidden|solid|dashed|dotted|double|groove|ridge|inset|outset)$/i

function borderParts(words: readonly string[]): [string, string][] {
  const parts = { width: 'medium', style: 'none', color: 'currentcolor' }
  for (const word of words)
    if (BORDER_STYLES.test(word)) parts.style = word.toLowerCase()
    else if (/^(?:[\d.]|thin$|medium$|thick$)/i.test(word)) parts.width = word
    else parts.color = word
  return Object.entries(parts)
}

/** Reads `italic bold 10pt/1.4 Arial`. */
function fontParts(value: string): [string, string][] {
  const size = /(?:^|\s)([\d.]+(?:pt|px|em|rem|mm|cm|in|pc|%))(?:\s*\/\s*([\d.]+[a-z%]*))?/i.exec(value)
  const before = size ? value.slice(0, size.index) : value
  const parts: [string, string][] = [
    ['font-style', /italic|oblique/i.test(before) ? 'italic' : 'normal'],
    ['font-weight', /\b(bold|bolder|[1-9]00)\b/i.exec(before)?.[1] ?? 'normal'],
  ]
  if (size) parts.push(['font-size', size[1]!], ['font-family', value.slice(size.index + size[0].length)])
  if (size?.[2] !== undefined) parts.push(['line-height', size[2]])
  return parts
}
