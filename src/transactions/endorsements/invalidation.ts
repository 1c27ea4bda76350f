import { missedInvoices } from '../../billing/invoicing.ts'
import { planVoidInvoices } from '../../billing/payments/plans.ts'
import type { Instant } from '../../kernel/time.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import type { Planned } from '../../policy/planned.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { endorsementEvent } from './events.ts'
import { assertEndorsementAllows } from './transitions.ts'

/**
 * Takes a quoted or accepted endorsement or renewal back for good: its invoices are void, payments of them reversed,
 * what it made counts for nothing. Installments that it had taken over are billed as they were planned; whose time has
 * come meanwhile, at once.
 */
export function planEndorsementInvalidation(
  before: PolicyAggregate,
  endorsement: Endorsement,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'invalidate')
  const gone: Endorsement = { ...endorsement, state: 'invalidated', updatedAt: now }
  const modification = before.modifications.get(endorsement.modificationLocator!)!
  const voided = planVoidInvoices(before, invoicesOf(before, modification), now)
  const aggregate: PolicyAggregate = {
    ...voided.aggregate,
    policy: { ...before.policy, updatedAt: now },
    endorsements: putRecords(before.endorsements, [gone]),
    modifications: putRecords(before.modifications, [
      { ...modification, invalidatedAt: now, updatedAt: now },
    ]),
  }
  return {
    aggregate,
    events: [...voided.events, endorsementEvent(aggregate, 'invalidate', gone)],
    timers: missedInvoices(aggregate, modification, now),
  }
}
