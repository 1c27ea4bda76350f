// What comes of an invoice that is not paid in time: a grace period, a lapse at its end, and the way back (brief 1.5, 1.7).
import type { CancellationLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'

/** `settled`: paid in time, or over without effect; `lapsed`: the policy was taken off risk at its end. */
export type GracePeriodState = 'open' | 'settled' | 'lapsed'

export type GracePeriod = {
  readonly locator: Uuid
  /** The invoice that began it. */
  readonly invoiceLocator: Uuid
  readonly state: GracePeriodState
  readonly startAt: Instant
  readonly endAt: Instant
  /** When the policy would lapse, instead of at the end. */
  readonly cancelEffectiveAt?: Instant
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly settledAt?: Instant
  /** The cancellation that it ended in. */
  readonly cancellationLocator?: CancellationLocator
}

/** A policy taken off risk without a cancellation record (legacy). */
export type Lapse = {
  readonly locator: Uuid
  readonly gracePeriodLocator: Uuid
  readonly modificationLocator: Uuid
  readonly lapsedAt: Instant
  /** Until when the policy can be reinstated; the time of the lapse where the product lets none back. */
  readonly reinstatementPeriodEndAt: Instant
  readonly createdAt: Instant
}

export type LapseReinstatementState = 'open' | 'invoiced' | 'issued' | 'closed'

export type LapseReinstatement = {
  readonly locator: Uuid
  readonly lapseLocator: Uuid
  /** In order of time, from `open`; the last one holds. */
  readonly statuses: readonly { readonly at: Instant; readonly status: LapseReinstatementState }[]
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** From when coverage comes back, once invoiced. */
  readonly effectiveAt?: Instant
  /** Once invoiced; not issued before its invoice is paid. */
  readonly modificationLocator?: Uuid
}

export const reinstatementStatus = ({ statuses }: LapseReinstatement): LapseReinstatementState =>
  statuses.at(-1)!.status

/** When it came into the state; undefined when it never did. */
export const since = (
  { statuses }: LapseReinstatement,
  state: LapseReinstatementState,
): Instant | undefined => statuses.find(one => one.status === state)?.at
