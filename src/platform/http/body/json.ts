// Reads JSON bodies before any contract applies. The framework's own reader rejects bodies that real clients send (brief 0.12).
import { invalidRequest, Refusal, tooLarge } from '../../../kernel/errors.ts'
import { exactJson } from '../../../kernel/json.ts'
import { isStorable } from '../../../kernel/text.ts'
import { pathText } from '../../wire-problem.ts'
import { readBytes, utf8Text } from './bytes.ts'

/** Default limit of a JSON body. */
const LARGEST_JSON_BYTES = 4 * 1_048_576

/** Maximum depth of nested lists and objects. */
export const DEEPEST_JSON = 64

/** Maximum number of values in a body, including lists and objects: several times as many as the largest policy needs. */
export const MOST_JSON_VALUES = 500_000

export type JsonReading = {
  readonly largestBytes?: number | undefined
  /**
   * For bodies that are passed on unchanged: a property named `__proto__` and texts that cannot be stored are data, and every
   * number is a double.
   */
  readonly isPassedOn?: boolean | undefined
}

/** `value` is undefined when there is no body. */
export type JsonBytes = { readonly bytes: Uint8Array; readonly value: unknown }

/**
 * Reads a JSON body. Accepts any Content-Type if the body is JSON in UTF-8. No bytes, blanks, `""` and `null` mean that there is
 * no body. Rejects forms and compressed bodies with 415.
 */
export async function readJson(
  request: Request,
  { largestBytes = LARGEST_JSON_BYTES, isPassedOn = false }: JsonReading = {},
): Promise<JsonBytes> {
  const type = request.headers.get('content-type') ?? ''
  if (/^\s*multipart\//i.test(type)) throw formRefusal()
  refuseCompression(request)
  const bytes = await readBytes(request, largestBytes)
  const text = utf8Text(bytes)
  if (text === undefined)
    throw new Refusal('malformedJson', 'The body is not UTF-8 text; encode it as UTF-8.')
  if (text.trim() === '') return { bytes, value: undefined }
  // `curl -d` labels JSON as a form too.
  if (/^\s*application\/x-www-form-urlencoded/i.test(type) && FORM_TEXT.test(text)) throw formRefusal()
  const { depth, values } = jsonShape(bytes)
  if (depth > DEEPEST_JSON)
    throw new Refusal(
      'malformedJson',
      `The body nests lists and objects more than ${DEEPEST_JSON} levels deep; flatten it.`,
    )
  if (values > MOST_JSON_VALUES)
    throw tooLarge(`The body has more than ${MOST_JSON_VALUES} values; send it in parts.`)
  const value = parseBody(text, isPassedOn)
  return { bytes, value: value === '' || value === null ? undefined : value }
}

/** How a form begins: the name of its first property and `=`. */
const FORM_TEXT = /^[\w.%+*[\]-]+=/

const formRefusal = (): Refusal =>
  new Refusal('unsupportedMediaType', 'This path reads JSON. Send application/json, not a form.')

/** Rejects a compressed body: bodies are never decompressed. */
export function refuseCompression(request: Request): void {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity')
    throw new Refusal(
      'unsupportedMediaType',
      'Compressed bodies are not supported. Send the body without Content-Encoding.',
    )
}

function parseBody(text: string, isPassedOn: boolean): unknown {
  let value: unknown
  try {
    value = isPassedOn ? JSON.parse(text) : exactJson(text)
  } catch {
    const { line, column, problem } = jsonFault(text)
    throw new Refusal('malformedJson', `The body is not JSON: at line ${line}, column ${column} ${problem}.`)
  }
  // Copying this name by assignment would change the prototype of an object. An escape may also spell it.
  if (!isPassedOn && /__proto__|\\u005f/i.test(text) && hasProto(value))
    throw invalidRequest("No property may be named '__proto__'; rename or remove it.")
  // Decoded UTF-8 contains no half of a surrogate pair and JSON no NUL, except by an escape.
  const path = !isPassedOn && UNSTORABLE.test(text) ? unstorablePath(value) : undefined
  if (path)
    throw invalidRequest(
      `${path.length === 0 ? 'The request' : `'${pathText(path)}'`} has a character that cannot be stored (NUL or half of a surrogate pair); remove it.`,
    )
  return value
}

const UNSTORABLE = /\\u(?:0000|d[89a-f])/i

/** Returns the path of the first text or name that would be stored as a different one. */
function unstorablePath(value: unknown): PropertyKey[] | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, part] of Object.entries(value)) {
    const path = isStorable(name) ? unstorablePath(part) : []
    if (path) return [Array.isArray(value) ? Number(name) : name, ...path]
  }
  return undefined
}

function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto)
}

// Finds where a text stops being JSON. The runtime's message may lack the position, and it quotes the body.

/** Line and column count from 1. */
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

/** Returns the first error in a text that JSON.parse rejected. */
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
  const afterValue = (): Expected => {
    if (open.length === 0) return 'end'
    return open.at(-1) === '[' ? ', or ]' : ', or }'
  }
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
  return {
    line: before.split('\n').length,
    column: at - before.lastIndexOf('\n'),
    problem: problemAt(text, at, expected),
  }
}

function problemAt(text: string, at: number, expected: Expected): string {
  if (at >= text.length) return `the body ends, but ${IN_WORDS[expected]}`
  if (text[at] === '"' && /^(?:value|name)/.test(expected))
    return 'the text that starts here does not end, or has a character or escape that JSON does not allow'
  return IN_WORDS[expected]
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/**
 * Returns the end of the string that starts at `from`, or undefined when it does not end or contains something that JSON forbids.
 */
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
 * Returns the depth of nested lists and objects, and an upper bound on the number of values. Text inside strings does not count.
 * Checked before parsing, because parsed values take many times the memory of their text.
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

/** Returns the depth of nested lists and objects: 0 for text or a number, 1 for `[]`. Does not parse. */
export const jsonDepth = (bytes: Uint8Array): number => jsonShape(bytes).depth
