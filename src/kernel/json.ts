// Reads JSON that comes from outside or may have been changed or truncated.

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
