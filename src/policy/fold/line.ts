// The line: a policy's modifications, each with the segments that it made and replaced. Folding the whole line gives what is in
// force. Folding it without its last modifications gives the policy as it was, or was known, before them.
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, type Money, plus, sumOf } from '../../kernel/money.ts'
import { earlier, type Instant, later } from '../../kernel/time.ts'
import {
  boundQuote,
  type ExposureRun,
  type Fee,
  type FeePart,
  type Holdback,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
  type PolicySegment,
  type Quote,
} from '../records/aggregate.ts'

/** One modification with the segments that it made and replaced, ordered by time. */
export type Step = {
  readonly modification: Modification
  readonly made: readonly PolicySegment[]
  readonly replaced: readonly PolicySegment[]
}

export type Line = readonly Step[]

/** Selects the modifications that count in addition to the quote's own. */
export type ModificationFilter = (modification: Modification) => boolean

export const isIssued: ModificationFilter = modification => modification.issuedAt !== undefined

/** Whether the modification was accepted or issued, and not invalidated. */
export const isStanding: ModificationFilter = ({ acceptedAt, issuedAt, invalidatedAt }) =>
  invalidatedAt === undefined && (acceptedAt !== undefined || issuedAt !== undefined)

/**
 * Whether responses list the modification. Modifications that change only fees or bills count in the line, but the contract has no
 * name for them (brief 2.1.3), so responses leave them out.
 */
export const isListed = ({ kind }: Modification): boolean => kind !== 'feeUpdate' && kind !== 'scheduleChange'

/** Counts issued modifications, and this one as if it had been issued last. */
export const withIssued =
  (locator: Uuid): ModificationFilter =>
  modification =>
    isIssued(modification) || modification.locator === locator

/** Returns the quote's line: its own modification first, issued or not, then the later ones that count. */
export function lineOf(
  aggregate: PolicyAggregate,
  quote: Quote,
  counts: ModificationFilter = isIssued,
): Line {
  const segments = indexSegments([...aggregate.segments.values()].sort((a, b) => a.start - b.start))
  const current = new Map<Uuid, PolicySegment>()
  return [...aggregate.modifications.values()]
    .filter(one => one.quoteLocator === quote.locator || (one.quoteLocator === undefined && counts(one)))
    .sort((a, b) => a.number - b.number || a.createdAt - b.createdAt)
    .map(modification => {
      const step = stepOf(modification, segments, current)
      applyStep(current, step)
      return step
    })
}

/** Returns the line up to and including `last`, which counts even if it is not issued. */
export const lineUpTo = (aggregate: PolicyAggregate, quote: Quote, last: Modification): Line =>
  lineOf(aggregate, quote, one => one.locator === last.locator || (isIssued(one) && one.number < last.number))

/** Indexes of the segments, in order of time. Built once for the whole line. */
type OrderedSegments = {
  readonly places: ReadonlyMap<Uuid, number>
  readonly byLocator: ReadonlyMap<Uuid, PolicySegment>
  readonly madeBy: ReadonlyMap<Uuid, PolicySegment[]>
  readonly replacedBy: ReadonlyMap<Uuid | undefined, PolicySegment[]>
}

const indexSegments = (segments: readonly PolicySegment[]): OrderedSegments => ({
  places: new Map(segments.map((segment, at) => [segment.locator, at])),
  byLocator: new Map(segments.map(segment => [segment.locator, segment])),
  madeBy: Map.groupBy(segments, segment => segment.madeBy),
  replacedBy: Map.groupBy(segments, segment => segment.replacedBy),
})

/**
 * Builds the step of a modification. An endorsement replaces the segments that its own segments continue, and those beyond the
 * policy's new end; the segments are marked as replaced only when it is issued. The other kinds mark the segments that they
 * replace.
 */
function stepOf(
  modification: Modification,
  { places, byLocator, madeBy, replacedBy }: OrderedSegments,
  current: ReadonlyMap<Uuid, PolicySegment>,
): Step {
  const { locator, kind, policyEnd } = modification
  const made = madeBy.get(locator) ?? []
  const replaced = new Set(replacedBy.get(locator))
  if (kind === 'endorsement') {
    for (const { predecessor } of made) {
      const continued = predecessor && byLocator.get(predecessor)
      if (continued) replaced.add(continued)
    }
    for (const segment of current.values()) if (segment.start >= policyEnd) replaced.add(segment)
  }
  const place = ({ locator: segment }: PolicySegment): number => places.get(segment)!
  return { modification, made, replaced: [...replaced].sort((a, b) => place(a) - place(b)) }
}

function applyStep(inForce: Map<Uuid, PolicySegment>, { made, replaced }: Step): void {
  for (const segment of replaced) inForce.delete(segment.locator)
  for (const segment of made) inForce.set(segment.locator, segment)
}

/** Returns the segments in force at the end of the line, ordered by time. */
export function segmentsInForce(line: Line): PolicySegment[] {
  const inForce = new Map<Uuid, PolicySegment>()
  for (const step of line) applyStep(inForce, step)
  return [...inForce.values()].sort((a, b) => a.start - b.start)
}

/**
 * Whether any cover of an issued policy is left after that time. The policy's end does not say so: earlier releases kept the time
 * of a cancellation in a gap before all cover as the end.
 */
export const isCoveredAfter = (aggregate: PolicyAggregate, at: Instant): boolean =>
  segmentsInForce(lineOf(aggregate, boundQuote(aggregate))).some(({ end }) => end > at)

/**
 * Returns the end of the contract after these issued modifications, in the order of their issue. A reinstatement names the end of
 * what it restores. The contract may have a later end by then, if another cancellation was reinstated before.
 */
