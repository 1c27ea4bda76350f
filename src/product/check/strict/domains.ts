// The values that a part of the data can have. Conditions of a template narrow them, branch by branch.
import type { LookupTable } from '../../configuration.ts'
import type { DataNode } from '../../templates/data-tree.ts'

/** The numbers from `low` to `high`. An open end is excluded. */
export type Interval = {
  readonly low: number
  readonly high: number
  readonly isLowOpen: boolean
  readonly isHighOpen: boolean
}

/**
 * The possible values. `canBeAbsent` is whether there may be none. `step` is the distance between neighbouring numbers, unless they
 * form a continuum.
 */
export type Domain = { readonly canBeAbsent: boolean } & (
  | { readonly kind: 'words'; readonly words: ReadonlySet<string> }
  | { readonly kind: 'numbers'; readonly parts: readonly Interval[]; readonly step: number | undefined }
  /** Any value: only presence is known. */
  | { readonly kind: 'anything'; readonly canBePresent: boolean }
)

const EVERYTHING: Interval = {
  low: Number.NEGATIVE_INFINITY,
  high: Number.POSITIVE_INFINITY,
  isLowOpen: true,
  isHighOpen: true,
}

export const anyNumber: Domain = {
  kind: 'numbers',
  parts: [EVERYTHING],
  step: undefined,
  canBeAbsent: false,
}

/** The most values that are enumerated; a larger list or table is not. */
const MOST_WORDS = 2_000

/** Returns the domain of a part of the data. `tableOf` returns the table of a lookup field. */
export function domainOf(
  { type, values, fields = [], isOptional }: DataNode,
  tableOf: (name: string) => LookupTable | undefined,
): Domain {
  const canBeAbsent = isOptional === true
  if (values && values.length <= MOST_WORDS) return { kind: 'words', words: new Set(values), canBeAbsent }
  if (fields.length > 0 && fields.every(one => one.type === 'lookup')) {
    const tables = fields.map(one => (one.table === undefined ? undefined : tableOf(one.table)))
    const words = new Set(tables.flatMap((table, at) => (table ? keysOf(table, fields[at]!.name) : [])))
    if (words.size > 0 && words.size <= MOST_WORDS && !tables.includes(undefined))
      return { kind: 'words', words, canBeAbsent }
  }
  const isNumber = type === 'number' || type === 'amount' || type === 'timestamp'
  if (!isNumber) return { kind: 'anything', canBePresent: true, canBeAbsent }
  const ofNumbers = fields.filter(one => one.type === 'number')
  if (fields.length === 0 || ofNumbers.length < fields.length) return { ...anyNumber, canBeAbsent }
  const bounds = ofNumbers.map(one => ({
    low: one.minimum === undefined ? Number.NEGATIVE_INFINITY : Number(one.minimum),
    high: one.maximum === undefined ? Number.POSITIVE_INFINITY : Number(one.maximum),
    step: one.decimalPlaces === undefined ? undefined : 10 ** -one.decimalPlaces,
  }))
  const [{ step }] = bounds as [(typeof bounds)[number]]
  const low = Math.min(...bounds.map(one => one.low))
  const high = Math.max(...bounds.map(one => one.high))
  const whole = {
    low,
    high,
    isLowOpen: low === Number.NEGATIVE_INFINITY,
    isHighOpen: high === Number.POSITIVE_INFINITY,
  }
  return {
    kind: 'numbers',
    parts: [whole],
    step: bounds.every(one => one.step === step) ? step : undefined,
    canBeAbsent,
  }
}

/** The values that a lookup field can have (fields/value-checks.ts): the column with its name, or else the first one. */
const keysOf = ({ columns, rows }: LookupTable, name: string): string[] => {
  const column = Math.max(0, columns.indexOf(name))
  return rows.map(row => row[column]!)
}

/** Whether nothing remains, neither a value nor its absence: a path with such a domain is never taken. */
export const isEmpty = (domain: Domain): boolean => !domain.canBeAbsent && !canHaveValue(domain)

