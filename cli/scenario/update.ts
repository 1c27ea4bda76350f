// Writes actual values in place of expected ones. Only those values change. Every other character of the file remains unchanged,
// including comments and order.
import { isMap, isScalar, isSeq, type Node, type Pair, Scalar, stringify } from 'yaml'
import type { Mismatch } from './compare.ts'
import { keyOf, type Path, type ScenarioFile } from './format.ts'

type Edit = { readonly from: number; readonly to: number; readonly text: string }

/** Returns the file's text with the values, and how many were written. */
export function updatedText(
  { text, document, file }: ScenarioFile,
  mismatches: readonly Mismatch[],
): { readonly text: string; readonly written: number } {
  const isJson = /\.json$/i.test(file)
  const edits = mismatches
    .filter(one => one.canUpdate)
    .flatMap(one => editOf(text, document.contents, one, isJson) ?? [])
    .sort((a, b) => b.from - a.from)
  let updated = text
  let last = Number.POSITIVE_INFINITY
  let written = 0
  for (const { from, to, text: value } of edits) {
    if (to > last) continue
    updated = updated.slice(0, from) + value + updated.slice(to)
    last = from
    written += 1
  }
  return { text: updated, written }
}

type Found = {
  readonly pair: Pair | undefined
  readonly node: Node | null
  /** Whether it is inside braces or brackets, where YAML is written like JSON. */
  readonly isFlow: boolean
}

function find(contents: Node | null, path: Path): Found | undefined {
  let found: Found = { pair: undefined, node: contents, isFlow: false }
  for (const step of path) {
    const { node } = found
    const isFlow = found.isFlow || ((isMap(node) || isSeq(node)) && node.flow === true)
    if (isMap(node)) {
      const pair = node.items.find(one => keyOf(one) === String(step))
      if (!pair) return undefined
      found = { pair, node: pair.value as Node | null, isFlow }
    } else if (isSeq(node)) {
      const item = node.items[Number(step)] as Node | undefined
      if (!item) return undefined
      found = { pair: undefined, node: item, isFlow }
    } else return undefined
  }
  return found
}

function editOf(
  text: string,
  contents: Node | null,
  { path, expected, got }: Mismatch,
  isJson: boolean,
): Edit | undefined {
  const found = find(contents, path)
  const range = found?.node?.range
  if (!found || !range) return undefined
  const [from, to] = range
  const value = formatLike(expected, got)
  if (isJson || found.isFlow) {
    const isEmpty = from === to
    return { from, to, text: (isEmpty ? ' ' : '') + flowText(value, text, from, isJson) }
  }
  const old = text.slice(from, to)
  if (typeof value !== 'object' || value === null || value instanceof Exact) {
    const shown = scalarText(value, found.node, columnOf(text, found.pair, from))
    return {
      from,
      to,
      text: from === to ? ` ${shown}` : shown + (old.endsWith('\n') && !shown.endsWith('\n') ? '\n' : ''),
    }
  }
  // A block begins on a new line, indented two columns more than its name. Comments around it are kept.
  const column = columnOf(text, found.pair, from)
  const indent = ' '.repeat(column + 2)
  const whole = stringify(withNumbers(value), { lineWidth: 0 }).trimEnd()
  if (whole === '[]' || whole === '{}') return { from, to, text: from === to ? ` ${whole}` : whole }
  const block = whole
    .split('\n')
    .map(line => indent + line)
    .join('\n')
  if (from === to) return { from, to, text: `\n${block}` }
  const lineStart = text.lastIndexOf('\n', from - 1) + 1
  const isOwnLine = text.slice(lineStart, from).trim() === ''
  const end = from + old.trimEnd().length
  return isOwnLine ? { from: lineStart, to: end, text: block } : { from, to: end, text: `\n${block}` }
}

/** Writes numbers in place of numbers or nothing, and texts in place of texts. */
function formatLike(expected: unknown, got: unknown): unknown {
  if (typeof got !== 'string') return got
  if (typeof expected === 'string') return /^\d{4}-\d\d-\d\d$/.test(expected) ? shortTime(got) : got
  return AMOUNT.test(got) ? new Exact(got) : shortTime(got)
}

const AMOUNT = /^-?\d+\.\d+$/

/** A day alone stands for any time of it, so a time at the end of a day is written as the day. */
const shortTime = (text: string): string => text.replace(/^(\d{4}-\d\d-\d\d) 23:59:59\.999$/, '$1')

/** Turns amounts into numbers with the same digits. */
function withNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNumbers)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withNumbers(one)]))
  if (typeof value !== 'string') return value
  if (!AMOUNT.test(value)) return shortTime(value)
  const number = new Scalar(Number(value))
  number.minFractionDigits = value.length - value.indexOf('.') - 1
  return number
}

/** A number with its original digits: 12.50 remains 12.50. */
class Exact {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }
}

function scalarText(value: unknown, old: Node | null, column: number): string {
  if (value instanceof Exact) return value.digits
  if (typeof value !== 'string') return JSON.stringify(value ?? null)
  if (value.includes('\n')) {
    const indent = ' '.repeat(column + 2)
    return `|-\n${value
      .split('\n')
      .map(line => (line === '' ? '' : indent + line))
      .join('\n')}`
  }
  const scalar = new Scalar(value)
  const wasQuoted = isScalar(old) && (old.type === 'QUOTE_DOUBLE' || old.type === 'QUOTE_SINGLE')
  if (wasQuoted) scalar.type = old.type as Scalar.Type
  return stringify(scalar, { lineWidth: 0 }).trimEnd()
}

/** Writes JSON. In a JSON file, a long value is written over several lines. */
function flowText(value: unknown, text: string, from: number, isJson: boolean): string {
  if (value instanceof Exact) return value.digits
  const short = JSON.stringify(value ?? null)
  if (!isJson || typeof value !== 'object' || short.length <= 80) return short
  const lineStart = text.lastIndexOf('\n', from - 1) + 1
  const indent = /^[ \t]*/.exec(text.slice(lineStart))![0]
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}

/** Returns the column of the property's name, from 0, or of the entry of a list. */
function columnOf(text: string, pair: Pair | undefined, from: number): number {
  const at = (pair?.key as Node | null | undefined)?.range?.[0] ?? from
  return at - (text.lastIndexOf('\n', at - 1) + 1)
}
