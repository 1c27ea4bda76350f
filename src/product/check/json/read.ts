/** Keys and indexes, starting at the root. */
export type JsonPath = readonly PropertyKey[]

type TextPosition = { line: number; column: number }

type JsonDocument = {
  /** Its objects have no prototype, so that `__proto__` is an ordinary key. */
  value: unknown
  /** Keys that occur more than once in an object; the last one counts. */
  duplicates: JsonPath[]
  /** The position of a value, or of its key if it is a property. For an unknown path, that of the nearest enclosing value. */
  positionOf: (path: JsonPath) => TextPosition
}

type JsonProblem = TextPosition & { message: string }

/** Limits of nesting and of the number of values. Real files stay far below them. */
const DEEPEST = 64
const MOST_VALUES = 200_000

class Malformed extends Error {
  readonly offset: number
  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

/** Parses JSON (RFC 8259) with the positions of all values. */
export function readJson(text: string): JsonDocument | JsonProblem {
  const positions: Positions = new Map()
  const duplicates: JsonPath[] = []
  const textPosition = lineIndex(text)
  try {
    const value = parse(text, positions, duplicates)
    return { value, duplicates, positionOf: path => textPosition(offsetOf(value, positions, path)) }
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    return { ...textPosition(error.offset), message: error.message }
  }
}

function offsetOf(root: unknown, positions: Positions, path: JsonPath): number {
  let offset = 0
  let value = root
  for (const key of path) {
    const known = typeof value === 'object' && value !== null ? positions.get(value)?.get(key) : undefined
    if (known === undefined) break
    offset = known
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return offset
}

/** Returns a function that converts offsets to lines and columns. Indexes the lines at its first call. */
export function lineIndex(text: string): (offset: number) => TextPosition {
  let starts: number[] | undefined
  return offset => {
    if (starts === undefined) {
      starts = [0]
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    }
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - starts[low]! + 1 }
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const BLANKS = /[ \t\n\r]*/y
const QUOTE_MARKS = /[\p{Pi}\p{Pf}\u201a\u201e\uff02]/u
const INVISIBLE = /[\p{Z}\p{Cf}\p{Cc}]/u
const codePointName = (char: string): string =>
  `U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
const WORDS = { true: true, false: false, null: null } as const

/** Offsets of the members of each list and object. */
type Positions = Map<object, Map<PropertyKey, number>>

function parse(text: string, positions: Positions, duplicates: JsonPath[]): unknown {
  let at = 0
  let values = 0
  const path: PropertyKey[] = []

  const skipBlanks = (): void => {
    BLANKS.lastIndex = at
    BLANKS.test(text)
    at = BLANKS.lastIndex
    if (text[at] === '/') refuseComment()
    else if (text.charCodeAt(at) > 0x7f) refuseTypography()
  }
  const describeNextCharacter = (): string => (at >= text.length ? 'the end of the file' : `'${text[at]}'`)
  const refuseComment = (): void => {
    if (text.startsWith('//', at) || text.startsWith('/*', at))
      throw new Malformed(at, 'JSON has no comments. Remove this one.')
  }

  /** Text editors and web pages put these characters in place of blanks and quotes. The blanks cannot be seen in a message. */
  const refuseTypography = (): void => {
    const char = text[at]!
    if (QUOTE_MARKS.test(char))
      throw new Malformed(at, `Text must be in straight double quotes ("), not in '${char}'.`)
    if (INVISIBLE.test(char))
      throw new Malformed(at, `Replace the invisible character ${codePointName(char)} here by a blank.`)
  }

  function readValue(): unknown {
    values += 1
    if (values > MOST_VALUES) throw new Malformed(at, `The file has more than ${MOST_VALUES} values.`)
    if (path.length > DEEPEST) throw new Malformed(at, `The file is nested deeper than ${DEEPEST} levels.`)
    const char = text[at]
    if (char === '{') return readObject()
    if (char === '[') return readArray()
    if (char === '"') return readText()
    for (const word of ['true', 'false', 'null'] as const)
      if (text.startsWith(word, at)) {
        at += word.length
        return WORDS[word]
      }
    NUMBER.lastIndex = at
    if (NUMBER.test(text)) {
      const number = Number(text.slice(at, NUMBER.lastIndex))
      if (!Number.isFinite(number)) throw new Malformed(at, 'The number is too large.')
      at = NUMBER.lastIndex
      return number
    }
    if (char === "'") throw new Malformed(at, 'Text must be in double quotes, not single quotes.')
    if (text.trim() === '')
      throw new Malformed(at, 'The file is empty. Write its content, or remove the file.')
    throw new Malformed(at, `Expected a value here, not ${describeNextCharacter()}.`)
  }

  function readText(): string {
    const start = at
    for (at += 1; text[at] !== '"'; at += 1) {
      if (at >= text.length) throw new Malformed(start, 'The text that begins here has no closing quote.')
      if (text.charCodeAt(at) < 0x20)
        throw new Malformed(start, 'The text that begins here contains a line break or control character.')
      if (text[at] === '\\') at += 1
    }
    at += 1
    try {
      return JSON.parse(text.slice(start, at)) as string
    } catch {
      const message = "The text that begins here has a '\\' that JSON does not know; write '\\\\'."
      throw new Malformed(start, message)
    }
  }

  /** Calls `read` for each member, up to the closing bracket. */
  function readMembers(close: string, read: () => void): void {
    at += 1
    skipBlanks()
    while (text[at] !== close) {
      read()
      skipBlanks()
      if (text[at] === close) break
      if (text[at] !== ',')
        throw new Malformed(at, `Expected ',' or '${close}' here, not ${describeNextCharacter()}.`)
      at += 1
      skipBlanks()
      if (text[at] === close) throw new Malformed(at, `Remove the comma before this '${close}'.`)
    }
    at += 1
  }

  function readMember(places: Map<PropertyKey, number>, key: PropertyKey, keyAt: number): unknown {
    path.push(key)
    if (places.has(key)) duplicates.push([...path])
    places.set(key, keyAt)
    const value = readValue()
    path.pop()
    return value
  }

  function readArray(): unknown[] {
    const array: unknown[] = []
    const places = new Map<PropertyKey, number>()
    positions.set(array, places)
    readMembers(']', () => {
      array.push(readMember(places, array.length, at))
    })
    return array
  }

  function readObject(): Record<string, unknown> {
    const object: Record<string, unknown> = Object.create(null)
    const places = new Map<PropertyKey, number>()
    positions.set(object, places)
    readMembers('}', () => {
      if (text[at] !== '"')
        throw new Malformed(at, `Expected a name in double quotes here, not ${describeNextCharacter()}.`)
      const keyAt = at
      const key = readText()
      skipBlanks()
      if (text[at] !== ':') throw new Malformed(at, `Expected ':' here, not ${describeNextCharacter()}.`)
      at += 1
      skipBlanks()
      object[key] = readMember(places, key, keyAt)
    })
    return object
  }

  skipBlanks()
  const value = readValue()
  skipBlanks()
  if (at < text.length)
    throw new Malformed(at, `Nothing can follow the value, but here is ${describeNextCharacter()}.`)
  return value
}

/** A path as text, such as `fields[3].condition.colour`. */
export function pathText(path: JsonPath): string {
  let text = ''
  for (const key of path)
    if (typeof key === 'number') text += `[${key}]`
    else text += /^[\w$]+$/.test(String(key)) ? `${text && '.'}${String(key)}` : `['${String(key)}']`
  return text || 'the file'
}
