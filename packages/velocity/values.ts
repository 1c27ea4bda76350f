// Values of Velocity: truth, comparison and printing.
import Big from 'big.js'
import { ITEM_WORK, type RenderBudget, TemplateError } from '../liquid/limits.ts'
import { firstPlace, lastPlace, splitBy } from '../liquid/search.ts'
import { asInteger, asNumber, LiquidNumber, namesOf, normalizeNumber } from '../liquid/values.ts'
import { memberOf, readable, TextNumber } from './data.ts'
import type { Operator } from './expression.ts'

/** The number of characters that an item of a list or map counts as. */
export const ITEM_MEMORY = 4

type MapValue = Readonly<Record<string, unknown>>

/** Whether Velocity reads the value as a map: any object that is neither a list nor a number. */
export const isMap = (value: unknown): value is MapValue =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LiquidNumber)

/** Nil, false, zero and empty values are false, as in Velocity 2. */
export function isTrue(value: unknown, budget: RenderBudget): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return false
  if (value instanceof LiquidNumber) return !value.value.eq(0)
  if (Array.isArray(value)) return value.length > 0
  return !isMap(value) || namesOf(value, budget).length > 0
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || value instanceof LiquidNumber

/** Compares numbers by value, also with numeric text, and booleans also with their text. Compares everything else by identity. */
export function equal(left: unknown, right: unknown, budget: RenderBudget): boolean {
  if (typeof left === 'string' && typeof right === 'string')
    budget.countWork(Math.min(left.length, right.length))
  if (isNumber(left) || isNumber(right)) {
    const [a, b] = [asNumber(left), asNumber(right)]
    return a !== undefined && b !== undefined && a.value.eq(b.value)
  }
  return comparable(left) === comparable(right)
}

/** Velocity compares values of two kinds by their printed text: `true` equals `"true"`. */
const comparable = (value: unknown): unknown => (typeof value === 'boolean' ? `${value}` : (value ?? null))

/** Negative, zero or positive. Undefined if the two values have no order. */
function order(left: unknown, right: unknown, budget: RenderBudget): number | undefined {
  const [a, b] = [asNumber(left), asNumber(right)]
  if (a && b) return a.value.cmp(b.value)
  if (typeof left !== 'string' || typeof right !== 'string') return undefined
  budget.countWork(Math.min(left.length, right.length))
  return Number(left > right) - Number(left < right)
}

/** Comparison operators, by the sign of the difference. */
const ORDERED: Partial<Record<Operator, (difference: number) => boolean>> = {
  '<': difference => difference < 0,
  '>': difference => difference > 0,
  '<=': difference => difference <= 0,
  '>=': difference => difference >= 0,
}

/** The number of decimal places of a quotient. */
const QUOTIENT_PLACES = 16

/**
 * `+` joins texts and adds numbers. The other operators treat numeric text as a number, because amounts of the contract are
 * text. Results are exact, and a whole number divided by a whole number is whole, as in Velocity. Returns nothing if an operand
 * is not a number, or for a division by zero.
 */
export function calculate(operator: Operator, left: unknown, right: unknown, budget: RenderBudget): unknown {
  if (operator === '==') return equal(left, right, budget)
  if (operator === '!=') return !equal(left, right, budget)
  const holds = ORDERED[operator]
  if (holds) {
    const difference = order(left, right, budget)
    return difference !== undefined && holds(difference)
  }
  if (operator === '+' && (typeof left === 'string' || typeof right === 'string')) {
    const text = printed(left, budget) + printed(right, budget)
    budget.countMemory(text.length)
    return text
  }
  const [a, b] = [asNumber(left), asNumber(right)]
  if (!a || !b) return undefined
  const isWhole = a.whole && b.whole
  budget.countWork(ITEM_WORK)
  if (operator === '+') return normalizeNumber(a.value.plus(b.value), isWhole)
  if (operator === '-') return normalizeNumber(a.value.minus(b.value), isWhole)
  if (operator === '*') return normalizeNumber(a.value.times(b.value), isWhole)
  if (b.value.eq(0)) return undefined
  if (operator === '%') return normalizeNumber(a.value.mod(b.value), isWhole)
  const quotient = a.value.div(b.value)
  return normalizeNumber(
    quotient.round(isWhole ? 0 : QUOTIENT_PLACES, isWhole ? Big.roundDown : undefined),
    isWhole,
  )
}

/** The maximum depth of nested lists and maps that print. */
const DEEPEST = 50

