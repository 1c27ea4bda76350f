import { missedInvoices } from '../../billing/invoicing.ts'
import { planVoidInvoices } from '../../billing/payments/plans.ts'
import type { Instant } from '../../kernel/time.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { Reinstatement } from '../../policy/records/transactions.ts'
import type { Planned } from '../../policy/transitions.ts'
import { reinstatementEvent } from './events.ts'
import { assertReinstatementAllows } from './transitions.ts'

/** Takes an acceptance back: its invoices are void, payments of them reversed, what it made counts for nothing (brief 1.6). */
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
  const { aggregate, events, timers } = withoutAcceptance(before, reinstatement, draft, now)
  return {
    aggregate,
    events: [...events, reinstatementEvent(aggregate, 'reinstatement.invalidate', draft)],
    timers,
  }
}

/**
 * The reinstatement as `after`, with nothing left of its acceptance but void invoices. Installments that it had taken
 * over are billed as they were planned; whose time has come meanwhile, at once.
 */
export function withoutAcceptance(
  before: PolicyAggregate,
  reinstatement: Reinstatement,
  after: Reinstatement,
  now: Instant,
): Planned {
  const reinstatements = putRecords(before.reinstatements, [after])
  const policy = { ...before.policy, updatedAt: now }
  const modification =
    reinstatement.modificationLocator && before.modifications.get(reinstatement.modificationLocator)
  if (!modification) return { aggregate: { ...before, policy, reinstatements }, events: [] }
  const voided = planVoidInvoices(before, invoicesOf(before, modification), now)
  const aggregate: PolicyAggregate = {
    ...voided.aggregate,
    policy,
    reinstatements,
    modifications: putRecords(before.modifications, [
      { ...modification, invalidatedAt: now, updatedAt: now },
    ]),
  }
  return { aggregate, events: voided.events, timers: missedInvoices(aggregate, modification, now) }
}
