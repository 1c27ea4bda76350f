// Installments that a later modification's invoice bills in the place of others (balance.ts): what they will be, and
// how they are given back.
import type { NewTimer } from '../platform/commit.ts'
import type { Instant } from '../platform/time.ts'
import {
  type Modification,
  type PlannedInstallment,
  type PolicyAggregate,
  withRecords,
} from '../policies/aggregate.ts'
import { openAfter } from './balance.ts'
import { chargesOf, INVOICE_TIMER, planOf } from './bill.ts'
import { type InstallmentItem, installmentItems } from './items.ts'

/** What `billAtOnce` would bill in the place of others, by the modifications that planned it. */
export function absorbable(
  aggregate: PolicyAggregate,
  { policyEnd }: Modification,
): { owner: Modification; items: InstallmentItem[] }[] {
  const open = openAfter(aggregate, policyEnd)
  const owners = new Set(open.map(one => one.modificationLocator))
  return [...owners].map(locator => {
    const owner = aggregate.modifications.get(locator)!
    const items = installmentItems(planOf(aggregate, owner), chargesOf(aggregate, owner))
    return {
      owner,
      items: open.filter(one => one.modificationLocator === locator).flatMap(one => items[one.number - 1]!),
    }
  })
}

/**
 * The policy's installments with those given back to their own plans that the modification, as it is taken back,
 * had billed in the place of others; and a timer where the time to invoice one passed meanwhile.
 */
export function released(
  { installments, policy }: PolicyAggregate,
  { locator }: Modification,
  now: Instant,
): { installments: PolicyAggregate['installments']; timers: NewTimer[] } {
  const given = [...installments.values()]
    .filter(one => one.absorbedBy === locator)
    .map(
      (one): PlannedInstallment => ({
        ...one,
        absorbedBy: undefined,
        releasedBy: [...(one.releasedBy ?? []), locator],
      }),
    )
  if (given.length === 0) return { installments, timers: [] }
  const isLate = given.some(one => one.issueAt <= now)
  const timer = { dueAt: now, kind: INVOICE_TIMER, subject: String(policy.locator), payload: {} }
  return { installments: withRecords(installments, given), timers: isLate ? [timer] : [] }
}
