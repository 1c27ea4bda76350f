// `calc()`, `min()`, `max()` and `clamp()` of CSS: sums of lengths and percentages, times and divided by numbers.
import type { Length } from './values.ts'

/** A number without a unit, or a length. */
type Value = { readonly number: number } | Length

const TOKEN =
  /\s*(?:([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:%|[a-z]*))|(?:(min|max|clamp)|calc|-webkit-calc|-moz-calc)?(\()|([)*/+,-]))/iy

/** Parentheses within one another. */
const DEEPEST = 20

export const isCalc = (text: string): boolean => /^(?:(?:-webkit-|-moz-)?calc|min|max|clamp)\(/i.test(text)

/** `lengthOf` returns the points of a length with a unit. Undefined for anything that has no meaning, as in browsers. */
export function calcOf(text: string, lengthOf: (text: string) => number | undefined): Length | undefined {
  const tokens = tokensOf(text)
  let at = 0
  const sum = (depth: number): Value | undefined => {
    let left = product(depth)
    while (left && (tokens[at] === '+' || tokens[at] === '-')) {
      const sign = tokens[at] === '+' ? 1 : -1
      at += 1
      const right = product(depth)
      left = right && added(left, right, sign)
    }
    return left
  }
  const product = (depth: number): Value | undefined => {
    let left = one(depth)
    while (left && (tokens[at] === '*' || tokens[at] === '/')) {
      const isProduct = tokens[at] === '*'
      at += 1
      const right = one(depth)
      left = right && (isProduct ? multiplied(left, right) : divided(left, right))
    }
    return left
  }
  const one = (depth: number): Value | undefined => {
    const token = tokens[at]
    at += 1
    if (token === undefined || depth > DEEPEST) return undefined
    if (isChoice(token)) return choice(token, depth)
    if (token !== '(') return valueFor(token, lengthOf)
    const inside = sum(depth + 1)
    if (tokens[at] !== ')') return undefined
    at += 1
    return inside
  }
  const choice = (name: Choice, depth: number): Value | undefined => {
    const given: Value[] = []
    do {
      const value = sum(depth + 1)
      if (!value) return undefined
      given.push(value)
      at += 1
    } while (tokens[at - 1] === ',')
    return tokens[at - 1] === ')' ? chosen(name, given) : undefined
  }
  const value = sum(1)
  if (!value || at < tokens.length || 'number' in value) return undefined
  return Number.isFinite(value.percent) && Number.isFinite(value.points) ? value : undefined
}

type Choice = 'min' | 'max' | 'clamp'

const isChoice = (token: string): token is Choice => token === 'min' || token === 'max' || token === 'clamp'

/** Percentages are compared with lengths in a room of this many points, about that of a page's text. */
export const USUAL_ROOM = 500

function chosen(name: Choice, given: readonly Value[]): Value | undefined {
  const isNumber = (value: Value): boolean => 'number' in value
  if (given.some(value => isNumber(value) !== isNumber(given[0]!))) return undefined
  const sizeOf = (value: Value): number =>
    'number' in value ? value.number : value.points + (value.percent * USUAL_ROOM) / 100
  const least = (values: readonly Value[]): Value => values.reduce((a, b) => (sizeOf(b) < sizeOf(a) ? b : a))
  const most = (values: readonly Value[]): Value => values.reduce((a, b) => (sizeOf(b) > sizeOf(a) ? b : a))
  if (name === 'min') return least(given)
  if (name === 'max') return most(given)
  const [lower, value, upper] = given
  return given.length === 3 ? most([lower!, least([value!, upper!])]) : undefined
}

/** A sign belongs to a number only where a value begins: `2px -1px` is no sum, and `2px - 1px` is. */
function tokensOf(text: string): string[] {
  const tokens: string[] = []
  const end = text.trimEnd().length
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const found = TOKEN.exec(text)
    if (!found) return []
    tokens.push(found[1] ?? found[2]?.toLowerCase() ?? found[3] ?? found[4]!)
  }
  return tokens
}

function valueFor(token: string, lengthOf: (text: string) => number | undefined): Value | undefined {
  const plain = Number(token)
  if (Number.isFinite(plain)) return { number: plain }
  if (token.endsWith('%')) return { percent: Number.parseFloat(token), points: 0 }
  const points = lengthOf(token)
  return points === undefined ? undefined : { percent: 0, points }
}

function added(left: Value, right: Value, sign: number): Value | undefined {
  if ('number' in left) return 'number' in right ? { number: left.number + sign * right.number } : undefined
  if ('number' in right) return undefined
  return { percent: left.percent + sign * right.percent, points: left.points + sign * right.points }
}

function multiplied(left: Value, right: Value): Value | undefined {
  if ('number' in left)
    return 'number' in right ? { number: left.number * right.number } : multiplied(right, left)
  if (!('number' in right)) return undefined
  return { percent: left.percent * right.number, points: left.points * right.number }
}

const divided = (left: Value, right: Value): Value | undefined =>
  'number' in right && right.number !== 0 ? multiplied(left, { number: 1 / right.number }) : undefined
