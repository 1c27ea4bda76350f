// A run has one piece for each segment that it covers, as the line splits them. Pieces are the peril characteristics of the
// contract. They are derived and have no rows (docs/design.md, section 1).
import { derivedUuid, type Uuid } from '../../kernel/locators.ts'
import { memoByObject } from '../../kernel/maps.ts'
import { type Money, minus, plus, zero } from '../../kernel/money.ts'
import { earlier, type Instant, type Span, type TimeZone } from '../../kernel/time.ts'
import type {
  Amounts,
  ExposureRun,
  Modification,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../records/aggregate.ts'
import { type Line, lineOf, type Step, withIssued } from './line.ts'
import type { Measure } from './shares.ts'
import {
  amountsOf,
  mapAmounts,
  measureOf,
  minusAmounts,
  portion,
  shares,
  splitAmounts,
  splitsIn,
} from './shares.ts'

/** The part of a run within one policy segment. It has amounts once the run is priced. */
export type Piece = Span & {
  readonly segment: PolicySegment
  readonly madeBy: Uuid
  readonly replacedBy: Uuid | undefined
  readonly amounts: Amounts | undefined
}

/**
 * Returns every piece that the run ever had in the line, ordered by modification, then by time. Empty if the line lacks the run's
 * own modification.
 */
export function piecesOf(run: PerilRun, line: Line, timeZone: TimeZone): Piece[] {
  const { pieces, divisions } = shapeOf(run, line, timeZone)
  const amounts: (Amounts | undefined)[] = [run.price && amountsOf(run.price)]
  if (amounts[OF_RUN]) for (const one of divisions) one.divide(run, amounts as Amounts[])
  return pieces.map(({ start, end, segment, madeBy, replacedBy, place }) => ({
    start,
    end,
    segment,
    madeBy,
    replacedBy,
    amounts: amounts[place],
  }))
}

/** Returns how many pieces the run ever had in the line. */
export const countPieces = (run: PerilRun, line: Line, timeZone: TimeZone): number =>
  shapeOf(run, line, timeZone).pieces.length

/**
 * The pieces of a run and how its amounts are divided among them. All runs that have the same span, were made by the same
 * modification and were cut by the same modifications share one shape. The line is therefore followed once for all of them, and
 * each run only divides its amounts: a large policy has thousands of such runs.
 */
type Shape = { readonly pieces: readonly PieceShape[]; readonly divisions: readonly Division[] }

/** A piece without its amounts. `place` is the index of its amounts among those of the run. */
type PieceShape = Omit<Piece, 'amounts'> & { readonly place: number }

/** One division: computes amounts at new places from amounts at known places. */
type Division = { divide(run: PerilRun, amounts: Amounts[]): void }

/** The place of the run's undivided amounts. */
const OF_RUN = 0

function shapeOf(run: PerilRun, line: Line, timeZone: TimeZone): Shape {
  const index = indexOf(line)
  const key = `${run.madeBy} ${run.start} ${run.end} ${timeZone} ${run.cuts.map(({ by, from }) => `${by} ${from}`).join()}`
  let shape = index.shapes.get(key)
  if (!shape) {
    shape = foldShape(run, line, index, timeZone)
    index.shapes.set(key, shape)
  }
  return shape
}

type RunSpan = Pick<PerilRun, 'madeBy' | 'start' | 'end' | 'cuts'>

/** The part of a run that a step removed from a segment. `place` is the place of its amounts. */
type Removal = {
  readonly segment: Uuid
  readonly span: Span
  readonly place: number
}

/** A shape while the steps of a line are applied to it. */
type Fold = {
  readonly run: RunSpan
  /** Every piece that ever existed, including replaced ones. */
  readonly pieces: PieceShape[]
  /** Indexes of the pieces that are not replaced yet. In a long line, most pieces are replaced. */
  current: number[]
  readonly removals: Removal[]
  readonly divisions: Division[]
  /** The number of places in use. */
  places: number
}

function foldShape(run: RunSpan, line: Line, index: LineIndex, timeZone: TimeZone): Shape {
  const fold: Fold = { run, pieces: [], current: [], removals: [], divisions: [], places: 1 }
  // The run does not exist before its own modification.
  const first = index.made.get(run.madeBy)
  if (first === undefined) return fold
  applyOwnModification(fold, line[first]!, timeZone)
  for (let at = nextStepFor(fold, index, first); at !== undefined; at = nextStepFor(fold, index, at))
    applyLaterModification(fold, line[at]!, timeZone)
  return fold
}

/**
 * The index of each modification in the line, the indexes of the steps that replace or continue each segment, and the shapes
 * computed so far.
 */
type LineIndex = {
  /** Number of steps indexed. A line may be built step by step, so it can be longer than its index. */
  readonly steps: number
  readonly made: ReadonlyMap<Uuid, number>
  readonly touched: ReadonlyMap<Uuid, readonly number[]>
  readonly shapes: Map<string, Shape>
}

const indexes = new WeakMap<Line, LineIndex>()

function indexOf(line: Line): LineIndex {
  const known = indexes.get(line)
  if (known?.steps === line.length) return known
  const touched = new Map<Uuid, number[]>()
  const touch = (segment: Uuid, at: number): void => {
    const own = touched.get(segment)
    if (!own) touched.set(segment, [at])
    else if (own.at(-1) !== at) own.push(at)
  }
  for (const [at, { made, replaced }] of line.entries()) {
    for (const { locator } of replaced) touch(locator, at)
    for (const { predecessor } of made) if (predecessor !== undefined) touch(predecessor, at)
  }
  const index: LineIndex = {
    steps: line.length,
    made: new Map(line.map(({ modification: { locator } }, at) => [locator, at])),
    touched,
    shapes: new Map(),
  }
  indexes.set(line, index)
  return index
}

/** Returns the next step that affects the run, skipping all others: a long line has many. */
function nextStepFor(
  { pieces, current, removals }: Fold,
  { touched }: LineIndex,
  after: number,
): number | undefined {
  let next: number | undefined
  const considerSegment = (segment: Uuid): void => {
    const at = touched.get(segment)?.find(one => one > after)
    if (at !== undefined && (next === undefined || at < next)) next = at
  }
  for (const at of current) considerSegment(pieces[at]!.segment.locator)
  for (const { segment } of removals) considerSegment(segment)
  return next
}

const prorationOf = ({ modification }: Step) => modification.proration ?? 'monthly'

function addTo({ pieces, current }: Fold, made: readonly PieceShape[]): void {
  for (const piece of made) current.push(pieces.push(piece) - 1)
}

/** Makes a piece of each part and gives each its own place. */
const placePieces = (fold: Fold, parts: readonly Part[], madeBy: Uuid): PieceShape[] =>
  parts.map(({ segment, span: { start, end } }) => {
    const place = fold.places
    fold.places += 1
    return { start, end, segment, madeBy, replacedBy: undefined, place }
  })

/** Returns the pieces in force at the end of the line, ordered by time. */
export const piecesInForce = (pieces: readonly Piece[]): Piece[] =>
  pieces.filter(piece => piece.replacedBy === undefined).sort((a, b) => a.start - b.start)

/** Applies the run's own modification: shares the run's amounts among the segments that the modification made. */
function applyOwnModification(fold: Fold, step: Step, timeZone: TimeZone): void {
  const { run } = fold
  const pieces = placePieces(
    fold,
    step.made.flatMap(segment => overlapOf(segment, run)),
    run.madeBy,
  )
  fold.divisions.push(makeDivision(OF_RUN, run, pieces, measureOf(prorationOf(step), timeZone)))
  addTo(fold, pieces)
}

/**
 * Applies one later modification: pieces of replaced segments end, and pieces of the new segments take their place. From a cut on,
 * the run has no pieces, because other runs take over.
 */
function applyLaterModification(fold: Fold, step: Step, timeZone: TimeZone): void {
  const { run, pieces, current, removals } = fold
  const replaced = replacedLocatorsOf(step)
  const isReplaced = (at: number): boolean => replaced.has(pieces[at]!.segment.locator)
  if (removals.length === 0 && !current.some(isReplaced)) return
  const by = step.modification.locator
  const measure = measureOf(prorationOf(step), timeZone)
  const cut = run.cuts.find(one => one.by === by)?.from ?? run.end
  const added: PieceShape[] = []
  for (const at of current.filter(isReplaced)) {
    const piece = pieces[at]!
    pieces[at] = { ...piece, replacedBy: by }
    const parts = placePieces(
      fold,
      step.made
        .filter(segment => segment.predecessor === piece.segment.locator)
        .flatMap(segment => overlapOf(segment, { start: piece.start, end: earlier(piece.end, cut) })),
      by,
    )
    fold.divisions.push(
      makeDivision(piece.place, piece, parts, measure, { by, segment: piece.segment.locator }),
    )
    added.push(...parts)
    if (cut === run.end) remove(fold, piece, parts)
  }
  for (const segment of step.made)
    if (segment.predecessor !== undefined && !replaced.has(segment.predecessor))
      added.push(...restorePieces(fold, segment, by, measure))
  fold.current = current.filter(at => !isReplaced(at))
  addTo(
    fold,
    added.sort((a, b) => a.start - b.start),
  )
}

/** Returns the locators of the segments that a step replaced. They are the same for every run. */
const replacedLocatorsOf = memoByObject(
  (step: Step): ReadonlySet<Uuid> => new Set(step.replaced.map(segment => segment.locator)),
)

type Part = { segment: PolicySegment; span: Span }

/** Returns the overlap of a segment and a span. Empty if there is none. */
function overlapOf(segment: PolicySegment, span: Span): Part[] {
  const start = Math.max(segment.start, span.start) as Instant
  const end = Math.min(segment.end, span.end) as Instant
  return start < end ? [{ segment, span: { start, end } }] : []
}

/** The modification that divides and the segment whose amounts it divides. A plugin may have stated the split for them. */
type Divided = { readonly by: Uuid; readonly segment: Uuid }

/** Shares the amounts at the place `from`, which are for the span `whole`, among the parts. */
const makeDivision = (
  from: number,
  whole: Span,
  parts: readonly PieceShape[],
  measure: Measure,
  divided?: Divided,
): Division => ({
  divide(run, amounts) {
    const split = divided && splitsIn(run, divided.by, divided.segment)
    const shared = splitAmounts(amounts[from]!, (one, amountOf) =>
      shares(one, whole, parts, measure, split && ((at: Instant) => split(at, amountOf))),
    )
    for (const [at, { place }] of parts.entries()) amounts[place] = shared[at]!
  },
})

/** Keeps the remainder of a piece after its last part, because a later step may restore it. */
function remove(fold: Fold, piece: PieceShape, parts: readonly PieceShape[]): void {
  const start = parts.at(-1)?.end ?? piece.start
  if (start >= piece.end) return
  const place = fold.places
  fold.places += 1
  fold.divisions.push({
    divide(_, amounts) {
      amounts[place] = parts.map(part => amounts[part.place]!).reduce(minusAmounts, amounts[piece.place]!)
    },
  })
  fold.removals.push({ segment: piece.segment.locator, span: { start, end: piece.end }, place })
}

/**
 * Returns the pieces that a new segment restores of what was removed from its predecessor. If the new segment begins with the
 * removed span, the whole amount returns. If it begins later, the earlier part is left out: by the amount that a plugin stated, or
 * in proportion (brief 1.6). Nothing is rated again.
 */
function restorePieces(fold: Fold, segment: PolicySegment, by: Uuid, measure: Measure): PieceShape[] {
  const taken = fold.removals.filter(removal => removal.segment === segment.predecessor)
  return taken.flatMap(removal => {
    fold.removals.splice(fold.removals.indexOf(removal), 1)
    const { span } = removal
    const parts = placePieces(fold, overlapOf(segment, span), by)
    for (const { start, place } of parts)
      fold.divisions.push({
        divide(run, amounts) {
          const split = splitsIn(run, by, removal.segment)
          amounts[place] = mapAmounts(amounts[removal.place]!, (amount, amountOf) => {
            if (start === span.start) return amount
            const before = split?.(start, amountOf)
            return before
              ? minus(amount, before)
              : portion(amount, measure(start, span.end), measure(span.start, span.end))
          })
        },
      })
    return parts
  })
}

/**
 * The part of an exposure's run between its cuts (brief 2.2). Pieces are the exposure characteristics of the contract. They are
 * derived and have no rows.
 */
export type ExposurePiece = Span & {
  readonly run: ExposureRun
  readonly locator: Uuid
  readonly madeBy: Uuid
  readonly replacedBy: Uuid | undefined
}

/** Returns every piece that the run ever had. `order` is the line in which cuts count: modifications with their index. */
export function exposurePieces(
  run: ExposureRun,
  order: ReadonlyMap<Uuid, number>,
  shard: number,
): ExposurePiece[] {
  const cuts = run.cuts.filter(cut => order.has(cut.by)).sort((a, b) => order.get(a.by)! - order.get(b.by)!)
  const pieces: ExposurePiece[] = []
  let piece: ExposurePiece = {
    start: run.start,
    end: run.end,
    run,
    locator: run.locator,
    madeBy: run.madeBy,
    replacedBy: undefined,
  }
  for (const cut of cuts) {
    pieces.push({ ...piece, replacedBy: cut.by })
    if (cut.from <= run.start) return pieces
    piece = {
      ...piece,
      end: earlier(piece.end, cut.from),
      locator: derivedUuid(shard, run.locator, cut.by),
      madeBy: cut.by,
      replacedBy: undefined,
    }
  }
  return [...pieces, piece]
}

/** Whether the piece is in force at that time, as known after the given step. */
export const isInForceAt = (
  piece: ExposurePiece,
  at: Span['start'],
  step: number,
  order: ReadonlyMap<Uuid, number>,
): boolean =>
  piece.start <= at &&
  at < piece.end &&
  order.get(piece.madeBy)! <= step &&
  (piece.replacedBy === undefined || order.get(piece.replacedBy)! > step)

/** Whether the step can make or replace pieces of the run. */
export function mayChangeRun({ modification, made, replaced }: Step, run: PerilRun): boolean {
  const overlapsRun = ({ start, end }: Span): boolean => start < run.end && run.start < end
  return modification.locator === run.madeBy || made.some(overlapsRun) || replaced.some(overlapsRun)
}

/**
 * Returns how the modification, as the last of the line, changes the premium in force: the premium of the pieces that it made minus
 * that of the pieces that it replaced. Reads the pieces of one run at a time and does not keep them: those of a large policy do not
 * fit into memory.
 */
export function premiumChangeOf(
  aggregate: PolicyAggregate,
  quote: Quote,
  { locator: by }: Modification,
): Money {
  const { currency, timeZone } = aggregate.policy
  const line = lineOf(aggregate, quote, withIssued(by))
  const last = line.at(-1)!
  let change = zero(currency)
  for (const run of aggregate.perilRuns.values())
    if (mayChangeRun(last, run))
      for (const { madeBy, replacedBy, amounts } of piecesOf(run, line, timeZone)) {
        if (madeBy === by && amounts) change = plus(change, amounts.premium)
        if (replacedBy === by && amounts) change = minus(change, amounts.premium)
      }
  return change
}
