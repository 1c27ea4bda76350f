import type { RenderingContext } from '../context.ts'
import { equal, type Filter, type Filters, isTrue, order } from '../evaluation.ts'
import { ITEM_WORK } from '../limits.ts'
import { asInteger, asNumber, asOperand, LiquidNumber, normalizeNumber, printedText } from '../values.ts'

/** Turns nil into an empty list, a map into its pairs, and any other single value into a list of one. */
function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (value === undefined || value === null) return []
  return typeof value === 'object' && !(value instanceof LiquidNumber) ? Object.entries(value) : [value]
}

/** Keeps a map as one item, not as pairs, so that `where` works on a single field group. */
const itemsOf = (value: unknown): unknown[] =>
  Array.isArray(value) || typeof value !== 'object' || value === null ? listOf(value) : [value]

/** Returns the member at a path such as `a.b`, or the item itself without a path. */
function memberOf(item: unknown, path: unknown, context: RenderingContext): unknown {
  if (path === undefined || path === null) return item
  return printedText(path)
    .split('.')
    .reduce((owner, name) => context.readProperty(owner, name), item)
}

type Test = (item: unknown) => boolean

/** `property` alone tests for a true value; `property, value` tests for an equal one. */
function tester(args: unknown[], context: RenderingContext): Test {
  const [property, expected] = args
  return item => {
    context.budget.countWork(ITEM_WORK)
    const member = memberOf(item, property, context)
    return args.length < 2 ? isTrue(member) : equal(member, expected, context)
  }
}

const search =
  (find: (items: unknown[], test: Test) => unknown): Filter =>
  (input, args, context) =>
    find(itemsOf(input), tester(args, context))

type Keyed = { item: unknown; key: unknown }

/** Sorts items by key, with items without a key last. */
function sortByKey(
  keyed: Keyed[],
  compare: (a: unknown, b: unknown) => number,
  context: RenderingContext,
): unknown[] {
  const compareKeyed = (a: Keyed, b: Keyed): number => {
    context.budget.countWork(ITEM_WORK + Math.min(textLength(a.key), textLength(b.key)))
    return compareMissing(a.key, b.key) ?? compare(a.key, b.key)
  }
  return keyed.sort(compareKeyed).map(({ item }) => item)
}

const sort: Filter = (input, [property], context) =>
  sortByKey(
    itemsOf(input).map(item => ({ item, key: memberOf(item, property, context) })),
    naturalOrder,
    context,
  )

const sortNatural: Filter = (input, [property], context) => {
  const keyed = itemsOf(input).map(item => {
    const member = memberOf(item, property, context)
    const key = member === undefined || member === null ? undefined : context.print(member).toLowerCase()
    context.budget.countMemory(textLength(key))
    return { item, key }
  })
  return sortByKey(keyed, (a, b) => (String(a) < String(b) ? -1 : Number(a !== b)), context)
}

const textLength = (value: unknown): number => (typeof value === 'string' ? value.length : 0)

function compareMissing(a: unknown, b: unknown): number | undefined {
  const [noA, noB] = [a === undefined || a === null, b === undefined || b === null]
  return noA || noB ? Number(noA) - Number(noB) : undefined
}

/** Orders numbers before text, so that every list has an order. */
function naturalOrder(a: unknown, b: unknown): number {
  const [numberA, numberB] = [asNumber(a) !== undefined, asNumber(b) !== undefined]
  if (numberA !== numberB) return numberA ? -1 : 1
  return order(a, b) ?? 0
}

const join: Filter = (input, args, context) => {
  const separator = args[0] === undefined ? ' ' : context.print(args[0])
  const parts = listOf(input).map(item => context.print(item))
  context.budget.countMemory(parts.reduce((size, part) => size + part.length + separator.length, 0))
  return parts.join(separator)
}

const sum: Filter = (input, [property], context) => {
  const numbers = itemsOf(input).map(item => {
    const member = memberOf(item, property, context)
    context.budget.countWork(ITEM_WORK + textLength(member))
    return asOperand(member)
  })
  const total = numbers.reduce((all, { value }) => all.plus(value), asOperand(0).value)
  const isWhole = numbers.every(({ whole }) => whole)
  return normalizeNumber(total, isWhole)
}

/** Keeps the first of equal values. Compares maps and lists by content. */
const uniq: Filter = (input, [property], context) => {
  const seen = new Map<string, unknown>()
  for (const item of itemsOf(input)) {
    const key = memberOf(item, property, context)
    const number = asNumber(key)
    const text = typeof key === 'object' ? `o${JSON.stringify(key)}` : `t${printedText(key)}`
    const identity = number ? `n${number}` : text
    context.budget.countWork(ITEM_WORK + identity.length)
    if (!seen.has(identity)) seen.set(identity, item)
  }
  return [...seen.values()]
}

/** `slice: begin, length` for text or a list. A negative `begin` counts from the end. */
const slice: Filter = (input, args, context) => {
  const whole = Array.isArray(input) ? input : context.print(input)
  const begin = asInteger(args[0]) ?? 0
  const length = args[1] === undefined ? 1 : (asInteger(args[1]) ?? 0)
  const from = begin < 0 ? whole.length + begin : begin
  return from < 0 || length <= 0 ? whole.slice(0, 0) : whole.slice(from, from + length)
}

const size: Filter = input => {
  if (typeof input === 'string') return input.length
  return typeof input === 'object' ? listOf(input).length : 0
}

/** Standard list filters. They compare like `==` and `<`. */
export const listFilters: Filters = {
  join,
  size,
  slice,
  sum,
  uniq,
  first: input => listOf(input)[0],
  last: input => listOf(input).at(-1),
  reverse: input => [...listOf(input)].reverse(),
  compact: (input, [property], context) =>
    itemsOf(input).filter(
      item => memberOf(item, property, context) !== null && memberOf(item, property, context) !== undefined,
    ),
  concat: (input, [other]) => [...itemsOf(input), ...itemsOf(other)],
  map: (input, [property], context) => itemsOf(input).map(item => memberOf(item, property, context)),
  sort,
  sort_natural: sortNatural,
  where: search((items, test) => items.filter(test)),
  reject: search((items, test) => items.filter(item => !test(item))),
  find: search((items, test) => items.find(test)),
  find_index: search((items, test) => {
    const index = items.findIndex(test)
    return index < 0 ? undefined : index
  }),
  has: search((items, test) => items.some(test)),
}
