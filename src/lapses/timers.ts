// Timers of what comes of unpaid invoices. Each has a locator of its own: set again, it is the same timer.
import type { ProductDefinition } from '../configuration/configuration.ts'
import type { NewTimer } from '../platform/commit.ts'
import { derivedUuid, type PolicyLocator, shardOfDigits, type Uuid } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'
import type { PolicyAggregate } from '../policies/aggregate.ts'
import { pastDueFrom } from './past-due.ts'
import type { GracePeriod, Lapse, LapseReinstatement } from './records.ts'

/** Kinds: an invoice is past due, a grace period is over, a lapsed policy cannot be reinstated any more. */
export const PAST_DUE_TIMER = 'invoice.pastDue'
export const GRACE_END_TIMER = 'policy.gracePeriod.end'
export const REINSTATEMENT_PERIOD_TIMER = 'policy.reinstatement.periodEnd'

const timer = (
  policy: PolicyLocator,
  kind: string,
  property: string,
  record: Uuid,
  dueAt: Instant,
): NewTimer => ({
  locator: derivedUuid(shardOfDigits(policy), kind, record, String(dueAt)),
  dueAt,
  kind,
  subject: String(policy),
  payload: { [property]: record },
})

/**
 * A timer for every invoice that a write makes, reopens or has count from another time on: that is read off the policy
 * before and after it, so that no operation can forget one. None where the product knows no grace.
 */
export function pastDueTimers(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  { lapse }: Pick<ProductDefinition, 'lapse'>,
): NewTimer[] {
  if (lapse.gracePeriodDays === undefined) return []
  // Another version of the configuration may be the first in which the product knows grace.
  const known = before?.policy.configVersion === after.policy.configVersion ? before : undefined
  if (known?.invoices === after.invoices && known.modifications === after.modifications) return []
  return [...after.invoices.values()].flatMap(invoice => {
    const from = pastDueFrom(after, invoice)
    const was = known?.invoices.get(invoice.locator)
    if (from === undefined || (known && was && pastDueFrom(known, was) === from)) return []
    return [timer(after.policy.locator, PAST_DUE_TIMER, 'invoiceLocator', invoice.locator, from)]
  })
}

/** Looks at the invoice again: the plugin that says how its grace period is to be has failed, so often now. */
export function pastDueAgain(policy: PolicyLocator, invoice: Uuid, dueAt: Instant, tries: number): NewTimer {
  const again = timer(policy, PAST_DUE_TIMER, 'invoiceLocator', invoice, dueAt)
  return { ...again, payload: { ...again.payload, tries: String(tries) } }
}

export const graceEndTimer = ({ policy }: PolicyAggregate, { locator, endAt }: GracePeriod): NewTimer =>
  timer(policy.locator, GRACE_END_TIMER, 'gracePeriodLocator', locator, endAt)

export const reinstatementPeriodTimer = (
  { policy }: PolicyAggregate,
  { reinstatementPeriodEndAt }: Lapse,
  { locator }: LapseReinstatement,
): NewTimer =>
  timer(policy.locator, REINSTATEMENT_PERIOD_TIMER, 'reinstatementLocator', locator, reinstatementPeriodEndAt)
