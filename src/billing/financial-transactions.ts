// The items of an installment as answers carry them (brief 4.1).
import { derivedUuid, shardOfDigits, type Uuid } from '../kernel/locators.ts'
import { plus, toNumber } from '../kernel/money.ts'
import type { Instant } from '../kernel/time.ts'
import type { FinancialTransactionResponse } from '../policy/contract/billing.ts'
import type { PolicyAggregate } from '../policy/records/aggregate.ts'
import type { Charge } from './charge.ts'
import type { InstallmentItem } from './items.ts'

/** Most that one answer itemises; above it, items of the same type and name are one. */
export const MOST_ITEMISED = 10_000

/** Where a charge's peril characteristics are: what the policy's projection derives them to be. `madeBy` made the charge. */
export type SegmentLocatorOf = (perilRunLocator: Uuid, madeBy: Uuid) => Uuid

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

/** The items, posted at that time. */
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
    startTimestamp: String(charge.start),
    endTimestamp: String(charge.end),
    policyModificationLocator: charge.policyModificationLocator,
    ...sourceOf(charge, shard, segmentLocatorOf),
  }))
}

/** What the charge is of, in the words of answers. */
export function sourceOf(charge: Charge, shard: number, segmentLocatorOf: SegmentLocatorOf): ChargeSource {
  if ('feeLocator' in charge) return { feeLocator: charge.feeLocator, feeName: charge.feeName }
  const peril = {
    perilCharacteristicsLocator: segmentLocatorOf(charge.perilRunLocator, charge.policyModificationLocator),
    perilName: charge.perilName,
  }
  if ('taxName' in charge && charge.taxName !== undefined)
    return { ...peril, taxLocator: derivedUuid(shard, charge.id), taxName: charge.taxName }
  if (charge.type === 'commission')
    return {
      ...peril,
      commissionLocator: derivedUuid(shard, charge.id),
      commissionRecipient: charge.commissionRecipient,
    }
  return peril
}

/** Items of the same type and name summed up: those of a policy of thousands of perils would fill megabytes. */
export function summedItems(items: readonly InstallmentItem[]): InstallmentItem[] {
  const sums = new Map<string, InstallmentItem>()
  for (const item of items) {
    const { charge } = item
    const name =
      'feeLocator' in charge
        ? charge.feeName
        : charge.type === 'tax'
          ? charge.taxName
          : charge.type === 'commission'
            ? charge.commissionRecipient
            : charge.perilName
    const key = `${charge.type} ${name}`
    const earlier = sums.get(key)
    sums.set(key, earlier ? { ...earlier, amount: plus(earlier.amount, item.amount) } : item)
  }
  return [...sums.values()]
}
