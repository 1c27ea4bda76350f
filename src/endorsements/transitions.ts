// What may be done to an endorsement (brief 1.4).
import { assertAllowed, type TransitionTable } from '../platform/transitions.ts'
import type { Endorsement, EndorsementState } from '../policies/aggregate.ts'

export type EndorsementAction = 'update' | 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'

export const ENDORSEMENT_TRANSITIONS: TransitionTable<EndorsementAction, EndorsementState> = {
  update: { from: ['application'], to: 'application', event: 'endorsement.update', past: 'updated' },
  quote: { from: ['application'], to: 'quoted', event: 'endorsement.quote', past: 'quoted' },
  accept: { from: ['quoted'], to: 'accepted', event: 'endorsement.accept', past: 'accepted' },
  /** Of a quoted one passes through acceptance. */
  issue: {
    from: ['quoted', 'accepted'],
    to: 'issued',
    event: ['endorsement.issue', 'policy.endorse'],
    past: 'issued',
  },
  invalidate: {
    from: ['quoted', 'accepted'],
    to: 'invalidated',
    event: 'endorsement.invalidate',
    past: 'invalidated',
  },
  discard: { from: ['application'], to: 'discarded', event: 'endorsement.discard', past: 'discarded' },
}

export const assertEndorsementAllows = (endorsement: Endorsement, action: EndorsementAction): void =>
  assertAllowed(ENDORSEMENT_TRANSITIONS, `Endorsement ${endorsement.locator}`, endorsement.state, action)
