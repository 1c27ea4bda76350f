// Fees that a transaction charges, refunds or ends.

import type { Uuid } from '../../../../kernel/locators.ts'
import { type Money, minus, negated, sumOf, zero } from '../../../../kernel/money.ts'
import { type Instant, later } from '../../../../kernel/time.ts'
import { type FeeInForce, feeInForce } from '../../../../policy/fold/line.ts'
import type { Fee, FeePart } from '../../../../policy/records/aggregate.ts'
import { type Context, isInTerm, keyOfCharged, lineNow, modificationOf } from './context.ts'

/**
 * Applies the stated fees to the policy: each is a new fee, or shrinks or restores an existing one (`feesFor`). A gap then ends
 * the others.
 */
export function chargeFees(context: Context): void {
  const { transaction, making, feesFor } = context
  for (const { id, charges } of transaction.tree?.elements.values() ?? []) {
    const fees = charges.filter(charge => charge.kind === 'fee')
    for (const [name, stated] of Map.groupBy(fees, one => one.name)) {
      const fee = feeFor(
        context,
        name,
        sumOf(stated, one => one.amount, making.policy.currency),
      )
      if (fee) feesFor.set(keyOfCharged('fee', name, id), keyOfCharged('fee', fee))
    }
  }
  if (transaction.isGap) endFees(context)
}

/**
 * Returns the fee that takes the amount. A refund shrinks a fee of that name in the term if the fee is large enough; anything else
 * is a new fee. A refund gives back a fee; in a gap, a charge gives back a credit.
 */
function feeFor(context: Context, name: string, amount: Money): Uuid | undefined {
  if (amount.minor === 0) return undefined
  const { making, quote, product, supply, by, transaction } = context
  const { from, term, isGap } = transaction
  const taken = feeTakenBack(context, name, amount)
  if (taken) return taken
  const known = amount.minor < 0 || isGap ? feeOfAtLeast(context, name, negated(amount)) : undefined
  if (known) {
    const { fee, parts } = known
    const change = { by, ...shrinkFee(parts, negated(amount), from, isGap) }
    making.fees.set(fee.locator, { ...fee, changes: [...fee.changes, change] })
    return fee.locator
  }
  const fee: Fee = {
    locator: supply.uuid(),
    quoteLocator: quote.locator,
    madeBy: by,
    name,
    amount,
    description: product.fees.find(one => one.name === name)?.displayName ?? name,
    start: from,
    end: term.endTime,
    changes: [],
  }
  making.fees.set(fee.locator, fee)
  return fee.locator
}

/** A reinstatement restores a fee or credit if its cancellation removed at least that amount. */
function feeTakenBack(context: Context, name: string, amount: Money): Uuid | undefined {
  const { making, by, transaction } = context
  if (modificationOf(context).kind !== 'reinstatement') return undefined
  const own = [...making.reinstatements.values()].filter(
    reinstatement => reinstatement.modificationLocator === by,
  )
  const undone = new Set(
    own.map(one => making.cancellations.get(one.cancellationLocator)!.modificationLocator),
  )
  const line = lineNow(context)
  for (const fee of making.fees.values()) {
    const removed = fee.changes.find(change => undone.has(change.by))?.removed ?? []
    const whole = sumOf(removed, one => one.amount, amount.currency)
    if (fee.name !== name || !isPartOf(amount, whole)) continue
    if (fee.changes.some(change => change.by === by)) continue
    const { start, end } = removed[0]!
    const back = { start: later(start, transaction.from), end, amount }
    const parts = [...feeInForce(fee, line).parts, back].sort((a, b) => a.start - b.start)
    making.fees.set(fee.locator, { ...fee, changes: [...fee.changes, { by, parts, removed: [] }] })
    return fee.locator
  }
  return undefined
}

function feeOfAtLeast(context: Context, name: string, least: Money): FeeInForce | undefined {
  const { making, by, isCreation } = context
  if (isCreation) return undefined
  const line = lineNow(context)
  return [...making.fees.values()]
    .filter(fee => fee.name === name && fee.madeBy !== by && isInTerm(context, fee.start))
    .filter(fee => !fee.changes.some(change => change.by === by))
    .map(fee => feeInForce(fee, line))
    .findLast(({ amount }) => isPartOf(least, amount))
}

/** Whether the whole has the same sign and is at least as large. */
const isPartOf = (part: Money, whole: Money): boolean =>
  part.minor < 0 ? whole.minor <= part.minor : whole.minor >= part.minor

/** Ends fees without a refund at the transaction's time, except those that are never split. */
function endFees(context: Context): void {
  const { making, product, by, transaction } = context
  const { from } = transaction
  const line = lineNow(context)
  for (const fee of [...making.fees.values()]) {
    const isFlat = product.fees.find(one => one.name === fee.name)?.proration === 'flat'
    if (!isInTerm(context, fee.start) || fee.changes.some(change => change.by === by)) continue
    if (isFlat && fee.start < from) continue
    const { parts } = feeInForce(fee, line)
    const change = shrinkFee(parts, zero(fee.amount.currency), from, true)
    if (change.removed.length > 0)
      making.fees.set(fee.locator, { ...fee, changes: [...fee.changes, { by, ...change }] })
  }
}

/** Gives back an amount of a fee or credit, last part first. In a gap, the rest is before `from`. */
export function shrinkFee(
  parts: readonly FeePart[],
  by: Money,
  from: Instant,
  isGap: boolean,
): { parts: FeePart[]; removed: FeePart[] } {
  const kept: FeePart[] = []
  const removed: FeePart[] = []
  let left = by
  for (const part of [...parts].reverse()) {
    const own = refundOf(part, left)
    left = minus(left, own)
    const split = withoutRefund(part, own, isGap ? from : undefined)
    if (split.removed) removed.unshift(split.removed)
    if (split.kept) kept.unshift(split.kept)
  }
  return { parts: kept, removed }
}

/** A part of the opposite sign has nothing to give back. */
function refundOf({ amount }: FeePart, left: Money): Money {
  if (left.minor < 0 ? amount.minor > 0 : amount.minor < 0) return zero(amount.currency)
  return isPartOf(left, amount) ? left : amount
}

/** `gapFrom`: where the cover ends, in a gap. */
function withoutRefund(
  { start, end, amount }: FeePart,
  refund: Money,
  gapFrom: Instant | undefined,
): { kept?: FeePart; removed?: FeePart } {
  const rest = minus(amount, refund)
  if (gapFrom !== undefined && start < gapFrom && gapFrom < end)
    return { kept: { start, end: gapFrom, amount: rest }, removed: { start: gapFrom, end, amount: refund } }
  const isOfGap = gapFrom !== undefined && gapFrom <= start
  const isTaken = refund.minor !== 0 || (isOfGap && amount.minor === 0)
  if (!isTaken) return { kept: { start, end, amount: rest } }
  const removed = { start, end, amount: refund }
  return rest.minor === 0 ? { removed } : { removed, kept: { start, end, amount: rest } }
}
