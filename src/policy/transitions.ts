// New business as data: which action a policy's state allows (brief 1.2). Finer states that clients derive
// (lapsed, expired, pending …) follow from dates and later transactions (brief 1.1) and decide about no action here.
import { assertAllowed, type TransitionTable } from '../platform/events/transitions.ts'
import { type PolicyAggregate, SELECT_FIRST, selectedQuoteIfAny } from './records/aggregate.ts'

/**
 * What the policy's selected quote and dates make of it. `quoted`: priced and locked, not accepted yet. `unselected`: its
 * selected quote was discarded, and it follows none.
 */
export type PolicyState =
  | 'created'
  | 'quoted'
  | 'finalized'
  | 'declined'
  | 'unselected'
  | 'issued'
  | 'withdrawn'
  | 'discarded'

export type PolicyAction =
  | 'update'
  | 'finalize'
  | 'issue'
  | 'discard'
  | 'endorse'
  | 'renew'
  | 'cancel'
  | 'withdraw'
  | 'upgrade'
  | 'changeFees'
  | 'reschedule'

export const POLICY_TRANSITIONS: TransitionTable<PolicyAction, PolicyState> = {
  update: { from: ['created'], to: 'same', event: 'policy.update', past: 'updated' },
  finalize: {
    from: ['created', 'quoted'],
    to: ['finalized', 'declined'],
    event: 'policy.finalize',
    past: 'finalized',
  },
  issue: { from: ['finalized'], to: 'issued', event: 'policy.issue', past: 'issued' },
  discard: {
    from: ['created', 'quoted', 'finalized', 'declined', 'unselected'],
    to: 'discarded',
    event: 'policy.discard',
    past: 'discarded',
  },
  endorse: { from: ['issued'], to: 'same', event: 'policy.endorse', past: 'endorsed' },
  renew: { from: ['issued'], to: 'same', event: 'policy.renew', past: 'renewed' },
  cancel: { from: ['issued'], to: 'issued', event: 'policy.cancel', past: 'cancelled' },
  // Before it is issued, a policy's fees are those of its configuration, and its schedule changes with an update.
  changeFees: { from: ['issued'], to: 'same', event: 'policy.update', past: 'given other fees' },
  reschedule: {
    from: ['issued'],
    to: 'same',
    event: 'policy.update',
    past: 'given another payment schedule',
  },
  withdraw: { from: ['issued'], to: 'withdrawn', event: 'policy.cancel', past: 'withdrawn' },
  /** To another version of the configuration. A price that is not issued yet keeps the former version. */
  upgrade: { from: ['created', 'issued'], to: 'same', event: 'policy.upgrade', past: 'upgraded' },
}

export function policyState(aggregate: PolicyAggregate): PolicyState {
  const { policy } = aggregate
  if (policy.discardedAt !== undefined) return 'discarded'
  if (policy.issuedAt !== undefined) return isWithdrawn(aggregate) ? 'withdrawn' : 'issued'
  const state = selectedQuoteIfAny(aggregate)?.state
  switch (state) {
    case undefined:
      return 'unselected'
    case 'draft':
      return 'created'
    case 'accepted':
      return 'finalized'
    default:
      return state
  }
}

const isWithdrawn = ({ modifications }: PolicyAggregate): boolean =>
  [...modifications.values()].some(one => one.kind === 'withdrawal' && one.issuedAt !== undefined)

/**
 * Refuses (409) an action that the policy's state does not allow; for a declined policy, with underwriting's notes.
 */
export function assertPolicyAllows(aggregate: PolicyAggregate, action: PolicyAction): void {
  const state = policyState(aggregate)
  const because = { declined: notedBy(aggregate), unselected: ` ${SELECT_FIRST}` }[state as string] ?? ''
  assertAllowed(POLICY_TRANSITIONS, `Policy ${aggregate.policy.locator}`, state, action, because)
}

function notedBy(aggregate: PolicyAggregate): string {
  const notes = selectedQuoteIfAny(aggregate)?.underwriting?.notes ?? []
  return notes.length > 0 ? ` Underwriting noted: ${notes.join(' ')}` : ''
}
