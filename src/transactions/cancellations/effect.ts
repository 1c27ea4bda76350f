// The effect of a cancellation (brief 2.2): segments end, premium is returned, fees shrink. Runs do not change, since their rest
// follows from the segments: a reinstatement only has to restore these. Previews, cancellations, withdrawals and legacy
// cancellations use this one plan.
import { wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, decimal, type Money, minus, money, sum, toDecimal } from '../../kernel/money.ts'
import { earlier, type Instant } from '../../kernel/time.ts'
import { type FeeInForce, feesOf, lineOf, segmentsInForce } from '../../policy/fold/line.ts'
import { type Piece, piecesOf, premiumChangeOf } from '../../policy/fold/pieces.ts'
import { measureOf, type Prorated, portion, splitBy, withSplits } from '../../policy/fold/shares.ts'
import {
  boundQuote,
  type Fee,
  type FeeChange,
  type FeePart,
  type Holdback,
  type Modification,
  type PolicyAggregate,
  type PolicySegment,
  type Proration,
  putRecords,
} from '../../policy/records/aggregate.ts'
import type { ModificationKind } from '../../policy/records/transactions.ts'
import { type AppliedTransaction, newModification } from '../../policy/transitions.ts'
import type { HoldbackTerms, ProductDefinition } from '../../product/configuration.ts'
import type { EffectContext } from '../../rating/rate.ts'

export type CancellationOrder = {
  kind: Extract<ModificationKind, 'cancellation' | 'withdrawal' | 'lapse'>
  /** For example `modification.policy.cancel`. */
  name: string
  effectiveAt: Instant
  proration: Proration
  transactionLocator?: string
  cancellationName?: string
  /** Accepts a policy without any coverage and changes nothing. Otherwise such a policy is rejected with 409. */
  mayBeEmpty?: boolean
}

/** Applies the cancellation. Takes one digit locator. Rejects with 409 when no coverage is left from that time on. */
export function applyCancellation(
  before: PolicyAggregate,
  order: CancellationOrder,
  { product, now, supply, prorated }: EffectContext,
): AppliedTransaction {
  const quote = boundQuote(before)
  const { effectiveAt } = order
  const line = lineOf(before, quote)
  const covered = segmentsInForce(line)
  const hit = covered.filter(segment => segment.end > effectiveAt)
  if (hit.length === 0 && !(covered.length === 0 && order.mayBeEmpty))
    throw wrongState(`Policy ${before.policy.locator} has no coverage at or after ${effectiveAt}.`)
  // If the time is in a coverage gap, the policy ends where coverage does: a later cancellation or reinstatement from an earlier
  // time needs that end. If no coverage is left at all, the policy ends where it starts.
  const last = covered.findLast(segment => segment.start < effectiveAt)
  const policyEnd = last ? earlier(last.end, effectiveAt) : before.policy.originalStart
  const { mayBeEmpty: _, ...terms } = order
  const modification = newModification(before, { ...terms, policyEnd, issuedAt: now }, { now, supply })
  const made = { madeBy: modification.locator, createdAt: now, updatedAt: now, replacedBy: undefined }
  const kept = hit
    .filter(segment => segment.start < effectiveAt)
    .map(
      (segment): PolicySegment => ({
        ...segment,
        ...made,
        locator: supply.uuid(),
        end: effectiveAt,
        predecessor: segment.locator,
      }),
    )
  const after: PolicyAggregate = {
    ...withSplits(before, prorated, modification.locator),
    policy: { ...before.policy, effectiveEnd: policyEnd, updatedAt: now },
    modifications: putRecords(before.modifications, [modification]),
    segments: putRecords(before.segments, [
      ...hit.map(segment => ({ ...segment, replacedBy: modification.locator })),
      ...kept,
    ]),
    fees: putRecords(
      before.fees,
      reducedFees(feesOf(before, quote, line), modification, product, before, prorated),
    ),
  }
  const premiumChange = premiumChangeOf(after, quote, modification)
  const type = product.cancellationTypes?.find(one => one.name === order.cancellationName)
  const configured = (): Holdback[] =>
    type?.holdback
      ? holdbacksOf(type.holdback, removedPremiums(after, modification), before.policy.currency)
      : []
  const holdbacks = prorated?.holdbacks ?? configured()
  const priced = { ...modification, premiumChange, ...(holdbacks.length > 0 && { holdbacks }) }
  return {
    aggregate: { ...after, modifications: putRecords(after.modifications, [priced]) },
    modification: priced,
  }
}

