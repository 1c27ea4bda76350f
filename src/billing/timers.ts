import type { NewTimer } from '../platform/commit.ts'
import type { Instant } from '../platform/time.ts'
import type { Modification, PolicyAggregate } from '../policies/aggregate.ts'
import { INVOICE_TIMER, planOf } from './bill.ts'

/** One timer for each time at which an installment is to be invoiced. */
export function invoiceTimers(
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): NewTimer[] {
  const times = new Set(
    planOf(aggregate, modification)
      .map(installment => installment.issueAt)
      .filter(at => at > now),
  )
  const subject = String(aggregate.policy.locator)
  return [...times].map(dueAt => ({ dueAt, kind: INVOICE_TIMER, subject, payload: {} }))
}
