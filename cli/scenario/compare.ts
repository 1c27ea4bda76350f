// Compares expected with actual values. Only what is written is compared: properties that are left out may have any value. Lists
// are compared as a whole, entry by entry.
import { isJsonObject } from '../../src/kernel/json.ts'
import { decimal } from '../../src/kernel/money.ts'
import type { TimeZone } from '../../src/kernel/time.ts'
import type { Path } from './format.ts'
import { isTimeName, readTime, timeText } from './times.ts'
import type { ShownDocument } from './view.ts'

/** `got` is undefined if there is no value. `isUnwritten`: nothing was expected yet. `canUpdate`: `--update` may write `got`. */
export type Mismatch = {
  readonly path: Path
  readonly expected: unknown
  readonly got: unknown
  readonly isUnwritten?: boolean
  readonly canUpdate: boolean
  /** Set if it says more than the two values. */
  readonly note?: string
}

/** Differences, in the order in which they are written, and the number of values that were compared. */
export type Comparison = { readonly mismatches: Mismatch[]; compared: number }

const NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?$/

function asNumber(value: unknown) {
  if (typeof value === 'number' && Number.isFinite(value)) return decimal(value)
  if (typeof value === 'string' && NUMBER.test(value.trim())) return decimal(value.trim().replace('+', ''))
  return undefined
}

const DAY = /^\d{4}-\d\d-\d\d$/

/** Compares numbers by value, times by the moment (a day alone matches any time of it), and everything else by its text. */
export function isSame(expected: unknown, got: unknown, name: string, zone: TimeZone): boolean {
  if (isTimeName(name)) {
    const [a, b] = [readTime(expected, zone), readTime(got, zone)]
    if (a !== undefined && b !== undefined)
      return a === b || (DAY.test(String(expected)) && timeText(b, zone).startsWith(String(expected)))
  }
  if (
    typeof expected === 'number' ||
    typeof got === 'number' ||
    (typeof got === 'string' && /\d\.\d/.test(got))
  ) {
    const [a, b] = [asNumber(expected), asNumber(got)]
    if (a && b) return a.eq(b)
  }
  // YAML turns days and texts that look like numbers into those types.
  return expected === got || (typeof got === 'string' && String(expected) === got)
}

export function compare(expected: unknown, got: unknown, path: Path, zone: TimeZone, into: Comparison): void {
  const differs = (more: Partial<Mismatch> = {}): void => {
    into.mismatches.push({ path, expected, got, canUpdate: got !== undefined, ...more })
  }
  if (expected === null) {
    if (got !== null) differs({ isUnwritten: true })
  } else if (Array.isArray(expected)) {
    if (Array.isArray(got)) compareLists(expected, got, path, zone, into)
    else differs()
  } else if (isJsonObject(expected)) {
    if (isJsonObject(got))
      for (const [name, one] of Object.entries(expected))
        compare(one, Object.hasOwn(got, name) ? got[name] : undefined, [...path, name], zone, into)
    else differs()
  } else {
    into.compared += 1
    if (!isSame(expected, got, String(path.at(-1) ?? ''), zone))
      differs({ canUpdate: got !== undefined && got !== null })
  }
}

function compareLists(
  expected: readonly unknown[],
  got: readonly unknown[],
  path: Path,
  zone: TimeZone,
  into: Comparison,
): void {
  into.compared += 1
  if (expected.length === got.length) {
    for (const [at, one] of expected.entries()) compare(one, got[at], [...path, at], zone, into)
    return
  }
  const note = `${entryCountText(expected.length)} expected, ${entryCountText(got.length)} got`
  into.mismatches.push({ path, expected, got: pickExpectedProperties(expected, got), canUpdate: true, note })
}

const entryCountText = (count: number): string => `${count} ${count === 1 ? 'entry' : 'entries'}`

/** Returns the actual list, each entry with only the properties that the expected entries have. */
function pickExpectedProperties(expected: readonly unknown[], got: readonly unknown[]): unknown[] {
  const written = new Set(expected.flatMap(one => (isJsonObject(one) ? Object.keys(one) : [])))
  if (written.size === 0) return [...got]
  return got.map(one =>
    isJsonObject(one) ? Object.fromEntries(Object.entries(one).filter(([name]) => written.has(name))) : one,
  )
}

