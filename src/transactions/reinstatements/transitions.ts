// What may be done to a reinstatement (brief 1.6). `expire` is the clock's.
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { Reinstatement, ReinstatementState } from '../../policy/records/transactions.ts'

export type ReinstatementAction = 'update' | 'accept' | 'issue' | 'invalidate' | 'expire'

export const REINSTATEMENT_TRANSITIONS: TransitionTable<ReinstatementAction, ReinstatementState> = {
  update: { from: ['draft'], to: 'draft', past: 'updated' },
  accept: { from: ['draft'], to: 'accepted', event: 'reinstatement.accept', past: 'accepted' },
  issue: { from: ['accepted'], to: 'issued', event: 'reinstatement.issue', past: 'issued' },
  invalidate: {
    from: ['accepted'],
    to: 'draft',
    event: 'reinstatement.invalidate',
    past: 'invalidated',
  },
  expire: {
    from: ['draft', 'accepted'],
    to: 'expired',
    event: 'reinstatement.deadlineReached',
    past: 'expired',
  },
}

export const assertReinstatementAllows = (reinstatement: Reinstatement, action: ReinstatementAction): void =>
  assertAllowed(
    REINSTATEMENT_TRANSITIONS,
    `Reinstatement ${reinstatement.locator}`,
    reinstatement.state,
    action,
  )