/** Prints lists as `[a, b]` and maps as `{k=v}`. The length is counted while the text is built. */
export function printed(value: unknown, budget: RenderBudget, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return 'null'
  if (!Array.isArray(value) && !isMap(value)) return String(value)
  if (depth > DEEPEST)
    throw new TemplateError(
      'templateLimit',
      `Lists and maps nested deeper than ${DEEPEST} cannot be printed.`,
    )
  const item = (one: unknown): string => {
    const text = printed(readable(one), budget, depth + 1)
    budget.countWork(ITEM_WORK)
    budget.countMemory(text.length)
    return text
  }
  return Array.isArray(value)
    ? `[${value.map(item).join(', ')}]`
    : `{${namesOf(value, budget)
        .map(key => `${key}=${item(value[key])}`)
        .join(', ')}}`
}

// The methods that templates may call (resources brief 12.2), and no others. Inherited members are out of reach, so that
// `getClass` and the like return nothing.
type Method<Owner> = (owner: Owner, args: readonly unknown[], budget: RenderBudget) => unknown
type Methods<Owner> = Readonly<Record<string, Method<Owner>>>

/** Returns the index, clamped to the length. */
const within = (index: unknown, length: number, otherwise: number): number =>
  Math.min(length, Math.max(0, asInteger(index) ?? otherwise))

const TEXT: Methods<string> = {
  substring: (owner, [from, to]) =>
    owner.substring(within(from, owner.length, 0), within(to, owner.length, owner.length)),
  length: owner => owner.length,
  toUpperCase: owner => owner.toUpperCase(),
  toLowerCase: owner => owner.toLowerCase(),
  trim: owner => owner.trim(),
  replace: (owner, [from, to], budget) => {
    const sought = printed(from, budget)
    if (sought === '') return owner
    const parts = splitBy(owner, sought)
    const by = printed(to, budget)
    budget.countMemory(parts.length * by.length)
    return parts.join(by)
  },
  /** Splits by the text itself, not by a pattern, except that a backslash escapes a symbol. Drops empty parts at the end. */
  split: (owner, [separator], budget) => {
    const parts = splitBy(owner, printed(separator, budget).replace(/^\\([^\w\s])$/, '$1'))
    budget.countMemory(parts.length)
    while (parts.length > 1 && parts.at(-1) === '') parts.pop()
    return parts
  },
  contains: (owner, [part], budget) => firstPlace(owner, printed(part, budget)) >= 0,
  startsWith: (owner, [part], budget) => owner.startsWith(printed(part, budget)),
  endsWith: (owner, [part], budget) => owner.endsWith(printed(part, budget)),
  indexOf: (owner, [part], budget) => firstPlace(owner, printed(part, budget)),
  lastIndexOf: (owner, [part], budget) => lastPlace(owner, printed(part, budget)),
  charAt: (owner, [index]) => owner[asInteger(index) ?? -1],
  concat: (owner, [other], budget) => owner + printed(other, budget),
  equals: (owner, [other]) => owner === other,
  equalsIgnoreCase: (owner, [other]) =>
    typeof other === 'string' && owner.toLowerCase() === other.toLowerCase(),
  isEmpty: owner => owner === '',
  toString: (owner: string) => owner,
}

function indexOf(list: readonly unknown[], item: unknown, budget: RenderBudget): number {
  budget.countWork(list.length * ITEM_WORK)
  return list.findIndex(one => equal(readable(one), item, budget))
}

const LIST: Methods<readonly unknown[]> = {
  get: (owner, [index]) => readable(owner[asInteger(index) ?? -1]),
  size: owner => owner.length,
  isEmpty: owner => owner.length === 0,
  contains: (owner, [item], budget) => indexOf(owner, item, budget) >= 0,
  indexOf: (owner, [item], budget) => indexOf(owner, item, budget),
  equals: (owner, [other]) => owner === other,
}

const keys = (map: MapValue, budget: RenderBudget): string[] => {
  const found = namesOf(map, budget)
  budget.countMemory(found.length)
  return found
}

const MAP: Methods<MapValue> = {
  get: (owner, [key], budget) => memberOf(owner, printed(key, budget)),
  getOrDefault: (owner, [key, otherwise], budget) => memberOf(owner, printed(key, budget)) ?? otherwise,
  containsValue: (owner, [value], budget) =>
    keys(owner, budget).some(key => equal(memberOf(owner, key), value, budget)),
  containsKey: (owner, [key], budget) => Object.hasOwn(owner, printed(key, budget)),
  keySet: (owner, _args, budget) => keys(owner, budget),
  values: (owner, _args, budget) => keys(owner, budget).map(key => memberOf(owner, key)),
  entrySet: (owner, _args, budget) => keys(owner, budget).map(key => ({ key, value: memberOf(owner, key) })),
  size: (owner, _args, budget) => namesOf(owner, budget).length,
  isEmpty: (owner, _args, budget) => namesOf(owner, budget).length === 0,
  equals: (owner, [other]) => owner === other,
  /** For `$foreach`, where it is also a method. */
  hasNext: owner => memberOf(owner, 'hasNext'),
  /** For entries of `entrySet`. */
  getKey: owner => memberOf(owner, 'key'),
  getValue: owner => memberOf(owner, 'value'),
}

