// New business as data: which action a policy's state allows. Guards, events, documentation and tests come
// from this table (brief 1.2).
import { Refusal } from '../platform/errors.ts'
import { type Policy, type PolicyAggregate, selectedQuote } from './aggregate.ts'

/** States that decide about actions; the finer ones that clients derive follow from dates (brief 1.1). */
export type PolicyState = 'created' | 'finalized' | 'declined' | 'issued' | 'discarded'

export type PolicyAction = 'update' | 'finalize' | 'issue' | 'discard'

export const POLICY_TRANSITIONS: Record<
  PolicyAction,
  { from: readonly PolicyState[]; to: PolicyState | 'decision' }
> = {
  update: { from: ['created'], to: 'created' },
  /** To `finalized` when underwriting accepts, else to `declined`. */
  finalize: { from: ['created'], to: 'decision' },
  issue: { from: ['finalized'], to: 'issued' },
  discard: { from: ['created', 'finalized', 'declined'], to: 'discarded' },
}

export function policyState(aggregate: PolicyAggregate): PolicyState {
  const { policy } = aggregate
  if (policy.discardedAt !== undefined) return 'discarded'
  if (policy.issuedAt !== undefined) return 'issued'
  const { state } = selectedQuote(aggregate)
  if (state === 'draft') return 'created'
  return state === 'declined' ? 'declined' : 'finalized'
}

/** Actions that the table allows from a state. */
export const allowedActions = (state: PolicyState): PolicyAction[] =>
  (Object.keys(POLICY_TRANSITIONS) as PolicyAction[]).filter(action =>
    POLICY_TRANSITIONS[action].from.includes(state),
  )

/** Refuses with 409 what the table does not list, saying the state and what it allows. */
export function assertAllowed(aggregate: PolicyAggregate, action: PolicyAction): void {
  const state = policyState(aggregate)
  if (POLICY_TRANSITIONS[action].from.includes(state)) return
  throw new Refusal('wrongState', wrongStateMessage(aggregate.policy, state, action, aggregate))
}

function wrongStateMessage(
  policy: Policy,
  state: PolicyState,
  action: PolicyAction,
  aggregate: PolicyAggregate,
): string {
  const allowed = allowedActions(state)
  const advice =
    allowed.length > 0 ? `it allows ${allowed.join(', ')}` : 'it allows no action of new business'
  const notes = selectedQuote(aggregate).underwriting?.notes ?? []
  const reasons = state === 'declined' && notes.length > 0 ? ` Underwriting noted: ${notes.join(' ')}` : ''
  return `Policy ${policy.locator} is ${state} and cannot be ${PAST[action]}; ${advice}.${reasons}`
}

const PAST: Record<PolicyAction, string> = {
  update: 'updated',
  finalize: 'finalized',
  issue: 'issued',
  discard: 'discarded',
}
