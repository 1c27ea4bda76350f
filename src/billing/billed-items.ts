// The items that invoices bill, as answers show them: of an invoice the items of its installment, and of a plan's
// first those of the installments that it was billed for in place of others (brief 1.5, 1.7).

import { shardOfDigits, type Uuid } from '../kernel/locators.ts'
import { negated } from '../kernel/money.ts'
import type { Instant } from '../kernel/time.ts'
import type { FinancialTransactionResponse } from '../policy/contract/billing.ts'
import { isIssued, lineOf } from '../policy/fold/line.ts'
import { piecesOf } from '../policy/fold/pieces.ts'
import { perilSegmentLocator } from '../policy/projection/view.ts'
import { quoteParts } from '../policy/quote-parts.ts'
import type { Modification, PlannedInstallment, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { InstallmentFee } from '../policy/records/installment.ts'
import { boundQuote } from '../transactions/cancellations/effect.ts'
import { alsoBilled, billedCharges, feesThatGo, planOf } from './bill.ts'
import {
  financialTransactions,
  MOST_ITEMISED,
  type SegmentLocatorOf,
  summedItems,
} from './financial-transactions.ts'
import { type InstallmentItem, installmentItems } from './items.ts'

/** The items of installments of the policy. Those of a plan are worked out once, whichever are asked for. */
export function billedItemsOf(
  aggregate: PolicyAggregate,
): (installment: PlannedInstallment) => InstallmentItem[] {
  const known = new Map<Uuid, readonly InstallmentItem[][]>()
  const billed = (installment: PlannedInstallment): InstallmentItem[] => {
    const { modificationLocator: locator, number } = installment
    const modification = aggregate.modifications.get(locator)!
    const ofPlan =
      known.get(locator) ??
      installmentItems(planOf(aggregate, modification), billedCharges(aggregate, modification))
    known.set(locator, ofPlan)
    const { added, leftOut } = alsoBilled(aggregate, installment)
    return [
      ...ofPlan[number - 1]!,
      ...added.flatMap(billed),
      ...leftOut.flatMap(one => withoutFees(billed(one), feesThatGo(aggregate, one))).map(takenOff),
    ]
  }
  return billed
}

function withoutFees(items: InstallmentItem[], gone: readonly InstallmentFee[]): InstallmentItem[] {
  if (gone.length === 0) return items
  const locators = new Set(gone.map(fee => fee.locator))
  return items.filter(({ charge }) => charge.type !== 'fee' || !locators.has(charge.feeLocator))
}

const takenOff = (item: InstallmentItem): InstallmentItem => ({ ...item, amount: negated(item.amount) })

/** Shows items as posted at that time; those of answers that would have too many are summed by type and name. */
export const shownItems = (
  aggregate: PolicyAggregate,
  items: readonly InstallmentItem[],
  postedAt: Instant,
  itemised: boolean = items.length <= MOST_ITEMISED,
): FinancialTransactionResponse[] =>
  financialTransactions(
    aggregate,
    itemised ? items : summedItems(items),
    postedAt,
    segmentLocators(aggregate),
  )

/**
 * The characteristics that a transaction's charge of a run is about: those that it made of the run, else the last
 * that it replaced.
 */
export function segmentLocators(aggregate: PolicyAggregate): SegmentLocatorOf {
  const known = new Map<Uuid, (run: Uuid) => Uuid>()
  return (run, by) => {
    const of = known.get(by) ?? segmentsBy(aggregate, aggregate.modifications.get(by)!)
    known.set(by, of)
    return of(run)
  }
}

function segmentsBy(aggregate: PolicyAggregate, modification: Modification): (run: Uuid) => Uuid {
  const shard = shardOfDigits(aggregate.policy.locator)
  const { quoteLocator, locator, number } = modification
  if (quoteLocator !== undefined) {
    const { segment } = quoteParts(aggregate, aggregate.quotes.get(quoteLocator)!)
    return run => perilSegmentLocator(run, segment, shard)
  }
  const line = lineOf(
    aggregate,
    boundQuote(aggregate),
    one => one.locator === locator || (isIssued(one) && one.number < number),
  )
  const known = new Map<Uuid, Uuid>()
  return run => {
    const found = known.get(run)
    if (found !== undefined) return found
    const pieces = piecesOf(aggregate.perilRuns.get(run)!, line, aggregate.policy.timeZone)
    const piece =
      pieces.findLast(one => one.madeBy === locator) ?? pieces.findLast(one => one.replacedBy === locator)
    const segment = perilSegmentLocator(run, (piece ?? pieces.at(-1)!).segment, shard)
    known.set(run, segment)
    return segment
  }
}