/** Whether the domain contains any value. */
export function canHaveValue(domain: Domain): boolean {
  if (domain.kind === 'words') return domain.words.size > 0
  return domain.kind === 'numbers' ? domain.parts.length > 0 : domain.canBePresent
}

/** The part of the domain without a value. */
export function onlyAbsent(domain: Domain): Domain {
  const { canBeAbsent } = domain
  return { kind: 'anything', canBePresent: false, canBeAbsent }
}

/** The part of the domain with a value; empty if it has none. */
export const onlyPresent = (domain: Domain): Domain => ({ ...domain, canBeAbsent: false })

/** The union of both domains; the order of words is kept. */
export function union(a: Domain, b: Domain): Domain {
  const canBeAbsent = a.canBeAbsent || b.canBeAbsent
  if (!canHaveValue(a)) return { ...b, canBeAbsent }
  if (!canHaveValue(b)) return { ...a, canBeAbsent }
  if (a.kind === 'words' && b.kind === 'words')
    return { kind: 'words', words: new Set([...a.words, ...b.words]), canBeAbsent }
  if (a.kind === 'numbers' && b.kind === 'numbers')
    return {
      kind: 'numbers',
      parts: joinIntervals([...a.parts, ...b.parts], a.step),
      step: a.step,
      canBeAbsent,
    }
  return { kind: 'anything', canBePresent: true, canBeAbsent }
}

export type Literal = string | number

const asNumber = (value: Literal): number | undefined => {
  if (typeof value === 'number') return value
  return NUMBER.test(value) ? Number(value) : undefined
}

/** A number as the arithmetic of templates reads it (packages/liquid/values.ts). */
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)\s*$/

/** Whether arithmetic of templates reads the text as a number: blanks around it and a sign are accepted, an exponent is not. */
export const isNumeric = (text: string): boolean => NUMBER.test(text)

/** Compares as templates do: numbers by value, even if they are text. */
export function areEqual(a: Literal, b: Literal): boolean {
  if (a === b) return true
  const [left, right] = [asNumber(a), asNumber(b)]
  return left !== undefined && left === right
}

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

/**
 * Returns the parts of the domain for which the comparison with the literal holds and fails. With an absent value, every comparison
 * but `!=` fails.
 */
export function splitByComparison(
  domain: Domain,
  operator: Comparison,
  literal: Literal,
): { readonly holds: Domain; readonly fails: Domain } {
  if (operator === '!=') {
    const { holds, fails } = splitByComparison(domain, '==', literal)
    return { holds: fails, fails: holds }
  }
  const { canBeAbsent } = domain
  if (domain.kind === 'words') {
    if (operator !== '==') return { holds: onlyPresent(domain), fails: domain }
    const [same, others] = [new Set<string>(), new Set<string>()]
    for (const word of domain.words) (areEqual(word, literal) ? same : others).add(word)
    return {
      holds: { kind: 'words', words: same, canBeAbsent: false },
      fails: { kind: 'words', words: others, canBeAbsent },
    }
  }
  const number = asNumber(literal)
  if (domain.kind === 'anything' || number === undefined) return { holds: onlyPresent(domain), fails: domain }
  const where = intervalOf(operator, number)
  const { parts, step } = domain
  return {
    holds: { kind: 'numbers', parts: intersection(parts, [where], step), step, canBeAbsent: false },
    fails: { kind: 'numbers', parts: difference(parts, [where], step), step, canBeAbsent },
  }
}

/** Returns the numbers `x` for which `x operator number` holds. */
export function intervalOf(operator: Exclude<Comparison, '!='>, number: number): Interval {
  if (operator === '==') return { low: number, high: number, isLowOpen: false, isHighOpen: false }
  if (operator === '<' || operator === '<=')
    return { ...EVERYTHING, high: number, isHighOpen: operator === '<' }
  return { ...EVERYTHING, low: number, isLowOpen: operator === '>' }
}

const isEmptyInterval = ({ low, high, isLowOpen, isHighOpen }: Interval): boolean =>
  low > high || (low === high && (isLowOpen || isHighOpen))

