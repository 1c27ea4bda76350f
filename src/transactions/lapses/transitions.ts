// What may be done to grace periods and to reinstatements of legacy lapses (brief 1.5, 1.7). A grace period is settled
// by payment or when it is over, and lapses at its end: both are found, not asked for.
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import {
  type GracePeriod,
  type GracePeriodState,
  type LapseReinstatement,
  type LapseReinstatementState,
  reinstatementStatus,
} from '../../policy/records/transactions.ts'

export type GracePeriodAction = 'update' | 'settle' | 'lapse'

export const GRACE_PERIOD_TRANSITIONS: TransitionTable<GracePeriodAction, GracePeriodState> = {
  update: { from: ['open'], to: 'open', event: 'policy.gracePeriod.update', past: 'updated' },
  settle: { from: ['open'], to: 'settled', past: 'settled' },
  lapse: { from: ['open'], to: ['lapsed'], event: ['policy.cancel', 'policy.lapse'], past: 'lapsed' },
}

export const assertGracePeriodAllows = (grace: GracePeriod, action: GracePeriodAction): void =>
  assertAllowed(GRACE_PERIOD_TRANSITIONS, `Grace period ${grace.locator}`, grace.state, action)

export type LapseReinstatementAction = 'invoice' | 'issue' | 'close'

/** `issue` is what paying the invoice does. */
export const LAPSE_REINSTATEMENT_TRANSITIONS: TransitionTable<
  LapseReinstatementAction,
  LapseReinstatementState
> = {
  invoice: {
    from: ['open'],
    to: 'invoiced',
    event: 'policy.reinstatement.invoice',
    past: 'invoiced',
  },
  issue: { from: ['invoiced'], to: 'issued', event: 'policy.reinstatement.issue', past: 'issued' },
  close: {
    from: ['open', 'invoiced'],
    to: 'closed',
    event: 'policy.reinstatement.close',
    past: 'closed',
  },
}

export const assertLapseReinstatementAllows = (
  reinstatement: LapseReinstatement,
  action: LapseReinstatementAction,
): void =>
  assertAllowed(
    LAPSE_REINSTATEMENT_TRANSITIONS,
    `Reinstatement ${reinstatement.locator}`,
    reinstatementStatus(reinstatement),
    action,
  )
