import { invoicesOf } from '../billing/bill.ts'
import { invalidated, isOutstanding } from '../billing/invoice.ts'
import type { Instant } from '../platform/time.ts'
import { type PolicyAggregate, type Reinstatement, withRecords } from '../policies/aggregate.ts'
import { invalidationEvents } from '../policies/events.ts'
import type { Planned } from '../policies/planned.ts'
import { reinstatementEvent } from './events.ts'
import { assertReinstatementAllows } from './transitions.ts'

/** Takes an acceptance back: its invoices are void, and what it made counts for nothing (brief 1.6). */
export function planReinstatementInvalidation(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  now: Instant,
): Planned {
  assertReinstatementAllows(reinstatement, 'invalidate')
  const draft: Reinstatement = {
    ...reinstatement,
    state: 'draft',
    modificationLocator: undefined,
    updatedAt: now,
  }
  const { aggregate, events } = withoutAcceptance(before, reinstatement, draft, now)
  return { aggregate, events: [...events, reinstatementEvent(aggregate, 'reinstatement.invalidate', draft)] }
}

/** The reinstatement as `after`, with nothing left of its acceptance but void invoices. */
export function withoutAcceptance(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  after: Reinstatement,
  now: Instant,
): Planned {
  const reinstatements = withRecords(before.reinstatements, [after])
  const policy = { ...before.policy, updatedAt: now }
  const modification =
    reinstatement.modificationLocator && before.modifications.get(reinstatement.modificationLocator)
  if (!modification) return { aggregate: { ...before, policy, reinstatements }, events: [] }
  const voided = invoicesOf(before, modification)
    .filter(isOutstanding)
    .map(invoice => invalidated(invoice, now))
  const aggregate: PolicyAggregate = {
    ...before,
    policy,
    reinstatements,
    modifications: withRecords(before.modifications, [
      { ...modification, invalidatedAt: now, updatedAt: now },
    ]),
    invoices: withRecords(before.invoices, voided),
  }
  return { aggregate, events: invalidationEvents(aggregate, modification, voided) }
}
