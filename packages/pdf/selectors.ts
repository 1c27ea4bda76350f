// Selectors of CSS: compounds of tag, class, id, attributes and places among siblings, and the four combinators.
import { GENERATED_TAG, type HtmlElement } from './html.ts'
import type { ConversionBudget } from './limits.ts'

type Test = (element: HtmlElement, budget: ConversionBudget) => boolean

type Combinator = ' ' | '>' | '+' | '~'

/** `before` connects the compound to the next one, which is to its left. */
type Part = { readonly tests: readonly Test[]; readonly before: Combinator }

/** `parts` go from the element outwards. `generated` is set for the content before or after an element. */
export type Selector = {
  readonly parts: readonly Part[]
  readonly weight: number
  readonly generated: 'before' | 'after' | undefined
}

type Compound = { tests: Test[]; weight: number; generated: Selector['generated'] }

const [ID, CLASS, TAG] = [10_000, 100, 1]

/** `:not(:is(:not(…)))` beyond this is skipped, and its rule with it. */
const DEEPEST = 3

const NAME = String.raw`(?:[a-z_\u0080-\uffff-]|\\.)(?:[\w\u0080-\uffff-]|\\.)*`
const PIECE = new RegExp(
  String.raw`(?<tag>\*|${NAME})|#(?<id>(?:[\w\u0080-\uffff-]|\\.)+)|\.(?<class>${NAME})` +
    String.raw`|\[\s*(?<attribute>[\w-]+)\s*(?:(?<operator>[~|^$*]?)=\s*(?:"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\]\s"']+))\s*(?<any>i)?\s*)?\]` +
    String.raw`|::?(?<pseudo>[a-z-]+)(?<open>\()?`,
  'iy',
)

/** Undefined for a selector that is malformed or that no printed element can match, such as `:hover`. */
export function selectorOf(text: string, depth = 1): Selector | undefined {
  const words = compoundsOf(text)
  const parts: Part[] = []
  let [weight, generated] = [0, undefined as Selector['generated']]
  for (const { compound, before } of words.reverse()) {
    const read = compoundOf(compound, depth)
    if (!read || (read.generated && parts.length > 0)) return undefined
    parts.push({ tests: read.tests, before })
    weight += read.weight
    generated ??= read.generated
  }
  return parts.length === 0 ? undefined : { parts, weight, generated }
}

/** Splits at combinators, but not inside brackets, parentheses and quotes. */
function compoundsOf(text: string): { compound: string; before: Combinator }[] {
  const words: { compound: string; before: Combinator }[] = []
  let [word, before, open, quote] = ['', undefined as Combinator | undefined, 0, '']
  const end = (): void => {
    if (word !== '') words.push({ compound: word, before: before ?? ' ' })
    if (word !== '') before = undefined
    word = ''
  }
  for (const sign of text.trim()) {
    const isOutside = open === 0 && quote === ''
    if (quote !== '') quote = sign === quote ? '' : quote
    else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '(' || sign === '[') open += 1
    else if (sign === ')' || sign === ']') open -= 1
    if (isOutside && /[\s>+~]/.test(sign)) {
      end()
      if (/\S/.test(sign)) {
        // A combinator at the beginning, or two in a row, leave a compound that is not valid.
        if (before !== undefined || words.length === 0) return [{ compound: '!', before: ' ' }]
        before = sign as Combinator
      }
    } else word += sign
  }
  end()
  return before === undefined ? words : [{ compound: '!', before: ' ' }]
}

function compoundOf(text: string, depth: number): Compound | undefined {
  const compound: Compound = { tests: [], weight: 0, generated: undefined }
  for (let at = 0; at < text.length; ) {
    PIECE.lastIndex = at
    const found = PIECE.exec(text)
    if (!found || (found.groups!.tag !== undefined && at > 0)) return undefined
    const groups = found.groups!
    at += found[0].length
    let inside: string | undefined
    if (groups.open !== undefined) {
      const end = closingParenthesis(text, at)
      if (end < 0) return undefined
      inside = text.slice(at, end)
      at = end + 1
    }
    if (!addPiece(compound, groups, inside, depth)) return undefined
  }
  return compound
}

/** Returns the place of the `)` that closes what is open at `from`, or -1. */
export function closingParenthesis(text: string, from: number): number {
  let open = 1
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '(') open += 1
    if (text[at] === ')') open -= 1
    if (open === 0) return at
  }
  return -1
}

const plainName = (text: string): string => text.replace(/\\(.)/g, '$1')

