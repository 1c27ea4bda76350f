// Items of invoices in responses. An invoice also has the items of installments that its own installment takes over, and takes off
// those of installments that it leaves out (brief 1.5, 1.7).
import { derivedUuid, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import { negated, plus, toNumber } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import {
  type BilledCharges,
  billedChargesOnce,
  droppedFees,
  linkedInstallments,
  planOf,
} from '../bills/amounts-due.ts'
import type { Charge } from '../bills/charge.ts'
import { type InstallmentItem, installmentItems } from '../bills/items.ts'
import type { FinancialTransactionResponse } from '../contract/billing.ts'
import { lineUpTo } from '../fold/line.ts'
import { piecesOf } from '../fold/pieces.ts'
import { boundQuote, type Modification, type PolicyAggregate, quoteParts } from '../records/aggregate.ts'
import type { InstallmentFee, PlannedInstallment } from '../records/invoice.ts'
import { spanOf } from './characteristics.ts'
import { perilSegmentLocator } from './policy.ts'

/** Returns a function that gives the items of an installment. Computes each plan once. */
export function billedItemsOf(
  aggregate: PolicyAggregate,
): (installment: PlannedInstallment) => InstallmentItem[] {
  const known = new Map<Uuid, readonly InstallmentItem[][]>()
  const charges: BilledCharges = new Map()
  const billedItemsOfInstallment = (installment: PlannedInstallment): InstallmentItem[] => {
    const { modificationLocator: locator, number } = installment
    const modification = aggregate.modifications.get(locator)!
    const ofPlan =
      known.get(locator) ??
      installmentItems(planOf(aggregate, modification), billedChargesOnce(aggregate, modification, charges))
    known.set(locator, ofPlan)
    const { added, leftOut } = linkedInstallments(aggregate, installment)
    return [
      ...ofPlan[number - 1]!,
      ...added.flatMap(billedItemsOfInstallment),
      ...leftOut
        .flatMap(one => withoutFees(billedItemsOfInstallment(one), droppedFees(aggregate, one)))
        .map(negateItem),
    ]
  }
  return billedItemsOfInstallment
}

function withoutFees(items: InstallmentItem[], fees: readonly InstallmentFee[]): InstallmentItem[] {
  if (fees.length === 0) return items
  const locators = new Set(fees.map(fee => fee.locator))
  return items.filter(({ charge }) => charge.type !== 'fee' || !locators.has(charge.feeLocator))
}

const negateItem = (item: InstallmentItem): InstallmentItem => ({ ...item, amount: negated(item.amount) })

/** Returns the items as posted at `postedAt`. If they are too many for one response, sums them by type and name. */
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
 * Returns a function that finds the characteristics to which a charge of a run refers: those that its transaction made, otherwise
 * the last that it replaced. A reversal refers to replaced ones, so a reader that adds up by characteristics finds it next to what
 * it takes back.
 */
export function segmentLocators(aggregate: PolicyAggregate): SegmentLocatorOf {
  const known = new Map<Uuid, SegmentOfRun>()
  const shard = shardOfDigits(aggregate.policy.locator)
  return ({ perilRunLocator: run, policyModificationLocator: by, reverses, reversedSegment }) => {
    if (reversedSegment !== undefined) return perilSegmentLocator(run, { locator: reversedSegment }, shard)
    const of = known.get(by) ?? segmentsBy(aggregate, aggregate.modifications.get(by)!)
    known.set(by, of)
    return of(run, reverses !== undefined)
  }
}

type SegmentOfRun = (run: Uuid, isReversal: boolean) => Uuid

function segmentsBy(aggregate: PolicyAggregate, modification: Modification): SegmentOfRun {
  const shard = shardOfDigits(aggregate.policy.locator)
  const { quoteLocator, locator } = modification
  if (quoteLocator !== undefined) {
    const { segment } = quoteParts(aggregate, aggregate.quotes.get(quoteLocator)!)
    return run => perilSegmentLocator(run, segment, shard)
  }
  const line = lineUpTo(aggregate, boundQuote(aggregate), modification)
  const made = new Map<Uuid, Uuid>()
  const reversed = new Map<Uuid, Uuid>()
  return (run, isReversal) => {
    const known = isReversal ? reversed : made
    const found = known.get(run)
    if (found !== undefined) return found
    const pieces = piecesOf(aggregate.perilRuns.get(run)!, line, aggregate.policy.timeZone)
    const piece =
      (isReversal ? undefined : pieces.findLast(one => one.madeBy === locator)) ??
      pieces.findLast(one => one.replacedBy === locator)
    const segment = perilSegmentLocator(run, (piece ?? pieces.at(-1)!).segment, shard)
    known.set(run, segment)
    return segment
  }
}

/** Maximum number of items in one response. Above it, items of the same type and name are summed. */
export const MOST_ITEMISED = 10_000

/** Finds the locator of the peril characteristics to which a charge of a run refers. */
export type SegmentLocatorOf = (charge: Extract<Charge, { readonly perilRunLocator: Uuid }>) => Uuid

export type ChargeSource = Pick<
  FinancialTransactionResponse,
  | 'perilCharacteristicsLocator'
  | 'perilName'
  | 'feeLocator'
  | 'feeName'
  | 'taxLocator'
  | 'taxName'
  | 'commissionLocator'
  | 'commissionRecipient'
>

/** Returns the items of an invoice that was posted at that time as financial transactions. */
export function financialTransactions(
  { policy }: PolicyAggregate,
  items: readonly InstallmentItem[],
  postedAt: Instant,
  segmentLocatorOf: SegmentLocatorOf,
): FinancialTransactionResponse[] {
  const shard = shardOfDigits(policy.locator)
  return items.map(({ charge, amount }) => ({
    type: charge.type,
    amount: toNumber(amount),
    amountCurrency: amount.currency,
    postedTimestamp: String(postedAt),
    ...spanOf(charge),
    policyModificationLocator: charge.policyModificationLocator,
    ...sourceOf(charge, shard, segmentLocatorOf),
  }))
}

/** Returns what the charge is for, as responses show it. A charge that takes another back is for the same. */
export function sourceOf(charge: Charge, shard: number, segmentLocatorOf: SegmentLocatorOf): ChargeSource {
  if ('feeLocator' in charge) return { feeLocator: charge.feeLocator, feeName: charge.feeName }
  const ofId = charge.reverses ?? charge.id
  const peril = {
    perilCharacteristicsLocator: segmentLocatorOf(charge),
    perilName: charge.perilName,
  }
  if ('taxName' in charge && charge.taxName !== undefined)
    return { ...peril, taxLocator: derivedUuid(shard, ofId), taxName: charge.taxName }
  if (charge.type === 'commission')
    return {
      ...peril,
      commissionLocator: derivedUuid(shard, ofId),
      commissionRecipient: charge.commissionRecipient,
    }
  return peril
}

function nameOf(charge: Charge): string {
  if ('feeLocator' in charge) return charge.feeName
  if (charge.type === 'tax') return charge.taxName
  return charge.type === 'commission' ? charge.commissionRecipient : charge.perilName
}

/** Sums items of the same type and name: those of thousands of perils would fill megabytes. */
export function summedItems(items: readonly InstallmentItem[]): InstallmentItem[] {
  const sums = new Map<string, InstallmentItem>()
  for (const item of items) {
    const key = `${item.charge.type} ${nameOf(item.charge)}`
    const earlier = sums.get(key)
    sums.set(key, earlier ? { ...earlier, amount: plus(earlier.amount, item.amount) } : item)
  }
  return [...sums.values()]
}
