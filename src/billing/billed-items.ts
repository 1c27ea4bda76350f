// The items that invoices bill, as answers show them: of an invoice the items of its installment, and of a plan's
// first those of the installments that it was billed for in place of others (brief 1.5, 1.7).
import { boundQuote } from '../cancellations/effect.ts'
import { shardOfDigits, type Uuid } from '../platform/locators.ts'
import { negated } from '../platform/money.ts'
import type { Instant } from '../platform/time.ts'
import type { Modification, PlannedInstallment, PolicyAggregate } from '../policies/aggregate.ts'
import { isIssued, lineOf } from '../policies/fold/line.ts'
import { piecesOf } from '../policies/fold/pieces.ts'
import { perilSegmentLocator } from '../policies/projection/view.ts'
import { quoteParts } from '../policies/quote-parts.ts'
import { alsoBilled, chargesOf, planOf } from './bill.ts'
import type { FinancialTransactionResponse } from './contract.ts'
import {
  financialTransactions,
  MOST_ITEMISED,
  type SegmentLocatorOf,
  summedItems,
} from './financial-transactions.ts'
import { type InstallmentItem, installmentItems } from './items.ts'

export type BilledItems = { readonly modification: Modification; readonly items: readonly InstallmentItem[] }

/** The items of installments of the policy. Those of a plan are worked out once, whichever are asked for. */
export function billedItemsOf(
  aggregate: PolicyAggregate,
): (installment: PlannedInstallment) => BilledItems[] {
  const known = new Map<Uuid, readonly InstallmentItem[][]>()
  const billed = (installment: PlannedInstallment): BilledItems[] => {
    const { modificationLocator: locator, number } = installment
    const modification = aggregate.modifications.get(locator)!
    const ofPlan =
      known.get(locator) ??
      installmentItems(planOf(aggregate, modification), chargesOf(aggregate, modification))
    known.set(locator, ofPlan)
    const own = { modification, items: ofPlan[number - 1]! }
    const { added, leftOut } = alsoBilled(aggregate, installment)
    return [own, ...added.flatMap(billed), ...leftOut.flatMap(billed).map(takenOff)]
  }
  return billed
}

const takenOff = ({ modification, items }: BilledItems): BilledItems => ({
  modification,
  items: items.map(item => ({ ...item, amount: negated(item.amount) })),
})

/** Shows items as posted at that time; those of answers that would have too many are summed by type and name. */
export function shownItems(
  aggregate: PolicyAggregate,
  billed: readonly BilledItems[],
  postedAt: Instant,
  itemised: boolean = countOf(billed) <= MOST_ITEMISED,
): FinancialTransactionResponse[] {
  return billed.flatMap(({ modification, items }) =>
    financialTransactions(
      aggregate,
      modification,
      itemised ? items : summedItems(items),
      postedAt,
      segmentLocators(aggregate, modification),
    ),
  )
}

export const countOf = (billed: readonly BilledItems[]): number =>
  billed.reduce((count, { items }) => count + items.length, 0)

/**
 * The characteristics that a transaction's charge of a run is about: those that it made of the run, else the last
 * that it replaced.
 */
function segmentLocators(aggregate: PolicyAggregate, modification: Modification): SegmentLocatorOf {
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
