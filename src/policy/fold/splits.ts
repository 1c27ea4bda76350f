// The amounts that a modification splits at a time. A plugin may state the splits (brief 3.2, 5.6). They are derived from the
// policy after the modification, so the plugin is called only for splits that the fold makes.
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, sum } from '../../kernel/money.ts'
import type { Instant, Span } from '../../kernel/time.ts'
import type {
  Amounts,
  Fee,
  FeeChange,
  FeePart,
  Modification,
  PerilRun,
  PolicyAggregate,
  Quote,
} from '../records/aggregate.ts'
import { feeInForce, type Line, lineOf, withIssued } from './line.ts'
import { type Piece, piecesOf } from './pieces.ts'
import { mapAmounts, minusAmounts, type Prorated, splitsIn } from './shares.ts'

/** The amounts of a run over a span in a segment, and the time at which they are split. */
export type SplitOfRun = Span & {
  readonly run: PerilRun
  readonly segment: Uuid
  readonly at: Instant
  readonly amounts: Amounts
  /** Later runs of the peril that the modification changes too: removed, replaced or restored whole. */
  readonly following: readonly FollowingRun[]
}

export type FollowingRun = { readonly run: PerilRun; readonly amounts: Amounts }

export type SplitOfFee = Span & {
  readonly fee: Fee
  readonly at: Instant
  readonly amount: Money
  readonly following: Money
}

export type Splits = { readonly runs: readonly SplitOfRun[]; readonly fees: readonly SplitOfFee[] }

/** Whether the modification may hold back part of a refund. Only cancellations with a type may (brief 3.2). */
export const mayHoldBack = ({ kind, cancellationName }: Modification): boolean =>
  kind === 'cancellation' && cancellationName !== undefined

/**
 * Returns the splits of the modification, applied in `aggregate`, that no plugin has stated yet. Of several splits of one stretch,
 * lists only the first, because the next ones split its remainder. If a cancellation may hold back, it also lists what the
 * cancellation removes whole, split at its start: no time of it is left, but part of its amount may be kept.
 */
export function openSplits(
  aggregate: PolicyAggregate,
  quote: Quote,
  modification: Modification,
  known: Prorated,
): Splits {
  const line = lineOf(aggregate, quote, withIssued(modification.locator))
  return {
    runs: splitRuns(aggregate, line, modification),
    fees: splitFees(aggregate, line, modification, known),
  }
}

type Touched = Span & FollowingRun

function splitRuns({ perilRuns, perils, policy }: PolicyAggregate, line: Line, modification: Modification) {
  const { locator: by } = modification
  const splits: Omit<SplitOfRun, 'following'>[] = []
  // A renewal makes new perils of the same group.
  const groupOf = ({ perilLocator }: PerilRun): Uuid => perils.get(perilLocator)!.renewalGroup
  const touched = new Map<Uuid, Touched[]>()
  for (const run of perilRuns.values()) {
    if (run.madeBy === by) continue
    const pieces = piecesOf(run, line, policy.timeZone)
    const stretches = [...replacedStretches(pieces, by), ...restoredStretches(pieces, by)]
    const changed = touched.get(groupOf(run)) ?? []
    touched.set(groupOf(run), changed)
    for (const { start, end, amounts } of stretches) changed.push({ start, end, amounts, run })
    for (const stretch of stretches) {
      const split = firstUnstatedSplit(run, stretch, modification)
      if (split && !isNothing(split.amounts)) splits.push(split)
    }
  }
  return splits.map(
    (split): SplitOfRun => ({
      ...split,
      following: touched.get(groupOf(split.run))!.filter(one => one.start >= split.end),
    }),
  )
}

const isNothing = ({ premium, technicalPremium, taxes, commissions }: Amounts): boolean =>
  [premium, technicalPremium, ...taxes, ...commissions].every(amount => !amount || amount.minor === 0)

/** A span of a run that the modification changes, and the parts that the modification makes of it, ordered by time. */
type Stretch = Span & {
  readonly segment: Uuid
  readonly amounts: Amounts
  readonly parts: readonly Span[]
}

