// Embedding levels of a text by Unicode's bidirectional algorithm (UAX 9), in one pass for each rule: the work grows in
// proportion to the text, whatever stands in it. Types of characters and pairs of brackets come from bidi-js, whose own
// levels these are; its way of finding them looks back through the whole text for each number, bracket or isolate.
import bidiFactory from 'bidi-js'

const NAMES = [
  ...['L', 'R', 'AL', 'EN', 'AN', 'ES', 'ET', 'CS', 'NSM', 'BN', 'B', 'S', 'WS', 'ON'],
  ...['LRE', 'RLE', 'LRO', 'RLO', 'PDF', 'LRI', 'RLI', 'FSI', 'PDI'],
] as const
type TypeName = (typeof NAMES)[number]

const TYPES = Object.fromEntries(NAMES.map((name, at) => [name, 1 << at])) as Record<TypeName, number>
const { L, R, AL, EN, AN, ES, ET, CS, NSM, BN, B, S, WS, ON, LRE, RLE, LRO, RLO, PDF, LRI, RLI, FSI, PDI } =
  TYPES

const ISOLATES = LRI | RLI | FSI
const NEUTRAL = B | S | WS | ON | ISOLATES | PDI
/** Marks of embeddings are kept, and passed over like what has no direction (UAX 9, 5.2). */
const PASSED_OVER = BN | LRE | RLE | LRO | RLO | PDF
const TRAILING = S | WS | B | ISOLATES | PDI | PASSED_OVER
const STRONG = L | R | AL
/** Numbers count as text from the right where neutral characters are resolved. */
const FROM_RIGHT = R | EN | AN
const DEEPEST_LEVEL = 125
/** Opening brackets that wait for theirs (BD16). */
const MOST_OPEN_BRACKETS = 63

export const bidi: ReturnType<typeof bidiFactory> = bidiFactory()

/** Types by code unit, found when first asked for; no type is 0. */
const known = new Uint32Array(0x1_0000)

function typeAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  known[code] ||= TYPES[bidi.getBidiCharTypeName(text[at]!)]
  return known[code]!
}

type Paragraph = { readonly start: number; readonly end: number; readonly level: number }

/** The level of each code unit, and of the first paragraph. */
export function embeddingLevels(
  text: string,
  direction: 'ltr' | 'rtl' | undefined,
): { levels: Uint8Array; base: number } {
  const original = Uint32Array.from({ length: text.length }, (_, at) => typeAt(text, at))
  const types = Uint32Array.from(original)
  const levels = new Uint8Array(text.length)
  const closing = matchingIsolates(original)
  const firsts = original.includes(FSI) ? firstDirections(original, closing) : undefined
  const paragraphs: Paragraph[] = []
  for (let start = 0; start < text.length; ) {
    const found = original.indexOf(B, start)
    const end = found < 0 ? text.length - 1 : found
    const level =
      direction === undefined ? firstDirection(original, closing, start) : direction === 'rtl' ? 1 : 0
    const paragraph = { start, end, level }
    paragraphs.push(paragraph)
    const pairs = explicitLevels(paragraph, types, levels, firsts)
    for (const sequence of sequencesOf(paragraph, types, levels, pairs)) {
      resolveWeak(sequence, types)
      resolveBrackets(sequence, types, original, text)
      resolveNeutral(sequence, types)
    }
    implicitLevels(paragraph, types, original, levels)
    start = end + 1
  }
  resetTrailing(paragraphs, original, levels)
  return { levels, base: paragraphs[0]?.level ?? 0 }
}

/** Where each isolate ends within its paragraph (BD9); -1 where it does not. */
function matchingIsolates(types: Uint32Array): Int32Array {
  const closing = new Int32Array(types.length).fill(-1)
  let open: number[] = []
  for (let at = 0; at < types.length; at += 1) {
    const type = types[at]!
    if (type & ISOLATES) open.push(at)
    else if (type & B) open = []
    else if (type & PDI) {
      const start = open.pop()
      if (start !== undefined) closing[start] = at
    }
  }
  return closing
}

