// Lists of an answer that together may be longer than memory holds as text: their items are made when the text is, and let go.

/** In the place of an array in a value that becomes JSON. `items` is called for each reading, and gives the same items. */
export class LongList<T> {
  readonly items: () => Iterable<T>

  constructor(items: () => Iterable<T>) {
    this.items = items
  }

  toJSON(): T[] {
    return [...this.items()]
  }
}

/** What `change` makes of each item, in the same form of list. */
export function changedList<T, U>(
  list: readonly T[] | LongList<T>,
  change: (item: T) => readonly U[],
): U[] | LongList<U> {
  if (!(list instanceof LongList)) return list.flatMap(change)
  return new LongList(function* () {
    for (const item of list.items()) yield* change(item)
  })
}

/** Whether it is a long list or has some, not counting those within arrays. */
export const isLong = (value: unknown): boolean => value instanceof LongList || hasLongLists(value)

const hasLongLists = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).some(isLong)

/** In UTF-16 units, at least. Shorter pieces are joined: there is one call for each text, not for each item. */
const LENGTH_OF_TEXT = 65_536

/** The text of `JSON.stringify` in several: each ends where an item of a long list does, or a property beside one. */
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

/** The JSON, unless it has more than so many UTF-16 units: then undefined, and of a long value no more than that was made. */
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