const replacedStretches = (pieces: readonly Piece[], by: Uuid): Stretch[] =>
  pieces.flatMap(piece => {
    const { start, end, segment, amounts, replacedBy } = piece
    if (replacedBy !== by || !amounts) return []
    return [{ start, end, segment: segment.locator, amounts, parts: successorsOf(pieces, piece, by) }]
  })

/** Stretches that an earlier modification removed and this one restores from a time on. */
function restoredStretches(pieces: readonly Piece[], by: Uuid): Stretch[] {
  const made = pieces.filter(piece => piece.madeBy === by)
  return made.flatMap(restoredPiece => {
    const source = pieces.find(piece => piece.segment.locator === restoredPiece.segment.predecessor)
    if (!source?.amounts || !source.replacedBy || source.replacedBy === by) return []
    const continued = successorsOf(pieces, source, source.replacedBy)
    const removed = continued.reduce(
      (remaining, part) => minusAmounts(remaining, part.amounts!),
      source.amounts,
    )
    const start = continued.at(-1)?.end ?? source.start
    return [
      { start, end: source.end, segment: source.segment.locator, amounts: removed, parts: [restoredPiece] },
    ]
  })
}

/** Returns the pieces that a modification made of a piece that it replaced. */
const successorsOf = (pieces: readonly Piece[], { segment }: Piece, by: Uuid): Piece[] =>
  pieces
    .filter(one => one.madeBy === by && one.segment.predecessor === segment.locator)
    .sort((a, b) => a.start - b.start)

/** Returns the first split of the stretch that no plugin has stated, with the amount that is left to split. */
function firstUnstatedSplit(
  run: PerilRun,
  { start, end, segment, amounts, parts }: Stretch,
  modification: Modification,
): Omit<SplitOfRun, 'following'> | undefined {
  const stated = splitsIn(run, modification.locator, segment)
  let remaining = amounts
  let from = start
  const times = parts.flatMap(part => [part.start, part.end]).filter(at => start < at && at < end)
  for (const at of new Set(times)) {
    if (!stated?.(at, of => of.premium)) return { run, segment, start: from, end, at, amounts: remaining }
    remaining = minusAmounts(
      remaining,
      mapAmounts(remaining, (_, amountOf) => stated(at, amountOf)!),
    )
    from = at
  }
  const isTakenWhole = parts.length === 0 && start === modification.effectiveAt
  return isTakenWhole && mayHoldBack(modification)
    ? { run, segment, start, end, at: start, amounts }
    : undefined
}

/** A part of a fee as it was before a modification that changes the fee. */
type ChangedPart = { readonly fee: Fee; readonly part: FeePart; readonly change: FeeChange }

function splitFees(
  { fees, policy }: PolicyAggregate,
  line: Line,
  modification: Modification,
  known: Prorated,
): SplitOfFee[] {
  const { locator: by, kind, undoes, effectiveAt, policyEnd } = modification
  const before = line.filter(step => step.modification.locator !== by)
  const at = kind === 'endorsement' ? policyEnd : effectiveAt
  const isSplit = ({ part: { start, end }, change: { parts, removed } }: ChangedPart): boolean =>
    (start < at || (start === at && mayHoldBack(modification))) &&
    [...parts, ...removed].some(one => one.start === at && one.end === end)
  const changed = [...fees.values()].flatMap(fee => {
    const change = fee.changes.find(one => one.by === by)
    if (!change || known.fees.has(fee.locator)) return []
    const whole = undoes
      ? (fee.changes.find(one => one.by === undoes)?.removed ?? [])
      : feeInForce(fee, before).parts
    return whole.map((part): ChangedPart => ({ fee, part, change }))
  })
  const split = changed.filter(one => one.part.amount.minor !== 0 && isSplit(one))
  // A renewal makes a new fee of the same name. Of several fees of that name that are split, it follows the first.
  const following = Map.groupBy(changed, ({ fee, part }) => {
    const earlier = split.filter(one => one.fee.name === fee.name && one.part.end <= part.start)
    return earlier.find(one => one.fee === fee) ?? earlier[0]
  })
  return split.map(one => ({
    ...one.part,
    fee: one.fee,
    at,
    following: sum(
      (following.get(one) ?? []).map(({ part }) => part.amount),
      policy.currency,
    ),
  }))
}
