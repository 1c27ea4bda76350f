// Splits a paragraph by direction (Unicode's bidirectional algorithm). Lines are put in visual order once their words are known
// (engine-layout.ts).
import bidiFactory from 'bidi-js'
import type { Run } from './engine.ts'

const FROM_THE_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** Controls that make the text after them run from the right. */
const TO_THE_RIGHT = /[\u202b\u202e\u2067]/

const bidi = bidiFactory()

/**
 * Returns the controls before and after the text of an element that does not change the order of the text around it: one with
 * `dir`, `bdi` and `bdo`. Undefined for other elements.
 */
export function isolationOf(
  tag: string,
  dir: string | undefined,
): [before: string, after: string] | undefined {
  const asked = dir?.toLowerCase()
  if (tag === 'bdo' && asked === 'rtl') return ['\u2067\u202e', '\u202c\u2069']
  if (tag === 'bdo' && asked === 'ltr') return ['\u2066\u202d', '\u202c\u2069']
  if (asked === 'rtl') return ['\u2067', '\u2069']
  if (asked === 'ltr') return ['\u2066', '\u2069']
  return asked === 'auto' || tag === 'bdi' ? ['\u2068', '\u2069'] : undefined
}

/** The paragraph's direction. Undefined means `auto`, which uses the first letter. */
type Direction = 'ltr' | 'rtl' | undefined

/** Splits runs where the direction changes and sets the level of each. Odd levels run from right to left. */
export function splitByDirection(
  runs: readonly Run[],
  direction: Direction,
): { runs: Run[]; fromTheRight: boolean } {
  const text = runs.map(run => run.text).join('')
  if (direction !== 'rtl' && !FROM_THE_RIGHT.test(text) && !TO_THE_RIGHT.test(text))
    return { runs: runs.filter(({ isControl }) => !isControl), fromTheRight: false }
  const { levels, base } = embeddingLevels(text, direction)
  const cut: Run[] = []
  let at = 0
  for (const run of runs) {
    const end = at + run.text.length
    if (run.isControl) {
      at = end
      continue
    }
    // Gaps and page numbers have no text yet. They belong to the text before them.
    if (at === end) {
      const level = levels[Math.max(0, at - 1)] ?? base
      cut.push({ ...run, ...(level > 0 && { level }), ...(base % 2 === 1 && { fromTheRight: true }) })
    }
    while (at < end) {
      const start = at
      const level = levels[at]!
      while (at < end && levels[at] === level) at += 1
      cut.push({
        ...run,
        text: text.slice(start, at),
        ...(level > 0 && { level }),
        ...(base % 2 === 1 && { fromTheRight: true }),
      })
    }
  }
  return { runs: cut, fromTheRight: base % 2 === 1 }
}

/**
 * Returns a word in the form that the engine needs once lines are broken: brackets of right-to-left text are mirrored. The
 * engine reverses exactly those words whose first letter or digit (including Arabic digits) is of a right-to-left script. Where
 * that is wrong, it receives the word reversed.
 */
export function wordToDraw(text: string, level: number): string {
  const isFromTheRight = level % 2 === 1
  const characters = isFromTheRight
    ? [...text].map(character => bidi.getMirroredCharacter(character) ?? character)
    : [...text]
  const isReversed = FROM_THE_RIGHT.test(/[^\p{Script=Common}\p{Script=Inherited}]/u.exec(text)?.[0] ?? '')
  return (isReversed === isFromTheRight ? characters : characters.reverse()).join('')
}

/** Code units that bidi-js reads at a time, because its work grows with their square. */
const MOST_AT_ONCE = 2_000

/** Returns the embedding level of each code unit (UAX 9), and that of the first paragraph. Reads long texts in pieces. */
export function embeddingLevels(text: string, direction: Direction): { levels: Uint8Array; base: number } {
  const levels = new Uint8Array(text.length)
  const bases: number[] = []
  let own = direction
  for (let start = 0; start < text.length; ) {
    const end = text.length <= MOST_AT_ONCE ? text.length : endOfPiece(text, start)
    const piece = bidi.getEmbeddingLevels(text.slice(start, end), own)
    const base = piece.paragraphs[0]!.level
    levels.set(piece.levels, start)
    bases.push(base)
    const going = base % 2 === 1 ? 'rtl' : 'ltr'
    own = isParagraphEnd(text[end - 1]!) ? direction : going
    start = end
  }
  return { levels, base: bases[0] ?? 0 }
}

const isParagraphEnd = (character: string): boolean => bidi.getBidiCharTypeName(character) === 'B'

/** Types of characters that begin an embedding or isolate, and types that end one. */
const BEGINS = new Set(['LRE', 'RLE', 'LRO', 'RLO', 'LRI', 'RLI', 'FSI'])
const ENDS = new Set(['PDF', 'PDI'])
const STRONG = new Set(['L', 'R', 'AL'])

/**
 * Returns a place where the levels of the following text do not depend on the preceding text: after a paragraph, or between two
 * letters outside of brackets, embeddings and isolates. A text without such a place is cut at the maximum.
 */
function endOfPiece(text: string, start: number): number {
  const most = Math.min(text.length, start + MOST_AT_ONCE)
  let open = 0
  let wasLetter = false
  for (let at = start; at < most; at += 1) {
    const character = text[at]!
    const type = bidi.getBidiCharTypeName(character)
    if (type === 'B') return at + 1
    if (BEGINS.has(type) || bidi.openingToClosingBracket(character) !== null) open += 1
    else if (ENDS.has(type) || bidi.closingToOpeningBracket(character) !== null) open = Math.max(0, open - 1)
    const isLetter = STRONG.has(type)
    if (isLetter && wasLetter && open === 0 && at >= start + MOST_AT_ONCE / 2) return at
    wasLetter = isLetter
  }
  return most
}