/** The level that the first letter outside of isolates gives a paragraph (P2, P3). */
function firstDirection(types: Uint32Array, closing: Int32Array, start: number): number {
  for (let at = start; at < types.length; at += 1) {
    const type = types[at]!
    if (type & (R | AL)) return 1
    if (type & (B | L)) return 0
    if (type & ISOLATES) {
      if (closing[at]! < 0) return 0
      at = closing[at]!
    }
  }
  return 0
}

/** The same from each place on, up to the end of the isolate that it is in (X5c). */
function firstDirections(types: Uint32Array, closing: Int32Array): Uint8Array {
  const firsts = new Uint8Array(types.length + 1)
  for (let at = types.length - 1; at >= 0; at -= 1) {
    const type = types[at]!
    if (type & (R | AL)) firsts[at] = 1
    else if (type & (B | L | PDI)) firsts[at] = 0
    else if (type & ISOLATES) firsts[at] = closing[at]! < 0 ? 0 : firsts[closing[at]! + 1]!
    else firsts[at] = firsts[at + 1]!
  }
  return firsts
}

/** Levels that marks of embeddings, overrides and isolates give (X1 to X8); answers the ends of isolates in effect. */
function explicitLevels(
  { start, end, level: base }: Paragraph,
  types: Uint32Array,
  levels: Uint8Array,
  firsts: Uint8Array | undefined,
): Map<number, number> {
  const pairs = new Map<number, number>()
  const stack: { level: number; override: number; isolate: number | undefined }[] = [
    { level: base, override: 0, isolate: undefined },
  ]
  let [extraIsolates, extraEmbeddings, isolates] = [0, 0, 0]
  const above = (level: number, fromTheRight: boolean): number =>
    level + ((level & 1) === (fromTheRight ? 1 : 0) ? 2 : 1)
  for (let at = start; at <= end; at += 1) {
    let type = types[at]!
    let top = stack.at(-1)!
    if (type & (LRE | RLE | LRO | RLO)) {
      levels[at] = top.level
      const level = above(top.level, (type & (RLE | RLO)) !== 0)
      const override = type & RLO ? R : type & LRO ? L : 0
      if (level <= DEEPEST_LEVEL && extraIsolates === 0 && extraEmbeddings === 0)
        stack.push({ level, override, isolate: undefined })
      else if (extraIsolates === 0) extraEmbeddings += 1
    } else if (type & ISOLATES) {
      if (type & FSI) type = firsts![at + 1] === 1 ? RLI : LRI
      levels[at] = top.level
      if (top.override) types[at] = top.override
      const level = above(top.level, type === RLI)
      if (level <= DEEPEST_LEVEL && extraIsolates === 0 && extraEmbeddings === 0) {
        isolates += 1
        stack.push({ level, override: 0, isolate: at })
      } else extraIsolates += 1
    } else if (type & PDI) {
      if (extraIsolates > 0) extraIsolates -= 1
      else if (isolates > 0) {
        extraEmbeddings = 0
        while (stack.at(-1)!.isolate === undefined) stack.pop()
        pairs.set(stack.pop()!.isolate!, at)
        isolates -= 1
      }
      top = stack.at(-1)!
      levels[at] = top.level
      if (top.override) types[at] = top.override
    } else if (type & PDF) {
      if (extraIsolates === 0) {
        if (extraEmbeddings > 0) extraEmbeddings -= 1
        else if (top.isolate === undefined && stack.length > 1) stack.pop()
      }
      levels[at] = stack.at(-1)!.level
    } else if (type & B) levels[at] = base
    else {
      levels[at] = top.level
      if (top.override && type !== BN) types[at] = top.override
    }
  }
  return pairs
}

/** Places of one level that belong together over isolates, and the directions around them. */
type Sequence = {
  readonly places: readonly number[]
  readonly direction: number
  readonly before: number
  readonly after: number
}
type LevelRun = { readonly start: number; end: number; readonly level: number; opens: boolean }

