// Timers of what comes of unpaid invoices. Each has a locator of its own: set again, it is the same timer.
import {
  derivedUuid,
  type PolicyLocator,
  shardOfDigits,
  shardOfUuid,
  type Uuid,
} from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { TimerKind } from '../../platform/tables.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { GracePeriod, Lapse, LapseReinstatement } from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { pastDueFrom } from './past-due.ts'

/** Kinds: an invoice is past due, a grace period is over, a lapsed policy cannot be reinstated any more. */
export const PAST_DUE_TIMER = 'invoice.pastDue'
export const GRACE_END_TIMER = 'policy.gracePeriod.end'
export const REINSTATEMENT_PERIOD_TIMER = 'policy.reinstatement.periodEnd'

const timer = (
  policy: PolicyLocator,
  kind: TimerKind,
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
 * before and after it, so that no operation can forget one.
 */
export function pastDueTimers(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  { lapse }: Pick<ProductDefinition, 'lapse'>,
): NewTimer[] {
  const upgradedTo =
    before &&
    before.policy.configVersion !== after.policy.configVersion &&
    lapse.gracePeriodDays !== undefined
      ? after.policy.configVersion
      : undefined
  if (
    upgradedTo === undefined &&
    before?.invoices === after.invoices &&
    before.modifications === after.modifications
  )
    return []
  return [...after.invoices.values()].flatMap(invoice => {
    const from = pastDueFrom(after, invoice)
    const was = before?.invoices.get(invoice.locator)
    if (from === undefined) return []
    const isNew = !before || !was || pastDueFrom(before, was) !== from
    if (!isNew && upgradedTo === undefined) return []
    const due = timer(after.policy.locator, PAST_DUE_TIMER, 'invoiceLocator', invoice.locator, from)
    return [isNew || upgradedTo === undefined ? due : ofNewVersion(due, upgradedTo)]
  })
}

/**
 * The version may be the first in which the product knows grace, so the invoice is looked at anew. Where that is past due
 * and was told of, it is not told again.
 */
const ofNewVersion = (due: NewTimer, configVersion: number): NewTimer => ({
  ...due,
  locator: derivedUuid(shardOfUuid(due.locator!), PAST_DUE_TIMER, due.locator!, String(configVersion)),
  payload: { ...due.payload, isGraceOnly: 'true' },
})

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
