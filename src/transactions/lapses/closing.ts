import { planVoidInvoices } from '../../billing/payments/plans.ts'
import type { Instant } from '../../kernel/time.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import type { Planned } from '../../policy/planned.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { LapseReinstatement } from '../../policy/records/transactions.ts'
import { lapseReinstatementEvent } from './events.ts'
import { assertLapseReinstatementAllows } from './transitions.ts'

/** Closes a reinstatement that was not paid: its invoice is void, what was paid of it is reversed, and what it made counts for
 * nothing. */
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
  const lapseReinstatements = putRecords(before.lapseReinstatements, [closed])
  const modification = closed.modificationLocator && before.modifications.get(closed.modificationLocator)
  if (!modification) {
    const aggregate = { ...before, lapseReinstatements }
    return {
      aggregate,
      events: [lapseReinstatementEvent(aggregate, 'policy.reinstatement.close', closed)],
    }
  }
  const voided = planVoidInvoices(before, invoicesOf(before, modification), now)
  const aggregate: PolicyAggregate = {
    ...voided.aggregate,
    policy: { ...before.policy, updatedAt: now },
    lapseReinstatements,
    modifications: putRecords(before.modifications, [
      { ...modification, invalidatedAt: now, updatedAt: now },
    ]),
  }
  return {
    aggregate,
    events: [...voided.events, lapseReinstatementEvent(aggregate, 'policy.reinstatement.close', closed)],
  }
}
