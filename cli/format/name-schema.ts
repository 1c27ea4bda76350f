// Adds a schema's name to the text of a JSON file, and leaves the rest of the text unchanged.
import { readJson } from '../../src/product/check/json/read.ts'

/** Matches the member: its quoted name, a colon, and a quoted text. */
const MEMBER = /("\$schema"\s*:\s*)"(?:[^"\\]|\\.)*"/y

/**
 * Returns the text with `"$schema": address` at its beginning, or in place of the present one. Undefined if it is not an object,
 * or not JSON.
 */
export function withSchema(text: string, address: string): string | undefined {
  const document = readJson(text.replace(/^\uFEFF/, ''))
  if ('message' in document) return undefined
  const { value } = document
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const named = JSON.stringify(address)
  const present = (value as Record<string, unknown>).$schema
  if (present === address) return text
  if (typeof present === 'string') {
    const { line, column } = document.positionOf(['$schema'])
    const mark = text.startsWith('\uFEFF') ? 1 : 0
    MEMBER.lastIndex = offsetOf(text, line, column) + (line === 1 ? mark : 0)
    return text.replace(MEMBER, (_, key: string) => key + named)
  }
  const brace = text.indexOf('{') + 1
  const rest = text.slice(brace)
  const isEmpty = Object.keys(value).length === 0
  // Follows the style of the next member: on a new line with its indentation, or on the same line.
  const [blanks = ''] = /^\s*/.exec(rest) ?? []
  const gap = blanks === '' || isEmpty ? ' ' : blanks
  const member = `${gap}"$schema": ${named}`
  if (isEmpty) return `${text.slice(0, brace)}${member} ${rest.trimStart()}`
  return `${text.slice(0, brace)}${member},${blanks === '' ? ' ' : ''}${rest}`
}

/** Lines and columns count from 1. */
function offsetOf(text: string, line: number, column: number): number {
  let start = 0
  for (let at = 1; at < line; at += 1) start = text.indexOf('\n', start) + 1
  return start + column - 1
}
