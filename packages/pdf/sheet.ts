// Style sheets: their rules, and the declarations that apply to an element.
import { type Declarations, declarationsOf, longhands, type Rated } from './declarations.ts'
import type { HtmlElement } from './html.ts'
import type { ConversionBudget } from './limits.ts'
import { NO_PAGE_RULES, type PageRules, withPageRule } from './page-rules.ts'
import { matches, type Selector, selectorOf, splitOutside } from './selectors.ts'
import { lengthOf, ROOT_SIZE } from './values.ts'
import { hasVariable, NO_VARIABLES, type Variables, variablesWith, withVariables } from './variables.ts'

type Rule = Rated & { readonly selector: Selector }

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
  /** The rules of `::before` and `::after`. */
  readonly generated: readonly Rule[]
  readonly faces: readonly FontFace[]
  readonly page: PageRules
  /** The `@page` rules with a name, by name. */
  readonly namedPages: ReadonlyMap<string, PageRules>
  /** Cached results, because headers need theirs on every page. */
  readonly known: WeakMap<HtmlElement, Declarations>
  readonly variables: WeakMap<HtmlElement, Variables>
}

/** Limits on nested `@media`, and on characters before a pair of braces. Anything beyond is skipped. */
const [DEEPEST, LONGEST_PRELUDE] = [4, 10_000]

/** Skips anything unknown, as browsers do. `@media print` and `all` apply. `textWidth` is that of the pages in points. */
export function readSheets(texts: readonly string[], budget: ConversionBudget, textWidth: number): Sheet {
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
    if (/^@font-face$/i.test(prelude)) {
      budget.count('rules')
      faces.push(...faceOf(body))
    } else if (PAGE.test(prelude)) {
      budget.count('rules')
      const name = PAGE.exec(prelude)![1]
      if (name === undefined) page = withPage(page, body)
      else namedPages.set(name, withPage(namedPages.get(name) ?? NO_PAGE_RULES, body))
    } else if (depth < DEEPEST && isPrinted(prelude, textWidth)) take(body, depth + 1)
  }
  const takeRules = (prelude: string, body: string): void => {
    const declared = declarationsOf(body)
    for (const one of splitOutside(prelude, ',')) {
      const selector = selectorOf(one)
      if (!selector) continue
      budget.count('rules')
      rules.push({ selector, ...declared })
    }
  }
  for (const text of texts) take(text.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ').replace(/<!--|-->/g, ' '), 1)
  // The sort is stable: rules of the same weight keep their order.
  rules.sort((a, b) => a.selector.weight - b.selector.weight)
  const isGenerated = ({ selector }: Rule): boolean => selector.generated !== undefined
  return {
    rules: rules.filter(rule => !isGenerated(rule)),
    generated: rules.filter(isGenerated),
    faces,
    page,
    namedPages,
    known: new WeakMap(),
    variables: new WeakMap(),
  }
}

/** Whether one of the media is print, all, or another one that is excluded, and has the width that it asks for. */
function isPrinted(prelude: string, textWidth: number): boolean {
  const [, media] = /^@media\b(.*)$/is.exec(prelude) ?? []
  if (media === undefined) return false
  return media.split(',').some(one => {
    const [, not, kind] = /^\s*(?:(not)\s+|only\s+)?([a-z]+)\b/i.exec(one) ?? []
    const conditions = [...one.matchAll(CONDITION)].map(([, name, width]) =>
      hasWidth(name!, width!, textWidth),
    )
    // Without a medium, only widths are known. Others, such as a dark scheme, do not hold on paper.
    if (kind === undefined) return one.replace(CONDITION, '').trim() === '' && conditions.every(Boolean)
    if (not !== undefined) return !/^(?:print|all)$/i.test(kind) || conditions.includes(false)
    return /^(?:print|all)$/i.test(kind) && conditions.every(Boolean)
  })
}

const CONDITION = /(?:\band\s+)?\(\s*(m(?:in|ax)-width)\s*:\s*([\d.]{1,10}[a-z]{0,5})\s*\)/gi

