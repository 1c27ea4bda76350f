// Bodies as JSON, before any contract: the framework's own reader refuses what real clients send (brief 0.12).
import { Refusal } from '../../kernel/errors.ts'
import { readBytes, utf8Text } from './bytes.ts'
import { jsonFault, jsonShape } from './json-fault.ts'

/** Bytes of a JSON body unless the route says otherwise. */
export const LARGEST_JSON_BYTES = 4 * 1_048_576

/** Lists and objects that may lie in each other. */
export const DEEPEST_JSON = 64

/** Values of a body, lists and objects included: several times what the largest policy needs. */
export const MOST_JSON_VALUES = 500_000

export type JsonReading = {
  readonly largestBytes?: number | undefined
  /** Whether a property named `__proto__` is data like any other: for bodies that go on as they came. */
  readonly keepsProto?: boolean | undefined
}

/** `value` is undefined when there is no body. */
export type JsonBytes = { readonly bytes: Uint8Array; readonly value: unknown }

/**
 * Reads the body whatever its Content-Type says, as long as it is JSON in UTF-8. No bytes, blanks, `""` and
 * `null` are no body. Refuses forms and compressed bodies with 415.
 */
export async function readJson(
  request: Request,
  { largestBytes = LARGEST_JSON_BYTES, keepsProto = false }: JsonReading = {},
): Promise<JsonBytes> {
  const type = request.headers.get('content-type') ?? ''
  if (/^\s*multipart\//i.test(type))
    throw new Refusal('unsupportedMediaType', 'This path reads JSON; send application/json, not a form.')
  refuseCompression(request)
  const bytes = await readBytes(request, largestBytes)
  const text = utf8Text(bytes)
  if (text === undefined)
    throw new Refusal('malformedJson', 'The body is not UTF-8 text; encode it as UTF-8.')
  if (text.trim() === '') return { bytes, value: undefined }
  const { depth, values } = jsonShape(bytes)
  if (depth > DEEPEST_JSON)
    throw new Refusal(
      'malformedJson',
      `The body nests lists and objects more than ${DEEPEST_JSON} deep; flatten it.`,
    )
  if (values > MOST_JSON_VALUES)
    throw new Refusal('tooLarge', `The body has more than ${MOST_JSON_VALUES} values; send it in parts.`)
  const value = parsed(text, keepsProto)
  return { bytes, value: value === '' || value === null ? undefined : value }
}

/** A body is read as it comes: nothing here unpacks it. */
export function refuseCompression(request: Request): void {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity')
    throw new Refusal(
      'unsupportedMediaType',
      'Compressed bodies are not read; send it without Content-Encoding.',
    )
}

function parsed(text: string, keepsProto: boolean): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const { line, column, problem } = jsonFault(text)
    throw new Refusal('malformedJson', `The body is not JSON: at line ${line}, column ${column} ${problem}.`)
  }
  // Copied by assignment, this one name would change an object's prototype instead of adding a property. An
  // escape may spell it too.
  if (!keepsProto && /__proto__|\\u005f/i.test(text) && hasProto(value))
    throw new Refusal('invalidRequest', "No property may be named '__proto__'; rename or remove it.")
  return value
}

function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto)
}