/** Returns the premium that the modification removes from each run, by run. */
function removedPremiums(after: PolicyAggregate, { locator }: Modification): Map<Uuid, Money> {
  const { currency, timeZone } = after.policy
  const line = lineOf(after, boundQuote(after))
  const removed = new Map<Uuid, Money>()
  for (const run of after.perilRuns.values()) {
    const pieces = piecesOf(run, line, timeZone)
    const premium = (some: (piece: Piece) => boolean): Money =>
      sum(
        pieces.filter(some).flatMap(piece => (piece.amounts ? [piece.amounts.premium] : [])),
        currency,
      )
    removed.set(
      run.locator,
      minus(
        premium(piece => piece.replacedBy === locator),
        premium(piece => piece.madeBy === locator),
      ),
    )
  }
  return removed
}

// Holdbacks are short rates set by a cancellation type (brief 3.2, 10.7): `{ "amount": 50 }` or `{ "percent": 10 }`.
/**
 * Returns the part of each run's returned premium that is kept: never more than the return, rounded once, and split in proportion
 * to each run's return.
 */
function holdbacksOf(
  terms: HoldbackTerms,
  removed: ReadonlyMap<Uuid, Money>,
  currency: CurrencyCode,
): Holdback[] {
  const runs = [...removed].filter(([, premium]) => premium.minor > 0)
  if (runs.length === 0) return []
  const premiums = runs.map(([, premium]) => premium)
  const all = sum(premiums, currency)
  const asked =
    'percent' in terms
      ? money(toDecimal(all).times(terms.percent).div(100), currency)
      : money(decimal(terms.amount), currency)
  const kept = asked.minor < all.minor ? asked : all
  const parts = splitBy(premiums.map(premium => BigInt(premium.minor)))(kept)
  return runs
    .map(([perilRunLocator], at): Holdback => ({ type: 'premium', perilRunLocator, amount: parts[at]! }))
    .filter(one => one.amount.minor !== 0)
}

/** Whether a fee is flat, that is, charged whole or not at all (brief 3.3). */
export const isFlat = (product: ProductDefinition, { name }: Fee): boolean =>
  product.fees.find(one => one.name === name)?.proration === 'flat'

/** Removes later charges. A fee whose span includes the time is prorated if its product allows (brief 3.3), by plugin or time. */
export function reducedFees(
  fees: readonly FeeInForce[],
  { locator, effectiveAt, kind, proration }: Modification,
  product: ProductDefinition,
  { policy }: PolicyAggregate,
  prorated?: Prorated,
): Fee[] {
  const measure = measureOf(proration ?? 'monthly', policy.timeZone)
  return fees.flatMap(({ fee, parts }) => {
    const flat = isFlat(product, fee)
    const left: FeePart[] = []
    const removed: FeePart[] = []
    for (const part of parts) {
      const { start, end, amount } = part
      if (kind === 'withdrawal' || start >= effectiveAt) removed.push(part)
      else if (flat || end <= effectiveAt) left.push(part)
      else {
        const share =
          prorated?.fees.get(fee.locator) ?? portion(amount, measure(start, effectiveAt), measure(start, end))
        left.push({ start, end: effectiveAt, amount: share })
        removed.push({ start: effectiveAt, end, amount: minus(amount, share) })
      }
    }
    if (removed.length === 0) return []
    const change: FeeChange = { by: locator, parts: left, removed }
    return [{ ...fee, changes: [...fee.changes, change] }]
  })
}
