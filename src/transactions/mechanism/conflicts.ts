// Quoted and accepted transactions of a policy stand in the way of another one: they block it, or are taken back
// first (brief 2.4).
import { Refusal } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import type { ConflictResponse } from '../../policy/contract/requests.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { ConflictHandling } from '../../policy/records/transactions.ts'
import { allKinds, type Pending } from './kind.ts'

/** All pending transactions but `own`, in creation order. */
const pendingOf = (aggregate: PolicyAggregate, own: string): Pending[] =>
  allKinds()
    .flatMap(kind => kind.pending?.(aggregate) ?? [])
    .filter(one => one.locator !== own)
    .sort((a, b) => a.createdAt - b.createdAt)

/** Whether another transaction than `own` is quoted or accepted. */
export const hasConflicts = (aggregate: PolicyAggregate, own: string): boolean =>
  pendingOf(aggregate, own).length > 0

/** The pending transactions that conflict with a new one, in creation order. */
export const conflictsOf = (aggregate: PolicyAggregate): ConflictResponse[] =>
  pendingOf(aggregate, '').map(({ kind, locator, state }) => ({ kind, locator, state }))

/** Refuses (409) when a pending transaction conflicts with the transaction `own`; names it and the `remedy`. */
export function assertNoConflicts(
  before: PolicyAggregate,
  own: string,
  remedy = 'Invalidate them first.',
): void {
  const conflicts = pendingOf(before, own)
  if (conflicts.length === 0) return
  throw new Refusal(
    'wrongState',
    `Quoted or accepted transactions of the policy stand in the way: ${conflicts.map(one => one.locator).join(', ')}. ${remedy}`,
  )
}

/**
 * The policy with conflicting transactions taken back, other than `own`; refuses (409) instead when the request says `block`,
 * and names the conflict.
 */
export function withoutConflicts(
  before: PolicyAggregate,
  own: string,
  handling: ConflictHandling,
  now: Instant,
): Planned {
  if (handling === 'block')
    assertNoConflicts(before, own, 'Invalidate them, or send conflictHandling=invalidate.')
  return pendingOf(before, own).reduceRight<Planned>(
    (cleared, one) => chain(cleared, one.takeBack(cleared.aggregate, now)),
    { aggregate: before, events: [] },
  )
}
