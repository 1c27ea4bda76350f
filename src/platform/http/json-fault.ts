// Where a text stops being JSON. The runtime's own message does not always tell the place, and quotes the body.

/** Line and column, both from 1, and what is wrong there. */
export type JsonFault = { line: number; column: number; problem: string }

const SPACE = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)\b/y

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or ]' | ', or }' | 'end'

const IN_WORDS: Record<Expected, string> = {
  value: 'a value is expected',
  'value or ]': "a value or ']' is expected",
  name: 'a property name in double quotes is expected',
  'name or }': "a property name in double quotes or '}' is expected",
  ':': "':' is expected",
  ', or ]': "',' or ']' is expected",
  ', or }': "',' or '}' is expected",
  end: 'the body should end',
}

/** The first fault of a text that JSON.parse refused. */
export function jsonFault(text: string): JsonFault {
  let at = 0
  let expected: Expected = 'value'
  const open: ('[' | '{')[] = []
  const token = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  const string = (): boolean => {
    const end = stringEnd(text, at)
    if (end !== undefined) at = end
    return end !== undefined
  }
  const afterValue = (): Expected => (open.length === 0 ? 'end' : open.at(-1) === '[' ? ', or ]' : ', or }')
  while (true) {
    token(SPACE)
    const next = text[at]
    if (next === undefined) break
    if ((next === ']' && expected.endsWith(']')) || (next === '}' && expected.endsWith('}'))) {
      open.pop()
      at += 1
      expected = afterValue()
    } else if (next === ',' && expected.startsWith(',')) {
      at += 1
      expected = open.at(-1) === '[' ? 'value' : 'name'
    } else if (expected === ':' && next === ':') {
      at += 1
      expected = 'value'
    } else if (expected.startsWith('name') && string()) expected = ':'
    else if (expected.startsWith('value') && (next === '[' || next === '{')) {
      open.push(next)
      at += 1
      expected = next === '[' ? 'value or ]' : 'name or }'
    } else if (expected.startsWith('value') && (string() || token(SCALAR))) expected = afterValue()
    else break
  }
  const before = text.slice(0, at)
  const problem =
    at >= text.length
      ? `the body ends, but ${IN_WORDS[expected]}`
      : text[at] === '"' && /^(?:value|name)/.test(expected)
        ? 'the text that starts here is not ended, or has a character or escape that JSON does not allow'
        : IN_WORDS[expected]
  return {
    line: before.split('\n').length,
    column: at - before.lastIndexOf('\n'),
    problem,
  }
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** Where the string that starts at `from` ends; undefined when it does not, or holds what JSON forbids. */
function stringEnd(text: string, from: number): number | undefined {
  if (text[from] !== '"') return undefined
  for (let at = from + 1; at < text.length; at += 1) {
    const character = text[at]!
    if (character === '"') return at + 1
    if (character < ' ') return undefined
    if (character !== '\\') continue
    ESCAPE.lastIndex = at
    if (!ESCAPE.test(text)) return undefined
    at = ESCAPE.lastIndex - 1
  }
  return undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

const COMMA = 0x2c

/**
 * How deep lists and objects of the JSON lie in each other, and how many values there are at most: what stands in memory
 * for them takes many times the room of their text. Text in strings does not count.
 */
export function jsonShape(bytes: Uint8Array): { depth: number; values: number } {
  let depth = 0
  let deepest = 0
  let values = 1
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      at += 1
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      values += 1
      if (depth > deepest) deepest = depth
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
    else if (byte === COMMA) values += 1
  }
  return { depth: deepest, values }
}

export const jsonDepth = (bytes: Uint8Array): number => jsonShape(bytes).depth
