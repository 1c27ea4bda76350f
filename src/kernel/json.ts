// JSON: reads text that comes from outside or may have been changed or truncated, and writes lists that may not fit into memory as
// text.

import { decimal } from './money.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Whether the value is an object of JSON: neither null nor a list. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns undefined when the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Parses like `JSON.parse`, but returns a number that a double cannot represent exactly as its source text. Everything that
 * accepts a number also accepts its text, which keeps every digit (brief 0.2, 0.4). Numbers with an exponent become doubles.
 */
export const exactJson = (text: string): unknown =>
  LONG_NUMBER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)

/** A shorter number is always exact as a double. The preceding character excludes digits within strings, e.g. account numbers. */
const LONG_NUMBER = /(?:^|[\s:,[])-?\d[\d.]{15}/

/** The third argument of a reviver is not yet in TypeScript's types. */
function exactNumber(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  if (!LONG_NUMBER.test(source) || !/^-?[\d.]+$/.test(source)) return value
  return Number.isFinite(value) && decimal(source).eq(decimal(value)) ? value : source
}

// Long lists: lists in a response whose text may not fit into memory. Their items are created while the text is written, and
// released.

/**
 * Replaces an array in a value that becomes JSON. `items` is called for each reading and must return the same items every time.
 */
export class LongList<T> {
  readonly items: () => Iterable<T>

  constructor(items: () => Iterable<T>) {
    this.items = items
  }

  toJSON(): T[] {
    return [...this.items()]
  }
}

/** Applies `change` to each item like `flatMap`. Returns the same kind of list. */
export function flatMapList<T, U>(
  list: readonly T[] | LongList<T>,
  change: (item: T) => readonly U[],
): U[] | LongList<U> {
  if (!(list instanceof LongList)) return list.flatMap(change)
  return new LongList(function* () {
    for (const item of list.items()) yield* change(item)
  })
}

/** Whether the value is a long list or contains one. Long lists within arrays do not count. */
export const isLong = (value: unknown): boolean => value instanceof LongList || hasLongLists(value)

const hasLongLists = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).some(isLong)

/**
 * Minimum length of a text, in UTF-16 units. Shorter pieces are joined, so that there is one call per text and not one per item.
 */
const LENGTH_OF_TEXT = 65_536

/**
 * Yields the text of `JSON.stringify` in parts. A part ends after an item of a long list or after a property of an object that
 * contains one.
 */
export function* jsonTexts(value: unknown): Generator<string> {
  let text = ''
  for (const piece of jsonPieces(value)) {
    text += piece
    if (text.length < LENGTH_OF_TEXT) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Returns the JSON, or undefined if it has more than `most` UTF-16 units. Stops building a long list at that length. */
export function jsonWithin(value: unknown, most: number): string | undefined {
  let text = ''
  for (const piece of jsonPieces(value)) {
    text += piece
    if (text.length > most) return undefined
  }
  return text
}

function* jsonPieces(value: unknown): Generator<string> {
  if (value instanceof LongList) {
    let mark = '['
    for (const item of value.items()) {
      yield mark
      yield* jsonPieces(item)
      mark = ','
    }
    yield mark === '[' ? '[]' : ']'
  } else if (hasLongLists(value)) {
    let mark = '{'
    for (const [name, one] of Object.entries(value)) {
      if (one === undefined) continue
      yield `${mark}${JSON.stringify(name)}:`
      yield* jsonPieces(one)
      mark = ','
    }
    yield '}'
  } else yield JSON.stringify(value) ?? 'null'
}