/** A length without a meaning is no width that the page has. */
function hasWidth(name: string, width: string, textWidth: number): boolean {
  const asked = lengthOf(width, ROOT_SIZE) ?? Number.NaN
  return name.toLowerCase() === 'min-width' ? textWidth >= asked : textWidth <= asked
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
  const file = unquoted(/url\(([^)]*)\)/i.exec(plain.get('src') ?? '')?.[1] ?? '')
  if (family === '' || file === '') return []
  const weight = plain.get('font-weight') ?? ''
  const bold = /^bold/i.test(weight) || Number(weight) >= 600
  return [{ family, bold, italic: /italic|oblique/i.test(plain.get('font-style') ?? ''), file }]
}

/** Normalises the name of a family, which is compared without quotes and in lower case. */
export const familyName = (text: string): string => unquoted(text).toLowerCase()

const unquoted = (text: string): string =>
  text
    .trim()
    .replace(/^["']|["']$/g, '')
    .trim()

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

/** Returns the declarations of the matching rules and of the element's own style. Later ones win. */
export function declarationsFor(element: HtmlElement, sheet: Sheet, budget: ConversionBudget): Declarations {
  const known = sheet.known.get(element) ?? findDeclared(element, sheet, budget)
  sheet.known.set(element, known)
  return known
}

function findDeclared(element: HtmlElement, sheet: Sheet, budget: ConversionBudget): Declarations {
  const own = declarationsOf(element.attributes.style ?? '')
  return cascade(element, rulesFor(element, sheet.rules, budget), own, sheet, budget)
}

function rulesFor(element: HtmlElement, rules: readonly Rule[], budget: ConversionBudget): Rule[] {
  budget.count('matches', rules.length)
  return rules.filter(rule => {
    const isMatch = matches(element, rule.selector, budget)
    if (isMatch) budget.count('matches', rule.plain.size + rule.important.size)
    return isMatch
  })
}

const NOTHING: Rated = { plain: new Map(), important: new Map() }

/** Returns the declarations of what `::before` or `::after` adds to an element, whose content is `generated`. */
export function declareGenerated(
  generated: HtmlElement,
  { element, where }: { element: HtmlElement; where: 'before' | 'after' },
  sheet: Sheet,
  budget: ConversionBudget,
): Declarations {
  const rules = rulesFor(element, sheet.generated, budget).filter(
    ({ selector }) => selector.generated === where,
  )
  const known = cascade(generated, rules, NOTHING, sheet, budget)
  sheet.known.set(generated, known)
  return known
}

/** Rules, then the element's own style, then what is important in each. Puts in the values of variables. */
function cascade(
  element: HtmlElement,
  rules: readonly Rule[],
  own: Rated,
  sheet: Sheet,
  budget: ConversionBudget,
): Declarations {
  const layers = [
    ...rules.map(({ plain }) => plain),
    own.plain,
    ...rules.map(({ important }) => important),
    own.important,
  ]
  const variables = variablesOf(element, layers, sheet, budget)
  sheet.variables.set(element, variables)
  const all = new Map<string, string>()
  for (const layer of layers)
    for (const [name, value] of layer)
      if (!hasVariable(value)) all.set(name, value)
      else if (!name.startsWith('--')) {
        budget.count('matches', value.length)
        const filled = withVariables(value, variable => variables.get(variable))
        if (filled !== undefined) for (const [long, part] of longhands(name, filled)) all.set(long, part)
      }
  return all
}

function variablesOf(
  { parent }: HtmlElement,
  layers: readonly Declarations[],
  sheet: Sheet,
  budget: ConversionBudget,
): Variables {
  if (parent) declarationsFor(parent, sheet, budget)
  const inherited = (parent && sheet.variables.get(parent)) ?? NO_VARIABLES
  const own = new Map(layers.flatMap(layer => [...layer].filter(([name]) => name.startsWith('--'))))
  if (own.size > 0) budget.count('matches', own.size + inherited.size)
  return variablesWith(own, inherited)
}