const OTHER: Methods<unknown> = {
  equals: (owner, [other], budget) => equal(owner, other, budget),
  toString: (owner: unknown, _args: readonly unknown[], budget: RenderBudget) => printed(owner, budget),
}

const NUMBER: Methods<unknown> = {
  ...OTHER,
  intValue: owner => asInteger(owner),
  longValue: owner => asInteger(owner),
  doubleValue: owner => owner,
}

/** `getName()` and `isNew()` for a map with `name` and `new`, as on a Java object. */
function getter(owner: MapValue, name: string, args: readonly unknown[]): unknown {
  const property = args.length === 0 ? /^(?:get|is)([A-Z].*)$/.exec(name)?.[1] : undefined
  return property && memberOf(owner, property[0]!.toLowerCase() + property.slice(1))
}

/** Calls a method that changes nothing. Returns undefined for an unknown method. */
export function callMethod(owner: unknown, name: string, args: readonly unknown[], budget: RenderBudget) {
  const use = <Owner>(methods: Methods<Owner>, value: Owner): unknown => {
    if (!Object.hasOwn(methods, name)) return undefined
    if (typeof value === 'string') budget.countWork(value.length)
    const made = methods[name]!(value, args, budget)
    if (typeof made === 'string') budget.countMemory(made.length)
    return made
  }
  if (owner === undefined || owner === null) return undefined
  if (typeof owner === 'string') return use(TEXT, owner)
  if (Array.isArray(owner)) return use(LIST, owner)
  if (isMap(owner)) return Object.hasOwn(MAP, name) ? use(MAP, owner) : getter(owner, name, args)
  if (typeof owner === 'boolean') return use(OTHER, owner)
  if (owner instanceof TextNumber && !Object.hasOwn(NUMBER, name)) return use(TEXT, `${owner}`)
  return asNumber(owner) ? use(NUMBER, owner) : undefined
}

// Methods that change the template's own list or map. As in Java, `add` returns true, and `put`, `set` and `remove` return the
// previous value.
const LIST_CHANGES: Methods<unknown[]> = {
  add: (owner, [item], budget) => {
    budget.countMemory(ITEM_MEMORY)
    owner.push(item)
    return true
  },
  addAll: (owner, [items], budget) => {
    if (!Array.isArray(items)) return undefined
    budget.countMemory(items.length * ITEM_MEMORY)
    for (const item of [...items]) owner.push(readable(item))
    return items.length > 0
  },
  set: (owner, [at, item]) => {
    const index = asInteger(at) ?? -1
    if (index < 0 || index >= owner.length) return undefined
    const [before] = owner.splice(index, 1, item)
    return before
  },
  remove: (owner, [at], budget) => {
    budget.countWork(owner.length * ITEM_WORK)
    const index = asInteger(at) ?? owner.findIndex(one => equal(one, at, budget))
    return index < 0 ? undefined : owner.splice(index, 1)[0]
  },
  clear: owner => void owner.splice(0),
}

type OwnMap = Record<string, unknown>

const MAP_CHANGES: Methods<OwnMap> = {
  put: (owner, [key, value], budget) => {
    const name = printed(key, budget)
    budget.countMemory(ITEM_MEMORY + name.length)
    const before = owner[name]
    owner[name] = value
    return before
  },
  putAll: (owner, [other], budget) => {
    if (!isMap(other)) return
    const names = namesOf(other, budget)
    budget.countMemory(names.length * ITEM_MEMORY)
    for (const key of names) owner[key] = memberOf(other, key)
  },
  remove: (owner, [key], budget) => {
    const name = printed(key, budget)
    const before = owner[name]
    delete owner[name]
    return before
  },
  clear: owner => {
    for (const key of Object.keys(owner)) delete owner[key]
  },
}

/** Whether the method changes the value. */
export const isChange = (owner: unknown, name: string): owner is object =>
  Array.isArray(owner) ? Object.hasOwn(LIST_CHANGES, name) : isMap(owner) && Object.hasOwn(MAP_CHANGES, name)

/** `owner` is the template's own list or map, which has no prototype that a key could reach. */
export function callChange(owner: object, name: string, args: readonly unknown[], budget: RenderBudget) {
  if (Array.isArray(owner)) return LIST_CHANGES[name]!(owner, args, budget)
  return MAP_CHANGES[name]!(owner as OwnMap, args, budget)
}
