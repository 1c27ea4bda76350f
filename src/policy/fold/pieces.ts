// A run has one piece for each segment that it covers, as the line leaves them. Pieces are the contract's peril
// characteristics; they are derived and have no rows (docs/design.md, section 1).
import { derivedUuid, type Uuid } from '../../kernel/locators.ts'
import { memoByObject } from '../../kernel/maps.ts'
import { type Money, minus, sum } from '../../kernel/money.ts'
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
import { isIssued, type Line, lineOf, type Step, withIssued } from './line.ts'
import type { AmountOf, Measure } from './shares.ts'
import {
  amountsOf,
  each,
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

/** What a step removed from the run in a segment. */
type Removal = {
  readonly by: Uuid
  readonly segment: Uuid
  readonly span: Span
  readonly amounts: Amounts | undefined
}

/** Whether the step can make or replace pieces of the run. */
export function reaches({ modification, made, replaced }: Step, run: PerilRun): boolean {
  const meets = ({ start, end }: Span): boolean => start < run.end && run.start < end
  return modification.locator === run.madeBy || made.some(meets) || replaced.some(meets)
}

/** A run's pieces while the steps of a line are applied to it. */
type RunFold = {
  readonly run: PerilRun
  /** All that ever existed, replaced ones too. */
  readonly pieces: Piece[]
  /** Indexes of pieces not replaced yet: in a long line, most pieces are replaced. */
  current: number[]
  readonly removals: Removal[]
}

/** Every piece that the run ever had in the line, ordered by modification, then time. */
export function piecesOf(run: PerilRun, line: Line, timeZone: TimeZone): Piece[] {
  const fold: RunFold = { run, pieces: [], current: [], removals: [] }
  const places = placesIn(line)
  // The run does not exist before its own modification.
  const first = places.made.get(run.madeBy)
  if (first === undefined) return fold.pieces
  addTo(fold, firstPieces(run, line[first]!, measureOf(prorationOf(line[first]!), timeZone)))
  for (let at = nextFor(fold, places, first); at !== undefined; at = nextFor(fold, places, at))
    advance(fold, line[at]!, timeZone)
  return fold.pieces
}

/** Places in the line: of each modification, and of the steps that replace or continue a segment. */
type Places = {
  /** Steps indexed so far: a line may be built step by step. */
  readonly steps: number
  readonly made: ReadonlyMap<Uuid, number>
  readonly touched: ReadonlyMap<Uuid, readonly number[]>
}

const placesByLine = new WeakMap<Line, Places>()

function placesIn(line: Line): Places {
  const known = placesByLine.get(line)
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
  const places = {
    steps: line.length,
    made: new Map(line.map(({ modification: { locator } }, at) => [locator, at])),
    touched,
  }
  placesByLine.set(line, places)
  return places
}

/** The next step that affects the run. Skips the others: a long line has many. */
function nextFor(
  { pieces, current, removals }: RunFold,
  { touched }: Places,
  after: number,
): number | undefined {
  let next: number | undefined
  const look = (segment: Uuid): void => {
    const at = touched.get(segment)?.find(one => one > after)
    if (at !== undefined && (next === undefined || at < next)) next = at
  }
  for (const at of current) look(pieces[at]!.segment.locator)
  for (const { segment } of removals) look(segment)
  return next
}

const prorationOf = ({ modification }: Step) => modification.proration ?? 'monthly'

function addTo({ pieces, current }: RunFold, made: readonly Piece[]): void {
  for (const piece of made) current.push(pieces.push(piece) - 1)
}

/** The pieces in force at the end of the line, ordered by time. */
export const inForce = (pieces: readonly Piece[]): Piece[] =>
  pieces.filter(piece => piece.replacedBy === undefined).sort((a, b) => a.start - b.start)

/**
 * Applies one modification: pieces of replaced segments go, and pieces of the new segments take their place. From a cut
 * on, the run has no pieces: other runs take over.
 */
function advance(fold: RunFold, step: Step, timeZone: TimeZone): void {
  const { run, pieces, current, removals } = fold
  const replaced = replacedIn(step)
  const isReplaced = (at: number): boolean => replaced.has(pieces[at]!.segment.locator)
  if (removals.length === 0 && !current.some(isReplaced)) return
  const by = step.modification.locator
  const measure = measureOf(prorationOf(step), timeZone)
  const cut = run.cuts.find(one => one.by === by)?.from ?? run.end
  const made: Piece[] = []
  for (const at of current.filter(isReplaced)) {
    const piece = pieces[at]!
    pieces[at] = { ...piece, replacedBy: by }
    const parts = step.made
      .filter(segment => segment.predecessor === piece.segment.locator)
      .flatMap(segment => within(segment, { start: piece.start, end: earlier(piece.end, cut) }))
    const split = splitsIn(run, by, piece.segment.locator)
    const amounts =
      piece.amounts &&
      splitAmounts(piece.amounts, (one, amountOf) => {
        const stated = split && ((at: Instant) => split(at, amountOf))
        return shares(one, piece, spansOf(parts), measure, stated)
      })
    made.push(...parts.map((part, index) => pieceOf(part, by, amounts?.[index])))
    if (cut === run.end) removals.push(...removalFrom(piece, parts, amounts, by))
  }
  for (const segment of step.made)
    if (segment.predecessor !== undefined && !replaced.has(segment.predecessor))
      made.push(...restored(run, removals, segment, by, measure))
  fold.current = current.filter(at => !isReplaced(at))
  addTo(
    fold,
    made.sort((a, b) => a.start - b.start),
  )
}

/** The segments that a step replaced: the same for every run. */
const replacedIn = memoByObject(
  (step: Step): ReadonlySet<Uuid> => new Set(step.replaced.map(segment => segment.locator)),
)

type Part = { segment: PolicySegment; span: Span }

const spansOf = (parts: readonly Part[]): Span[] => parts.map(part => part.span)

/** The overlap of a segment and a span; empty if there is none. */
function within(segment: PolicySegment, span: Span): Part[] {
  const start = Math.max(segment.start, span.start) as Instant
  const end = Math.min(segment.end, span.end) as Instant
  return start < end ? [{ segment, span: { start, end } }] : []
}

const pieceOf = ({ segment, span }: Part, madeBy: Uuid, amounts: Amounts | undefined): Piece => ({
  ...span,
  segment,
  madeBy,
  replacedBy: undefined,
  amounts,
})

/** The run's own modification: shares its amounts over the segments that it made. */
function firstPieces(run: PerilRun, step: Step, measure: Measure): Piece[] {
  const parts = step.made.flatMap(segment => within(segment, run))
  const [only] = parts
  if (only && parts.length === 1 && only.span.start === run.start && only.span.end === run.end)
    return [pieceOf(only, run.madeBy, run.price && amountsOf(run.price))]
  const amounts =
    run.price && splitAmounts(amountsOf(run.price), one => shares(one, run, spansOf(parts), measure))
  return parts.map((part, at) => pieceOf(part, run.madeBy, amounts?.[at]))
}

/** The rest of a piece after its last part. */
function removalFrom(piece: Piece, parts: readonly Part[], kept: Amounts[] | undefined, by: Uuid): Removal[] {
  const start = parts.at(-1)?.span.end ?? piece.start
  if (start >= piece.end) return []
  const remainder = piece.amounts && kept?.reduce(minusAmounts, piece.amounts)
  return [{ by, segment: piece.segment.locator, span: { start, end: piece.end }, amounts: remainder }]
}

/**
 * What a new segment restores of what was removed from its predecessor. From the same time on, all of it; from a later
 * time, without the earlier part, as a plugin stated it or in proportion (brief 1.6). Nothing is rated again.
 */
function restored(
  run: PerilRun,
  removals: Removal[],
  segment: PolicySegment,
  by: Uuid,
  measure: Measure,
): Piece[] {
  const taken = removals.filter(removal => removal.segment === segment.predecessor)
  return taken.flatMap(removal => {
    removals.splice(removals.indexOf(removal), 1)
    return within(segment, removal.span).map(part => {
      const { start } = part.span
      const split = splitsIn(run, by, removal.segment)
      const share = (amount: Money, amountOf: AmountOf): Money => {
        if (start === removal.span.start) return amount
        const before = split?.(start, amountOf)
        return before
          ? minus(amount, before)
          : portion(amount, measure(start, removal.span.end), measure(removal.span.start, removal.span.end))
      }
      return pieceOf(part, by, removal.amounts && each(removal.amounts, share))
    })
  })
}

// Pieces of an exposure's run, as its cuts leave them (brief 2.2): the contract's exposure characteristics. Derived, no rows.
export type ExposurePiece = Span & {
  readonly run: ExposureRun
  readonly locator: Uuid
  readonly madeBy: Uuid
  readonly replacedBy: Uuid | undefined
}

/** Every piece that the run ever had; `order` is the line in which cuts count. */
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

/** Whether the piece holds at that time, as known after the step. */
export const holdsAt = (
  piece: ExposurePiece,
  at: Span['start'],
  step: number,
  order: ReadonlyMap<Uuid, number>,
): boolean =>
  piece.start <= at &&
  at < piece.end &&
  order.get(piece.madeBy)! <= step &&
  (piece.replacedBy === undefined || order.get(piece.replacedBy)! > step)

/** The total premium in force at the end of the line. */
function premiumOf(aggregate: PolicyAggregate, line: Line): Money {
  const makers = new Set(line.map(step => step.modification.locator))
  const { currency, timeZone } = aggregate.policy
  const pieces = [...aggregate.perilRuns.values()]
    .filter(run => makers.has(run.madeBy))
    .flatMap(run => inForce(piecesOf(run, line, timeZone)))
  return premiumIn(pieces, currency)
}

/** How the modification, the last of the line, changes the premium in force. */
export function premiumChangeOf(aggregate: PolicyAggregate, quote: Quote, modification: Modification): Money {
  const by = modification.locator
  const line = lineOf(aggregate, quote, withIssued(by))
  const last = line.at(-1)
  if (last?.modification.locator === by) return premiumChangeOfLast(aggregate, line, last)
  const without = lineOf(aggregate, quote, one => one !== modification && isIssued(one))
  return minus(premiumOf(aggregate, line), premiumOf(aggregate, without))
}

/** Compares only pieces that the last step made or replaced: nothing else changes. */
function premiumChangeOfLast({ perilRuns, policy }: PolicyAggregate, line: Line, last: Step): Money {
  const by = last.modification.locator
  const makers = new Set(line.map(step => step.modification.locator))
  const changed = [...perilRuns.values()]
    .filter(run => makers.has(run.madeBy) && reaches(last, run))
    .flatMap(run => piecesOf(run, line, policy.timeZone))
  const added = changed.filter(piece => piece.madeBy === by && piece.replacedBy === undefined)
  const removed = changed.filter(piece => piece.madeBy !== by && piece.replacedBy === by)
  return minus(premiumIn(added, policy.currency), premiumIn(removed, policy.currency))
}

const premiumIn = (pieces: readonly Piece[], currency: Money['currency']): Money =>
  sum(
    pieces.flatMap(piece => (piece.amounts ? [piece.amounts.premium] : [])),
    currency,
  )
