import { invoicesOf } from '../billing/bill.ts'
import { invalidated, isOutstanding } from '../billing/invoice.ts'
import type { Instant } from '../platform/time.ts'
import { type PolicyAggregate, withRecords } from '../policies/aggregate.ts'
import { invalidationEvents } from '../policies/events.ts'
import type { Planned } from '../policies/planned.ts'
import { lapseReinstatementEvent } from './events.ts'
import type { LapseReinstatement } from './records.ts'
import { assertLapseReinstatementAllows } from './transitions.ts'

/** Closes a reinstatement that was not paid: its invoice is void, what it made counts for nothing. */
export function planClosing(
  before: PolicyAggregate,
  reinstatement: LapseReinstatement,
  now: Instant,
): Planned {
  assertLapseReinstatementAllows(reinstatement, 'close')
  const closed: LapseReinstatement = {
    ...reinstatement,
    statuses: [...reinstatement.statuses, { at: now, status: 'closed' }],
    updatedAt: now,
  }
  const lapseReinstatements = withRecords(before.lapseReinstatements, [closed])
  const modification = closed.modificationLocator && before.modifications.get(closed.modificationLocator)
  if (!modification) {
    const aggregate = { ...before, lapseReinstatements }
    return {
      aggregate,
      events: [lapseReinstatementEvent(aggregate, 'policy.reinstatement.close', closed)],
    }
  }
  const voided = invoicesOf(before, modification)
    .filter(isOutstanding)
    .map(invoice => invalidated(invoice, now))
  const aggregate: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, updatedAt: now },
    lapseReinstatements,
    modifications: withRecords(before.modifications, [
      { ...modification, invalidatedAt: now, updatedAt: now },
    ]),
    invoices: withRecords(before.invoices, voided),
  }
  return {
    aggregate,
    events: [
      ...invalidationEvents(aggregate, modification, voided),
      lapseReinstatementEvent(aggregate, 'policy.reinstatement.close', closed),
    ],
  }
}
