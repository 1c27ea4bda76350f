// Quoted and accepted transactions are pending: they block another one, or are invalidated before it (brief 2.4).
import { missedInvoices } from '../../billing/billing.ts'
import { planVoidInvoices } from '../../billing/payments.ts'
import { wrongState } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import type { ConflictResponse } from '../../policy/contract/requests.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { ConflictHandling } from '../../policy/records/transactions.ts'
import { combineSteps, type Planned } from '../../policy/transitions.ts'
import { allKinds, type Pending } from './kind.ts'

/** Returns pending transactions in creation order. */
const pendingOf = (aggregate: PolicyAggregate, own: string): Pending[] =>
  allKinds()
    .flatMap(kind => kind.pending?.(aggregate) ?? [])
    .filter(one => one.locator !== own)
    .sort((a, b) => a.createdAt - b.createdAt)

/** Whether transactions other than `own` are pending, so that it cannot be quoted, accepted or issued beside them. */
export const hasConflicts = (aggregate: PolicyAggregate, own: string): boolean =>
  pendingOf(aggregate, own).length > 0

/** Returns conflicts in creation order. */
export const conflictsOf = (aggregate: PolicyAggregate): ConflictResponse[] =>
  pendingOf(aggregate, '').map(({ kind, locator, state }) => ({ kind, locator, state }))

/** Rejects with 409 when a pending transaction conflicts with `own`. The message names the conflicts and the `remedy`. */
export function assertNoConflicts(
  before: PolicyAggregate,
  own: string,
  remedy = 'Invalidate them first.',
): void {
  const conflicts = pendingOf(before, own)
  if (conflicts.length === 0) return
  throw wrongState(
    `Quoted or accepted transactions of the policy conflict with this request: ${conflicts.map(one => one.locator).join(', ')}. ${remedy}`,
  )
}

/**
 * Returns the policy without pending transactions other than `own`. When the request says `block`, rejects with 409 instead and
 * names the conflicts. `remedy` is for requests that cannot say `invalidate`.
 */
export function withoutConflicts(
  before: PolicyAggregate,
  own: string,
  handling: ConflictHandling,
  now: Instant,
  remedy = 'Invalidate them, or send conflictHandling=invalidate.',
): Planned {
  if (handling === 'block') assertNoConflicts(before, own, remedy)
  return pendingOf(before, own).reduceRight<Planned>(
    (cleared, one) => combineSteps(cleared, one.takeBack(cleared.aggregate, now)),
    { aggregate: before, events: [] },
  )
}

/**
 * Undoes a modification that is not issued, permanently: its invoices become void, their payments are reversed, and the records
 * that it created no longer count. Installments that it absorbed are billed as originally planned, those already due immediately.
 */
export function withoutModification(
  before: PolicyAggregate,
  modification: Modification,
  now: Instant,
): Planned {
  const voided = planVoidInvoices(before, invoicesOf(before, modification), now)
  const invalidated: Modification = { ...modification, invalidatedAt: now, updatedAt: now }
  const modifications = putRecords(before.modifications, [invalidated])
  const aggregate = { ...voided.aggregate, modifications }
  return { ...voided, aggregate, timers: missedInvoices(aggregate, modification, now) }
}