/** Returns false for a pseudo-class that is not supported. */
function addPiece(
  compound: Compound,
  groups: Record<string, string | undefined>,
  inside: string | undefined,
  depth: number,
): boolean {
  const add = (weight: number, test: Test): true => {
    compound.weight += weight
    compound.tests.push(test)
    return true
  }
  if (groups.tag === '*') return true
  if (groups.tag !== undefined) {
    const tag = plainName(groups.tag).toLowerCase()
    return add(TAG, element => element.tag === tag)
  }
  if (groups.id !== undefined) {
    const id = plainName(groups.id)
    return add(ID, ({ attributes }) => attributes.id === id)
  }
  if (groups.class !== undefined) {
    const name = plainName(groups.class)
    return add(CLASS, ({ classes }) => classes.has(name))
  }
  if (groups.attribute !== undefined) return add(CLASS, attributeTest(groups))
  const pseudo = groups.pseudo!.toLowerCase()
  if (pseudo === 'before' || pseudo === 'after') {
    compound.generated = pseudo
    compound.weight += TAG
    return inside === undefined
  }
  if (pseudo === 'not' || pseudo === 'is' || pseudo === 'where') {
    const given =
      depth < DEEPEST ? splitOutside(inside ?? '', ',').map(one => selectorOf(one, depth + 1)) : []
    const selectors = given.flatMap(one => (one && !one.generated ? [one] : []))
    if (selectors.length === 0 || (pseudo === 'not' && selectors.length < given.length)) return false
    const weight = pseudo === 'where' ? 0 : Math.max(...selectors.map(one => one.weight))
    return add(weight, (element, budget) => {
      const isOne = selectors.some(one => {
        budget.count('matches')
        return matches(element, one, budget)
      })
      return pseudo === 'not' ? !isOne : isOne
    })
  }
  const place = placeTest(pseudo, inside)
  return place !== undefined && add(CLASS, place)
}

/** Each of so many characters of an attribute counts as one more comparison. */
const CHARACTERS_OF_COMPARISON = 100

function attributeTest(groups: Record<string, string | undefined>): Test {
  const name = groups.attribute!.toLowerCase()
  const given = groups.double ?? groups.single ?? groups.bare
  const isAnyCase = groups.any !== undefined
  const cased = (text: string): string => (isAnyCase ? text.toLowerCase() : text)
  const value = given === undefined ? undefined : cased(given)
  const isMatch = (own: string): boolean => {
    if (value === undefined) return true
    switch (groups.operator) {
      case '^':
        return value !== '' && own.startsWith(value)
      case '$':
        return value !== '' && own.endsWith(value)
      case '*':
        return value !== '' && own.includes(value)
      case '~':
        return value !== '' && own.split(/\s+/).includes(value)
      case '|':
        return own === value || own.startsWith(`${value}-`)
      default:
        return own === value
    }
  }
  return ({ attributes }, budget) => {
    const own = attributes[name]
    if (own === undefined) return false
    budget.count('matches', Math.floor(own.length / CHARACTERS_OF_COMPARISON))
    return isMatch(cased(own))
  }
}

/** Reads `odd`, `even`, `3`, `2n+1`, `-n + 3`. */
function stepsOf(text = ''): { every: number; from: number } | undefined {
  const plain = text.toLowerCase().replace(/\s+/g, '')
  if (plain === 'odd') return { every: 2, from: 1 }
  if (plain === 'even') return { every: 2, from: 0 }
  const [, every, from = '0', only] = /^(?:([+-]?\d{0,6})n([+-]\d{1,6})?|([+-]?\d{1,6}))$/.exec(plain) ?? []
  if (only !== undefined) return { every: 0, from: Number(only) }
  if (every === undefined) return undefined
  return { every: /^[+-]?$/.test(every) ? Number(`${every}1`) : Number(every), from: Number(from) }
}

const isStep = (place: number, { every, from }: { every: number; from: number }): boolean =>
  every === 0 ? place === from : (place - from) % every === 0 && (place - from) / every >= 0

function placeTest(pseudo: string, inside: string | undefined): Test | undefined {
  const [, kind, last, ofType] = /^(nth-(last-)?|first-|last-|only-)(?:child|(of-type))$/.exec(pseudo) ?? []
  if (kind === undefined) return inside === undefined ? stateTest(pseudo) : undefined
  const isOfType = ofType !== undefined
  const isFromEnd = last !== undefined || kind === 'last-'
  if (kind.startsWith('nth-')) {
    const steps = stepsOf(inside)
    return steps && (element => isStep(placeOf({ element, isOfType, isFromEnd }), steps))
  }
  if (inside !== undefined) return undefined
  if (kind === 'only-')
    return element => [false, true].every(end => placeOf({ element, isOfType, isFromEnd: end }) === 1)
  return element => placeOf({ element, isOfType, isFromEnd }) === 1
}

