// What an issued transaction posts: its charges in double entry, and the spans over which its premium is earned.
import type { Uuid } from '../../kernel/locators.ts'
import { containsTime, type Instant, type Span } from '../../kernel/time.ts'
import { chargesOf } from '../bills/amounts-due.ts'
import { type Charge, isPayable } from '../bills/charge.ts'
import { type Line, lineUpTo, segmentsInForce } from '../fold/line.ts'
import { type Piece, piecesOf } from '../fold/pieces.ts'
import { mayChangeRun } from '../fold/premium.ts'
import {
  acceptedQuote,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
} from '../records/aggregate.ts'
import { Entries } from './entries.ts'
import type { JournalEntry } from './rows.ts'

/**
 * Returns the entries of an issued transaction, which add up to zero. A part of a large policy is enough, because runs and fees
 * that the transaction does not touch charge nothing.
 */
export function transactionEntries(aggregate: PolicyAggregate, modification: Modification): JournalEntry[] {
  const charges = chargesOf(aggregate, modification)
  if (charges.length === 0) return []
  const entries = new Entries()
  for (const charge of charges) {
    const { minor } = charge.amount
    if (isPayable(charge)) entries.add({ account: 'unbilled' }, minor)
    addCharge(entries, charge)
  }
  for (const { peril, start, end, minor } of premiumSpans(aggregate, modification))
    entries.add({ account: 'premium', peril, start, end }, -minor)
  return entries.list()
}

function addCharge(entries: Entries, charge: Charge): void {
  const { minor } = charge.amount
  const peril = 'perilName' in charge ? { peril: charge.perilName } : {}
  switch (charge.type) {
    case 'premium':
      break
    case 'tax':
      entries.add({ account: 'tax', ...peril, name: charge.taxName }, -minor)
      break
    case 'fee':
      entries.add({ account: 'fee', name: charge.feeName }, -minor)
      break
    case 'commission':
      entries.add({ account: 'commission', ...peril, name: charge.commissionRecipient }, minor)
      entries.add({ account: 'commissionPayable', ...peril, name: charge.commissionRecipient }, -minor)
      break
    case 'holdback': {
      const name = 'feeName' in charge ? charge.feeName : charge.taxName
      entries.add({ account: 'holdback', ...peril, ...(name !== undefined && { name }) }, -minor)
    }
  }
}

/** Premium of a peril over a span, in minor units. */
type PremiumSpan = Span & { readonly peril: string; readonly minor: number }

/**
 * Returns how the transaction changes the spans over which premium is earned. A run counts by the contiguous spans in which it is
 * in force, so a split of the policy around it changes nothing.
 */
function premiumSpans(aggregate: PolicyAggregate, modification: Modification): PremiumSpan[] {
  const { kind, locator: by } = modification
  const { perils, perilRuns, policy } = aggregate
  const premiumSpanOf = (run: PerilRun, minor: number, { start, end }: Span): PremiumSpan => {
    return { peril: perils.get(run.perilLocator)?.name ?? '', start, end, minor }
  }
  if (kind === 'feeUpdate' || kind === 'scheduleChange') return []
  if (kind === 'creation')
    return [...perilRuns.values()]
      .filter(run => run.madeBy === by && run.price)
      .map(run => premiumSpanOf(run, run.price!.premium.amount.minor, run))
  const line = lineUpTo(aggregate, acceptedQuote(aggregate)!, modification)
  const step = line.find(one => one.modification.locator === by)
  if (!step) return []
  const changed = [...perilRuns.values()].filter(run => run.price && mayChangeRun(step, run))
  return changed.flatMap(run => {
    const pieces = piecesOf(run, line, policy.timeZone)
    const before = pieces.filter(
      piece => piece.madeBy !== by && (piece.replacedBy === undefined || piece.replacedBy === by),
    )
    const after = pieces.filter(piece => piece.replacedBy === undefined)
    return [
      ...mergePieces(before).map(span => premiumSpanOf(run, -span.minor, span)),
      ...mergePieces(after).map(span => premiumSpanOf(run, span.minor, span)),
    ]
  })
}

/** Merges adjoining pieces into spans. */
function mergePieces(pieces: readonly Piece[]): (Span & { minor: number })[] {
  const spans: { start: Instant; end: Instant; minor: number }[] = []
  for (const { start, end, amounts } of [...pieces].sort((a, b) => a.start - b.start)) {
    if (!amounts) continue
    const { minor } = amounts.premium
    const last = spans.at(-1)
    if (last && last.end === start) {
      last.end = end
      last.minor += minor
    } else spans.push({ start, end, minor })
  }
  return spans
}

/**
 * Returns the policy segment in force at that time, after the whole line. If none is in force, as after a cancellation from the
 * start, returns the last one that was there.
 */
export function segmentAt(line: Line, at: Instant): Uuid | undefined {
  const includesTime = (span: Span): boolean => containsTime(span, at)
  const inForce = segmentsInForce(line)
  const replaced = line.flatMap(step => step.replaced)
  const found =
    inForce.find(includesTime) ??
    replaced.findLast(includesTime) ??
    nearest(inForce, at) ??
    nearest(replaced, at)
  return found?.locator
}

/** Returns the last segment that starts by that time, otherwise the first segment. */
const nearest = <S extends Span>(segments: readonly S[], at: Instant): S | undefined =>
  segments.findLast(one => one.start <= at) ?? segments[0]
