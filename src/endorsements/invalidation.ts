import { invoicesOf } from '../billing/bill.ts'
import { invalidated, isOutstanding } from '../billing/invoice.ts'
import { missedInvoices } from '../billing/timers.ts'
import type { Instant } from '../platform/time.ts'
import { type Endorsement, type PolicyAggregate, withRecords } from '../policies/aggregate.ts'
import { invalidationEvents } from '../policies/events.ts'
import type { Planned } from '../policies/planned.ts'
import { endorsementEvent } from './events.ts'
import { assertEndorsementAllows } from './transitions.ts'

/**
 * Takes a quoted or accepted endorsement back for good: its invoices are void, what it made counts for nothing.
 * Installments that it had taken over are billed as they were planned; whose time has come meanwhile, at once.
 */
export function planEndorsementInvalidation(
  before: PolicyAggregate,
  endorsement: Endorsement,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'invalidate')
  const gone: Endorsement = { ...endorsement, state: 'invalidated', updatedAt: now }
  const modification = before.modifications.get(endorsement.modificationLocator!)!
  const voided = invoicesOf(before, modification)
    .filter(isOutstanding)
    .map(invoice => invalidated(invoice, now))
  const aggregate: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, updatedAt: now },
    endorsements: withRecords(before.endorsements, [gone]),
    modifications: withRecords(before.modifications, [
      { ...modification, invalidatedAt: now, updatedAt: now },
    ]),
    invoices: withRecords(before.invoices, voided),
  }
  return {
    aggregate,
    events: [
      ...invalidationEvents(before, modification, voided),
      endorsementEvent(aggregate, 'invalidate', gone),
    ],
    timers: missedInvoices(aggregate, modification, now),
  }
}