const stateTest = (pseudo: string): Test | undefined =>
  ({
    root: ({ parent }: HtmlElement) => parent === undefined,
    empty: ({ children }: HtmlElement) => children.length === 0,
    link: ({ tag, attributes }: HtmlElement) => tag === 'a' && attributes.href !== undefined,
    'any-link': ({ tag, attributes }: HtmlElement) => tag === 'a' && attributes.href !== undefined,
  })[pseudo]

type Place = { readonly at: number; readonly ofType: number }

/** The children of an element with their places among all and among those of the same tag, from 1. */
type Family = {
  readonly children: readonly HtmlElement[]
  readonly places: ReadonlyMap<HtmlElement, Place>
  readonly sizes: ReadonlyMap<string, number>
}

const families = new WeakMap<HtmlElement, Family>()

function familyOf(parent: HtmlElement): Family {
  const known = families.get(parent)
  if (known) return known
  const children = parent.children.filter(
    (child): child is HtmlElement => typeof child !== 'string' && child.tag !== GENERATED_TAG,
  )
  const sizes = new Map<string, number>()
  const places = new Map<HtmlElement, Place>()
  for (const [before, child] of children.entries()) {
    const ofType = (sizes.get(child.tag) ?? 0) + 1
    sizes.set(child.tag, ofType)
    places.set(child, { at: before + 1, ofType })
  }
  const family = { children, places, sizes }
  families.set(parent, family)
  return family
}

/** Returns the place of an element among its siblings, from 1. */
function placeOf({ element, isOfType, isFromEnd }: Asked): number {
  const { parent, index, tag } = element
  if (!parent) return 1
  if (!isOfType) return isFromEnd ? parent.size - index : index + 1
  const { places, sizes } = familyOf(parent)
  const place = places.get(element)?.ofType ?? 1
  return isFromEnd ? (sizes.get(tag) ?? 1) - place + 1 : place
}

type Asked = { element: HtmlElement; isOfType: boolean; isFromEnd: boolean }

/** A match, no match here, none for any sibling before, and none for anything further out. */
type Outcome = 'match' | 'here' | 'siblings' | 'all'

/**
 * Whether the selector matches the element. Counts comparisons against the budget, except the first, which the caller counts.
 * Throws a ConversionError at the limit.
 */
export function matches(element: HtmlElement, { parts }: Selector, budget: ConversionBudget): boolean {
  return matchesFrom(element, parts, 0, budget) === 'match'
}

/** A failure that an earlier candidate cannot change ends the search, so the work is that of one walk. */
function matchesFrom(
  element: HtmlElement,
  parts: readonly Part[],
  at: number,
  budget: ConversionBudget,
): Outcome {
  const { tests } = parts[at]!
  for (const [index, test] of tests.entries()) {
    // The caller has counted the first.
    if (index > 0) budget.count('matches')
    if (!test(element, budget)) return 'here'
  }
  const next = parts[at + 1]
  if (!next) return 'match'
  const { before } = parts[at]!
  const { parent } = element
  if (before === '>') {
    budget.count('matches')
    const outcome = parent ? matchesFrom(parent, parts, at + 1, budget) : 'all'
    // All siblings have the same parent.
    return outcome === 'here' ? 'siblings' : outcome
  }
  if (before === ' ') {
    for (let outer = parent; outer; outer = outer.parent) {
      budget.count('matches')
      const outcome = matchesFrom(outer, parts, at + 1, budget)
      if (outcome === 'match' || outcome === 'all') return outcome
    }
    return 'all'
  }
  if (!parent) return 'all'
  const { children, places } = familyOf(parent)
  for (let index = (places.get(element)?.at ?? 1) - 2; index >= 0; index -= 1) {
    const sibling = children[index]!
    budget.count('matches')
    const outcome = matchesFrom(sibling, parts, at + 1, budget)
    if (before === '+' || outcome !== 'here') return outcome
  }
  return before === '+' ? 'here' : 'siblings'
}

/** Splits the text, but not inside parentheses and quotes. Those that are not closed are ignored. */
export function splitOutside(text: string, cut: string): string[] {
  const ends = endsIn(text)
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at = (ends.get(at) ?? at) + 1)
    if (text[at] === cut) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  parts.push(text.slice(start))
  return parts
}

/** Returns the end of each string, which does not go beyond its line, and of each pair of parentheses, by its start. */
function endsIn(text: string): Map<number, number> {
  const ends = new Map<number, number>()
  const open: number[] = []
  for (const { 0: sign, index } of text.matchAll(/"[^"\n]*"|'[^'\n]*'|[()]/g))
    if (sign.length > 1) ends.set(index, index + sign.length - 1)
    else if (sign === '(') open.push(index)
    else if (open.length > 0) ends.set(open.pop()!, index)
  return ends
}
