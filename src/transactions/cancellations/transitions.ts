// The state table of cancellations (brief 1.5).
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { Cancellation, CancellationState } from '../../policy/records/transactions.ts'

export type CancellationAction = 'update' | 'rescind' | 'issue' | 'reinstate'

export const CANCELLATION_TRANSITIONS: TransitionTable<CancellationAction, CancellationState> = {
  update: { from: ['draft'], to: 'draft', event: 'cancellation.update', past: 'updated' },
  rescind: { from: ['draft'], to: 'rescinded', event: 'cancellation.rescind', past: 'rescinded' },
  issue: {
    from: ['draft'],
    to: 'issued',
    event: ['cancellation.issue', 'policy.cancel'],
    past: 'issued',
  },
  reinstate: { from: ['issued'], to: 'same', event: 'reinstatement.create', past: 'reinstated' },
}

export const assertCancellationAllows = (cancellation: Cancellation, action: CancellationAction): void =>
  assertAllowed(CANCELLATION_TRANSITIONS, `Cancellation ${cancellation.locator}`, cancellation.state, action)