/**
 * Compares documents by name, where `*` stands for any letters: their text, or the parts that it must contain. A document that
 * could not be created fails, unless that is expected.
 */
export function compareDocuments(
  expected: Readonly<Record<string, unknown>> | undefined,
  documents: readonly ShownDocument[],
  path: Path,
  into: Comparison,
): void {
  const failed = (state: string): boolean => state !== 'ready'
  const looked = new Set<ShownDocument>()
  for (const [name, one] of Object.entries(expected ?? {})) {
    const at = [...path, name]
    const isNamed = matcherOf(name)
    const document = documents.find(other => isNamed(other.fileName) || isNamed(other.displayName))
    if (!document) {
      const names = documents.map(other => other.fileName)
      const note =
        names.length === 0 ? 'the step creates no document' : `the step creates ${names.join(', ')}`
      into.mismatches.push({ path: at, expected: one, got: undefined, canUpdate: false, note })
      continue
    }
    looked.add(document)
    compareDocument(one, document, at, into)
  }
  for (const document of documents)
    if (failed(document.state) && !looked.has(document))
      into.mismatches.push({
        path: [...path, document.fileName],
        expected: 'ready',
        got: document.state,
        canUpdate: false,
        note: document.failure,
      })
}

function compareDocument(expected: unknown, document: ShownDocument, path: Path, into: Comparison): void {
  const { text = '', state, failure } = document
  if (expected === null) {
    into.mismatches.push({ path, expected, got: { text }, isUnwritten: true, canUpdate: true })
    return
  }
  const wanted = isJsonObject(expected) ? expected : { contains: expected }
  if (!Object.hasOwn(wanted, 'state') && state !== 'ready') {
    into.mismatches.push({ path, expected: 'ready', got: state, canUpdate: false, note: failure })
    return
  }
  for (const [name, one] of Object.entries(wanted)) {
    // A single text is not written under `contains`.
    const at = isJsonObject(expected) || Array.isArray(one) ? [...path, name] : path
    if (Object.hasOwn(CLAIMS, name)) CLAIMS[name]!(one, document, at, into)
    else
      into.mismatches.push({
        path: at,
        expected: one,
        got: undefined,
        canUpdate: false,
        note: 'a document has only text, contains, lacks and state',
      })
  }
}

type Claim = (expected: unknown, document: ShownDocument, path: Path, into: Comparison) => void

/** The possible expectations about a document. */
const CLAIMS: Readonly<Record<string, Claim>> = {
  text(expected, { text = '' }, path, into) {
    into.compared += 1
    const isUnwritten = expected === null
    if (isUnwritten || collapseWhitespace(String(expected)) !== collapseWhitespace(text))
      into.mismatches.push({
        path,
        expected,
        got: text,
        canUpdate: true,
        ...(isUnwritten && { isUnwritten }),
      })
  },
  contains: textClaim(true, 'the document does not contain it'),
  lacks: textClaim(false, 'the document contains it'),
  state(expected, { state, failure }, path, into) {
    into.compared += 1
    if (expected !== state)
      into.mismatches.push({ path, expected, got: state, canUpdate: true, note: failure })
  },
}

/** Checks that the document contains a text, or each of several, or that it does not. */
function textClaim(isSaid: boolean, note: string): Claim {
  return (expected, { text = '' }, path, into) => {
    const says = collapseWhitespace(text)
    for (const [index, piece] of (Array.isArray(expected) ? expected : [expected]).entries()) {
      into.compared += 1
      const at = Array.isArray(expected) ? [...path, index] : path
      if (says.includes(collapseWhitespace(String(piece))) !== isSaid)
        into.mismatches.push({ path: at, expected: piece, got: text, canUpdate: false, note })
    }
  }
}

const collapseWhitespace = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/**
 * `*` stands for any letters. Each piece is searched for once, from the left, so that a long name costs no more than its length.
 */
function matcherOf(name: string): (text: string) => boolean {
  const [first = '', ...pieces] = name.split('*')
  const last = pieces.pop()
  if (last === undefined) return text => text === name
  return text => {
    if (!text.startsWith(first)) return false
    let from = first.length
    for (const piece of pieces) {
      const at = text.indexOf(piece, from)
      if (at < 0) return false
      from = at + piece.length
    }
    return text.length - last.length >= from && text.endsWith(last)
  }
}
