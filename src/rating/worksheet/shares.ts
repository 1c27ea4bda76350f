// How the amounts of a run's pieces follow from earlier amounts, by the formulas of policy/fold/pieces.ts. Has one line for each
// part, so that a reader can recompute it. The amounts themselves are those of the fold.
import Big from 'big.js'
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, minus, RATE_PLACES, toText } from '../../kernel/money.ts'
import type { Instant, Span, TimeZone } from '../../kernel/time.ts'
import type { WorksheetShare } from '../../policy/contract/worksheet.ts'
import { endOfRun, type Line, type Step } from '../../policy/fold/line.ts'
import { type Piece, piecesOf } from '../../policy/fold/pieces.ts'
import {
  type AmountOf,
  amountsOf,
  type Measure,
  measureOf,
  minusAmounts,
  portion,
  splitsIn,
} from '../../policy/fold/shares.ts'
import type { Amounts, PerilPrice, PerilRun, Proration } from '../../policy/records/aggregate.ts'

/** What an amount is split from: the run as it was rated, an earlier piece, or what a cancellation removed. */
type Source = {
  readonly what: 'run' | 'piece' | 'removed'
  readonly span: Span
  readonly amounts: Amounts
  readonly proration: Proration
}

export type ExplainedPiece = {
  readonly piece: Piece
  readonly from: Omit<Source, 'amounts'>
  readonly shares: readonly WorksheetShare[]
}

/** Returns every piece that the run ever had, ordered by transaction, then by time. Empty without a price. */
export function explainedPieces(run: PerilRun, line: Line, timeZone: TimeZone): ExplainedPiece[] {
  if (!run.price) return []
  const pieces = piecesOf(run, line, timeZone)
  const steps = new Map(line.map(step => [step.modification.locator, step]))
  return pieces.map(piece => {
    const { source, siblings } = sourceOf(run, piece, pieces, steps)
    const { proration } = source
    const measure = measureOf(proration, timeZone)
    const shares = namesOf(run.price!).map(named => ({
      ...named.shown,
      ...shareOf(run, piece, siblings, source, measure, named.of),
    }))
    return { piece, from: { what: source.what, span: source.span, proration }, shares }
  })
}

type Named = { readonly shown: Pick<WorksheetShare, 'of' | 'name'>; readonly of: AmountOf }

function namesOf({ technicalPremium, taxes, commissions }: PerilPrice): Named[] {
  return [
    { shown: { of: 'premium' }, of: amounts => amounts.premium },
    ...(technicalPremium
      ? [{ shown: { of: 'technicalPremium' as const }, of: (one: Amounts) => one.technicalPremium! }]
      : []),
    ...taxes.map(({ name }, at) => ({
      shown: { of: 'tax' as const, name },
      of: (one: Amounts) => one.taxes[at]!,
    })),
    ...commissions.map(({ recipient: name }, at) => ({
      shown: { of: 'commission' as const, name },
      of: (one: Amounts) => one.commissions[at]!,
    })),
  ]
}

/** Returns what the piece is split from, and all pieces that are split from it together, ordered by time. */
function sourceOf(
  run: PerilRun,
  piece: Piece,
  pieces: readonly Piece[],
  steps: ReadonlyMap<Uuid, Step>,
): { source: Source; siblings: readonly Piece[] } {
  const proration = steps.get(piece.madeBy)?.modification.proration ?? 'monthly'
  const ofStep = pieces.filter(one => one.madeBy === piece.madeBy)
  if (piece.madeBy === run.madeBy)
    return {
      source: { what: 'run', span: run, amounts: amountsOf(run.price!), proration },
      siblings: ofStep,
    }
  const { predecessor } = piece.segment
  const earlier = pieces.filter(one => one.segment.locator === predecessor)
  const siblings = ofStep.filter(one => one.segment.predecessor === predecessor)
  const parent = earlier.find(one => one.replacedBy === piece.madeBy)
  if (parent)
    return { source: { what: 'piece', span: parent, amounts: parent.amounts!, proration }, siblings }
  // A reinstatement. What was removed is what the kept parts do not have.
  const cut = earlier.at(-1)!
  const kept = pieces.filter(
    one => one.madeBy === cut.replacedBy && one.segment.predecessor === cut.segment.locator,
  )
  const span = { start: kept.at(-1)?.end ?? cut.start, end: cut.end }
  const amounts = kept.reduce((rest, one) => minusAmounts(rest, one.amounts!), cut.amounts!)
  return { source: { what: 'removed', span, amounts, proration }, siblings }
}

/** Returns the months as text. The measure counts ten-millionths of a month. */
const shownMonths = (units: number): string => new Big(units).div(10 ** RATE_PLACES).toFixed()