export const contractEndAfter = (issued: readonly Modification[], end: Instant): Instant =>
  issued.reduce(
    (last, { kind, policyEnd }) => (kind === 'reinstatement' ? later(last, policyEnd) : policyEnd),
    end,
  )

/** Returns the executed cancellations and withdrawals that are not reinstated, ordered by number. */
export function standingCancellations(aggregate: PolicyAggregate): Modification[] {
  const { modifications, cancellations, reinstatements } = aggregate
  const issued = [...reinstatements.values()].filter(one => one.state === 'issued')
  const undone = new Set(
    issued.map(({ cancellationLocator }) => cancellations.get(cancellationLocator)?.modificationLocator),
  )
  return [...modifications.values()]
    .filter(one => one.kind === 'cancellation' || one.kind === 'withdrawal')
    .filter(one => !undone.has(one.locator))
    .sort((a, b) => a.number - b.number)
}

/**
 * Returns the legacy lapses that still end the policy, ordered by number. A reinstatement reverses its lapse, and a renewal lets
 * the policy go on from it.
 */
export function standingLapses({ modifications }: Pick<PolicyAggregate, 'modifications'>): Modification[] {
  const issued = [...modifications.values()].filter(isIssued)
  const hasEnded = (lapse: Modification): boolean =>
    issued.some(one => one.undoes === lapse.locator || (one.kind === 'renewal' && one.number > lapse.number))
  return issued.filter(one => one.kind === 'lapse' && !hasEnded(one)).sort((a, b) => a.number - b.number)
}

/** Returns the cancellations, withdrawals and legacy lapses that are in force, ordered by number. Cover ends by the last. */
export const standingEndings = (aggregate: PolicyAggregate): Modification[] =>
  [...standingCancellations(aggregate), ...standingLapses(aggregate)].sort((a, b) => a.number - b.number)

/** Returns the end of the run: the start of its first cut that counts, otherwise its own end. Never before the run's start. */
export const endOfRun = (
  { end, cuts }: Pick<ExposureRun | PerilRun, 'end' | 'cuts'>,
  counted: ReadonlySet<Uuid>,
): Instant => cuts.reduce((first, cut) => (counted.has(cut.by) ? earlier(first, cut.from) : first), end)

/** A fee at the end of a line. */
export type FeeInForce = {
  readonly fee: Fee
  /** Zero if the fee is reversed. */
  readonly amount: Money
  readonly reversed: boolean
  /** Ordered by time, with adjoining parts merged. Empty if the fee is reversed. */
  readonly parts: readonly FeePart[]
}

/** Returns the fee with the changes that modifications of the line made. A shorter line gives the fee as it was then. */
export function feeInForce(fee: Fee, line: Line): FeeInForce {
  const last = fee.changes.findLast(({ by }) => line.some(step => step.modification.locator === by))
  const { start, end, amount } = fee
  const parts = last ? mergeAdjoining(last.parts) : [{ start, end, amount }]
  return {
    fee,
    amount: sumOf(parts, part => part.amount, amount.currency),
    reversed: parts.length === 0,
    parts,
  }
}

/**
 * Merges adjoining parts. A reinstatement without a gap therefore leaves no trace in later shares: the next cancellation prorates
 * the whole fee.
 */
function mergeAdjoining(parts: readonly FeePart[]): FeePart[] {
  const whole: FeePart[] = []
  for (const part of parts) {
    const last = whole.at(-1)
    if (last?.end === part.start)
      whole[whole.length - 1] = { ...last, end: part.end, amount: plus(last.amount, part.amount) }
    else whole.push(part)
  }
  return whole
}

/** Returns the quote's fees that modifications of the line made, as they are at its end. Includes reversed fees. */
export const feesOf = (
  aggregate: PolicyAggregate,
  quote: Quote,
  line: Line = lineOf(aggregate, quote),
): FeeInForce[] => {
  const counted = new Set(line.map(step => step.modification.locator))
  return [...aggregate.fees.values()]
    .filter(fee => fee.quoteLocator === quote.locator && counted.has(fee.madeBy))
    .map(fee => feeInForce(fee, line))
}

/** Returns the total of the fees. Reversed fees are zero. */
export const feeTotal = (fees: readonly FeeInForce[], currency: Money['currency']): Money =>
  sumOf(fees, one => one.amount, currency)

/** Whether a person reversed the fee, rather than a cancellation. */
export const isReversedByHand = ({ modifications }: PolicyAggregate, { changes }: Fee): boolean =>
  changes.some(change => modifications.get(change.by)?.kind === 'feeUpdate')

/**
 * Returns the holdbacks in force at the end of the line, in the order in which they were made. A holdback remains until its
 * cancellation is reinstated or the policy is withdrawn (brief 1.6, 3.2).
 */
export function holdbacksInForce(line: Line): Holdback[] {
  const byModification = new Map<Uuid, readonly Holdback[]>()
  for (const { modification } of line) {
    const { kind, locator, undoes, holdbacks } = modification
    if (kind === 'withdrawal') byModification.clear()
    if (undoes) byModification.delete(undoes)
    if (holdbacks) byModification.set(locator, holdbacks)
  }
  return [...byModification.values()].flat()
}

/** Returns the total of the holdbacks that the policyholder pays. Commissions are outside all totals (brief 3.4). */
export const holdbackTotal = (holdbacks: readonly Holdback[], currency: CurrencyCode): Money =>
  sumOf(
    holdbacks.filter(one => one.type !== 'commission'),
    one => one.amount,
    currency,
  )
