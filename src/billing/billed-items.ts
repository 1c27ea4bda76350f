import { negated } from '../platform/money.ts'
import type { PlannedInstallment, PolicyAggregate } from '../policies/aggregate.ts'
import { alsoBilled, chargesOf, planOf } from './bill.ts'
import { type InstallmentItem, itemsOf } from './items.ts'

/** All that an installment's invoice bills, with what it bills for others; its payable items add up to its total. */
export function billedItems(aggregate: PolicyAggregate, installment: PlannedInstallment): InstallmentItem[] {
  const modification = aggregate.modifications.get(installment.modificationLocator)!
  const { added, leftOut } = alsoBilled(aggregate, installment)
  return [
    ...itemsOf(installment, planOf(aggregate, modification), chargesOf(aggregate, modification)),
    ...added.flatMap(other => billedItems(aggregate, other)),
    ...leftOut
      .flatMap(other => billedItems(aggregate, other))
      .map(item => ({ ...item, amount: negated(item.amount) })),
  ]
}