/** Rounds to twelve digits. Most values are whole numbers that have fewer, and formatting them would take most of the search. */
const rounded = (value: number): number =>
  // Like parsing, adding 0 makes -0 positive.
  Number.isInteger(value) && Math.abs(value) < 1e12 ? value + 0 : Number(value.toPrecision(12))

/** Closes the open ends of an interval on a grid by moving them to the neighbouring value. */
function snapToGrid(interval: Interval, step: number | undefined): Interval {
  if (step === undefined) return interval
  const { low, high, isLowOpen, isHighOpen } = interval
  const up = Number.isFinite(low) ? rounded(Math.ceil(rounded(low / step)) * step) : low
  const down = Number.isFinite(high) ? rounded(Math.floor(rounded(high / step)) * step) : high
  return {
    low: isLowOpen && up === low && Number.isFinite(low) ? rounded(low + step) : up,
    high: isHighOpen && down === high && Number.isFinite(high) ? rounded(high - step) : down,
    isLowOpen: isLowOpen && !Number.isFinite(low),
    isHighOpen: isHighOpen && !Number.isFinite(high),
  }
}

/**
 * Returns the numbers that are in both lists of intervals, neither sorted nor joined. With a `step`, moves finite ends inwards to
 * multiples of it and closes them.
 */
export function intersection(
  a: readonly Interval[],
  b: readonly Interval[],
  step: number | undefined,
): Interval[] {
  return a.flatMap(one =>
    b.flatMap(other => {
      const low = Math.max(one.low, other.low)
      const high = Math.min(one.high, other.high)
      const isLowOpen = (one.low === low && one.isLowOpen) || (other.low === low && other.isLowOpen)
      const isHighOpen = (one.high === high && one.isHighOpen) || (other.high === high && other.isHighOpen)
      const both = snapToGrid({ low, high, isLowOpen, isHighOpen }, step)
      return isEmptyInterval(both) ? [] : [both]
    }),
  )
}

/**
 * Returns the numbers of `a` that are in no interval of `b`. With a `step`, the ends are multiples of it, as for `intersection`.
 */
export function difference(
  a: readonly Interval[],
  b: readonly Interval[],
  step: number | undefined,
): Interval[] {
  return b.reduce<Interval[]>(
    (rest, { low, high, isLowOpen, isHighOpen }) => {
      const below = { ...EVERYTHING, high: low, isHighOpen: !isLowOpen }
      const above = { ...EVERYTHING, low: high, isLowOpen: !isHighOpen }
      return [...intersection(rest, [below], step), ...intersection(rest, [above], step)]
    },
    [...a],
  )
}

/** Sorts the intervals and joins those that overlap or touch. */
export function joinIntervals(parts: readonly Interval[], step: number | undefined): Interval[] {
  const sorted = [...parts].sort((a, b) => a.low - b.low || Number(a.isLowOpen) - Number(b.isLowOpen))
  const result: Interval[] = []
  for (const one of sorted) {
    const last = result.at(-1)
    const touches =
      last !== undefined &&
      (one.low < last.high ||
        (one.low === last.high && !(one.isLowOpen && last.isHighOpen)) ||
        (step !== undefined && one.low <= rounded(last.high + step)))
    if (!touches) result.push(one)
    else if (one.high > last.high || (one.high === last.high && !one.isHighOpen))
      result[result.length - 1] = { ...last, high: one.high, isHighOpen: one.isHighOpen }
  }
  return result
}

/** Formats an interval, such as `9000`, `9000 to 15000` or `above 9000`. */
export function shownInterval({ low, high, isLowOpen, isHighOpen }: Interval): string {
  if (low === high) return String(low)
  if (!Number.isFinite(low)) return `${isHighOpen ? 'below' : 'up to'} ${high}`
  if (!Number.isFinite(high)) return `${isLowOpen ? 'above' : 'from'} ${low}`
  return `${isLowOpen ? 'above ' : ''}${low} to ${isHighOpen ? 'below ' : ''}${high}`
}