/** The isolating run sequences (X10). */
function sequencesOf(
  { start, end, level: base }: Paragraph,
  types: Uint32Array,
  levels: Uint8Array,
  pairs: ReadonlyMap<number, number>,
): Sequence[] {
  const runs = new Map<number, LevelRun>()
  let run: LevelRun | undefined
  for (let at = start; at <= end; at += 1) {
    const type = types[at]!
    if (type & PASSED_OVER) continue
    const opens = (type & ISOLATES) !== 0
    if (run && run.level === levels[at]) [run.end, run.opens] = [at, opens]
    else {
      run = { start: at, end: at, level: levels[at]!, opens }
      runs.set(at, run)
    }
  }
  const ends = new Set(pairs.values())
  const levelBeside = (from: number, step: 1 | -1, last: number): number => {
    for (let at = from; step < 0 ? at >= last : at <= last; at += step)
      if (!(types[at]! & PASSED_OVER)) return levels[at]!
    return base
  }
  return [...runs.values()].flatMap(first => {
    if (types[first.start] === PDI && ends.has(first.start)) return []
    const places: number[] = []
    let last: LevelRun = first
    for (let next: LevelRun | undefined = first; next; ) {
      last = next
      for (let at = next.start; at <= next.end; at += 1) places.push(at)
      const close: number | undefined = next.opens ? pairs.get(next.end) : undefined
      next = close === undefined ? undefined : runs.get(close)
    }
    const before = levelBeside(first.start - 1, -1, 0)
    const after = types[last.end]! & ISOLATES ? base : levelBeside(last.end + 1, 1, end)
    const directionOf = (level: number): number => (Math.max(level, first.level) % 2 === 1 ? R : L)
    return [
      {
        places,
        direction: first.level % 2 === 1 ? R : L,
        before: directionOf(before),
        after: directionOf(after),
      },
    ]
  })
}

/** Marks, numbers and what stands with numbers (W1 to W7). */
function resolveWeak({ places, before }: Sequence, types: Uint32Array): void {
  let last = before
  for (const at of places) {
    if (types[at]! & NSM) types[at] = last & (ISOLATES | PDI) ? ON : last
    if (!(types[at]! & PASSED_OVER)) last = types[at]!
  }
  let strong = before
  for (const at of places) {
    const type = types[at]!
    if (type & STRONG) strong = type
    else if (type & EN && strong === AL) types[at] = AN
    if (type & AL) types[at] = R
  }
  const typeBeside = (from: number, step: 1 | -1): number => {
    let at = from
    while (at + step >= 0 && at + step < places.length && types[places[at]!]! & PASSED_OVER) at += step
    return types[places[at]!]!
  }
  for (let index = 1; index < places.length - 1; index += 1) {
    const at = places[index]!
    if (!(types[at]! & (ES | CS))) continue
    const [left, right] = [typeBeside(index - 1, -1), typeBeside(index + 1, 1)]
    if (left === right && (types[at] === ES ? left === EN : left & (EN | AN))) types[at] = left
  }
  const spread = (from: number, step: 1 | -1, over: number, to: number): void => {
    for (let index = from; types[places[index] ?? -1]! & over; index += step) types[places[index]!] = to
  }
  for (const [index, at] of places.entries()) {
    if (!(types[at]! & EN)) continue
    spread(index - 1, -1, ET | PASSED_OVER, EN)
    spread(index + 1, 1, ET | PASSED_OVER, EN)
  }
  for (const [index, at] of places.entries()) {
    if (!(types[at]! & (ET | ES | CS))) continue
    types[at] = ON
    spread(index - 1, -1, PASSED_OVER, ON)
    spread(index + 1, 1, PASSED_OVER, ON)
  }
  strong = before
  for (const at of places) {
    const type = types[at]!
    if (type & EN && strong === L) types[at] = L
    else if (type & STRONG) strong = type
  }
}

/** Brackets go with what stands within them, or before them (N0). */
function resolveBrackets(
  { places, direction, before }: Sequence,
  types: Uint32Array,
  original: Uint32Array,
  text: string,
): void {
  const pairs = bracketPairs(places, types, text)
  if (pairs.length === 0) return
  // How many of the places before each go the sequence's way, and how many the other.
  const same = new Uint32Array(places.length + 1)
  const other = new Uint32Array(places.length + 1)
  const strongOf = (at: number): number => (types[at]! & FROM_RIGHT ? R : types[at]! & L)
  for (const [index, at] of places.entries()) {
    const strong = strongOf(at)
    same[index + 1] = same[index]! + (strong === direction ? 1 : 0)
    other[index + 1] = other[index]! + (strong !== 0 && strong !== direction ? 1 : 0)
  }
  const follow = (index: number, strong: number): void => {
    let next = index + 1
    while (next < places.length && types[places[next]!]! & PASSED_OVER) next += 1
    if (next < places.length && original[places[next]!]! & NSM) types[places[next]!] = strong
  }
  let [seen, context] = [0, before]
  for (const [open, close] of pairs) {
    for (; seen < open; seen += 1) context = strongOf(places[seen]!) || context
    const within = (counts: Uint32Array): boolean => counts[close]! > counts[open + 1]!
    const strong = within(same) ? direction : within(other) ? context : 0
    if (strong === 0) continue
    types[places[open]!] = strong
    types[places[close]!] = strong
    if (strong === direction) continue
    follow(open, strong)
    follow(close, strong)
  }
}

