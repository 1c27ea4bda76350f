import { type Instant, later } from '../kernel/time.ts'
import type { NewTimer } from '../platform/commit.ts'
import { planOf } from '../policy/bills/amounts-due.ts'
import type { Modification, PolicyAggregate } from '../policy/records/aggregate.ts'
import { isSilent } from '../policy/records/installment.ts'
import { INVOICE_TIMER } from './bill.ts'

/** One timer for each time at which an installment is to be invoiced; for now where that of one which goes on has come. */
export function invoiceTimers(
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): NewTimer[] {
  const times = new Set(
    planOf(aggregate, modification)
      .filter(one => !isSilent(one) && (one.issueAt > now || one.replans?.bill === 'planned'))
      .map(one => later(one.issueAt, now)),
  )
  return [...times].map(dueAt => timerAt(aggregate, dueAt))
}

/** A timer for now where the time of installments came while the modification had taken them over, which is void. */
export function missedInvoices(
  aggregate: PolicyAggregate,
  { locator }: Modification,
  now: Instant,
): NewTimer[] {
  const isMissed = [...aggregate.installments.values()].some(
    one => one.absorbedBy.includes(locator) && one.issueAt <= now,
  )
  return isMissed ? [timerAt(aggregate, now)] : []
}

const timerAt = ({ policy }: PolicyAggregate, dueAt: Instant): NewTimer => ({
  dueAt,
  kind: INVOICE_TIMER,
  subject: String(policy.locator),
  payload: {},
})