function shareOf(
  run: PerilRun,
  piece: Piece,
  siblings: readonly Piece[],
  { what, span, amounts, proration }: Source,
  measure: Measure,
  amountOf: AmountOf,
): Omit<WorksheetShare, 'of' | 'name'> {
  const amount = amountOf(piece.amounts!)
  const { predecessor } = piece.segment
  const split =
    what === 'run' || predecessor === undefined ? undefined : splitsIn(run, piece.madeBy, predecessor)
  const splitting = {
    piece,
    amount,
    span,
    whole: amountOf(amounts),
    measure,
    amountOf,
    stated: (to: Instant) => split?.(to, amountOf),
  }
  const { from, how, measured } =
    what === 'removed' ? originInRemoved(splitting) : originAmong(siblings, splitting)
  const shown = proration === 'linear' ? String : shownMonths
  return {
    from: toText(from),
    how,
    ...(measured && { part: shown(measured.part), whole: shown(measured.whole) }),
    amount: toText(amount),
  }
}

type Splitting = {
  readonly piece: Span
  readonly amount: Money
  /** The span that is split, and its amount. */
  readonly span: Span
  readonly whole: Money
  readonly measure: Measure
  readonly amountOf: AmountOf
  /** Returns the amount up to a time, if a plugin states it. */
  readonly stated: (to: Instant) => Money | undefined
}

/** The amount of which a piece is a part, and how the part was found. */
type Origin = {
  readonly from: Money
  readonly how: WorksheetShare['how']
  readonly measured?: { readonly part: number; readonly whole: number }
}

const measuredOrigin = (from: Money, amount: Money, part: number, whole: number): Origin => ({
  from,
  how: portion(from, part, whole).minor === amount.minor ? 'share' : 'recorded',
  measured: { part, whole },
})

function originInRemoved({ piece, amount, span, whole, measure, stated }: Splitting): Origin {
  if (piece.start === span.start) return { from: whole, how: 'all' }
  if (stated(piece.start)) return { from: whole, how: 'plugin' }
  return measuredOrigin(whole, amount, measure(piece.start, span.end), measure(span.start, span.end))
}

/** `siblings` are the pieces of the same split, ordered by time. Each takes its part of what those before it left. */
function originAmong(
  siblings: readonly Piece[],
  { piece, amount, span, whole, measure, amountOf, stated }: Splitting,
): Origin {
  let left = whole
  let from = span.start
  const taken = (to: Instant): Money =>
    stated(to) ?? portion(left, measure(from, to), measure(from, span.end))
  for (const { start, end, amounts } of siblings) {
    if (start > from) {
      left = minus(left, taken(start))
      from = start
    }
    if (start === piece.start) {
      if (end >= span.end) return { from: left, how: from === span.start ? 'all' : 'rest' }
      if (stated(end)) return { from: left, how: 'plugin' }
      return measuredOrigin(left, amount, measure(from, end), measure(from, span.end))
    }
    left = minus(left, amountOf(amounts!))
    from = end
  }
  return { from: left, how: 'recorded' }
}

/** For an endorsement that rates nothing again: the run that it continues, and the part of its amounts that it takes over. */
export type Continued = { readonly run: PerilRun; readonly shares: readonly WorksheetShare[] } & Span

/**
 * Returns the part of an earlier run of the peril that `run` takes over where it begins; undefined if there is none. `line` ends
 * with the transaction that made the run.
 */
export function continuedFrom(
  run: PerilRun,
  earlierRuns: readonly PerilRun[],
  line: Line,
  timeZone: TimeZone,
): Continued | undefined {
  for (const one of earlierRuns) {
    if (!one.price || !one.cuts.some(cut => cut.by === run.madeBy)) continue
    const uncut = { ...one, cuts: one.cuts.filter(cut => cut.by !== run.madeBy) }
    const part = explainedPieces(uncut, line, timeZone).find(
      ({ piece }) => piece.madeBy === run.madeBy && piece.start === run.start && piece.end === run.end,
    )
    if (part) return { run: one, start: part.from.span.start, end: part.from.span.end, shares: part.shares }
  }
  return undefined
}

/** Like `continuedFrom`, for a run beyond the end of an earlier one: month rates, and taxes in proportion to the months. */
export function extendedFrom(
  run: PerilRun,
  earlierRuns: readonly PerilRun[],
  line: Line,
  timeZone: TimeZone,
): Continued | undefined {
  const counted = new Set(line.map(step => step.modification.locator))
  const one = earlierRuns.findLast(other => other.price && endOfRun(other, counted) === run.start)
  if (!one) return undefined
  const measure = measureOf('monthly', timeZone)
  const part = measure(run.start, run.end)
  const whole = measure(one.start, one.end)
  const taxes: WorksheetShare[] = []
  const before = amountsOf(one.price!)
  for (const [at, { name }] of one.price!.taxes.entries()) {
    const from = before.taxes[at]!
    const amount = run.price?.taxes[at]?.amount ?? portion(from, part, whole)
    taxes.push({
      of: 'tax',
      name,
      from: toText(from),
      how: portion(from, part, whole).minor === amount.minor ? 'share' : 'recorded',
      part: shownMonths(part),
      whole: shownMonths(whole),
      amount: toText(amount),
    })
  }
  return { run: one, start: one.start, end: one.end, shares: taxes }
}