/** Pairs in the order of their opening brackets, as indices of places (BD16). */
function bracketPairs(places: readonly number[], types: Uint32Array, text: string): [number, number][] {
  const pairs: [number, number][] = []
  const open: { character: string; index: number }[] = []
  for (const [index, at] of places.entries()) {
    if (!(types[at]! & NEUTRAL)) continue
    const character = text[at]!
    if (bidi.openingToClosingBracket(character) !== null) {
      if (open.length === MOST_OPEN_BRACKETS) break
      open.push({ character, index })
      continue
    }
    const opening = bidi.closingToOpeningBracket(character)
    if (opening === null) continue
    const canonical = bidi.getCanonicalBracket(character)
    const found = open.findLastIndex(
      one =>
        one.character === opening ||
        (canonical !== null && one.character === bidi.closingToOpeningBracket(canonical)) ||
        bidi.openingToClosingBracket(bidi.getCanonicalBracket(one.character) ?? '') === character,
    )
    if (found < 0) continue
    pairs.push([open[found]!.index, index])
    open.length = found
  }
  return pairs.sort(([a], [b]) => a - b)
}

/** Neutral characters go with both sides where these agree, else with the sequence (N1, N2). */
function resolveNeutral({ places, direction, before, after }: Sequence, types: Uint32Array): void {
  const sideOf = (index: number, otherwise: number): number =>
    places[index] === undefined ? otherwise : types[places[index]!]! & FROM_RIGHT ? R : L
  for (let index = 0; index < places.length; index += 1) {
    if (!(types[places[index]!]! & NEUTRAL)) continue
    let [start, end] = [index, index]
    while (start > 0 && types[places[start - 1]!]! & PASSED_OVER) start -= 1
    while (end + 1 < places.length && types[places[end + 1]!]! & (NEUTRAL | PASSED_OVER)) end += 1
    const left = sideOf(start - 1, before)
    const resolved = left === sideOf(end + 1, after) ? left : direction
    for (let each = start; each <= end; each += 1) types[places[each]!] = resolved
    index = end
  }
}

/** Levels of what goes another way than its level says (I1, I2). */
function implicitLevels(
  { start, end, level: base }: Paragraph,
  types: Uint32Array,
  original: Uint32Array,
  levels: Uint8Array,
): void {
  for (let at = start; at <= end; at += 1) {
    const type = types[at]!
    if (levels[at]! & 1) levels[at] = levels[at]! + (type & (L | EN | AN) ? 1 : 0)
    else levels[at] = levels[at]! + (type & R ? 1 : type & (AN | EN) ? 2 : 0)
    if (type & PASSED_OVER) levels[at] = at === 0 ? base : levels[at - 1]!
    if (isReset(at, end, original)) levels[at] = base
  }
}

/** Separators, and what trails at the end of a paragraph, have its level (L1). */
const isReset = (at: number, end: number, original: Uint32Array): boolean =>
  (original[at]! & (S | B)) !== 0 || (at === end && (original[at]! & TRAILING) !== 0)

/** The blanks before them have it too. */
function resetTrailing(paragraphs: readonly Paragraph[], original: Uint32Array, levels: Uint8Array): void {
  let level: number | undefined
  for (const { start, end, level: base } of paragraphs.toReversed())
    for (let at = end; at >= start; at -= 1) {
      if (!(original[at]! & TRAILING)) level = undefined
      else {
        if (isReset(at, end, original)) level ??= base
        if (level !== undefined) levels[at] = level
      }
    }
}
