// JSON that somebody else wrote, or that somebody may have changed or cut off.

import { decimal } from './money.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined for a text that is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * As `JSON.parse`, but a number with more digits than a double holds stays the text that it is: whatever takes a number takes
 * its text too, and that keeps every digit (brief 0.2, 0.4). Numbers with an exponent become doubles.
 */
export const exactJson = (text: string): unknown =>
  LONG_NUMBER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)

/** With fewer digits a double is always exact. What stands before a number keeps digits of texts out, such as those of an account. */
const LONG_NUMBER = /(?:^|[\s:,[])-?\d[\d.]{15}/

/** TypeScript does not know the third argument yet. */
function exactNumber(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  if (!LONG_NUMBER.test(source) || !/^-?[\d.]+$/.test(source)) return value
  return Number.isFinite(value) && decimal(source).eq(decimal(value)) ? value : source
}
