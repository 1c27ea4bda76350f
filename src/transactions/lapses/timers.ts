// Timers of what comes of unpaid invoices. Each has a locator of its own: set again, it is the same timer.
import {
  derivedUuid,
  type PolicyLocator,
  shardOfDigits,
  shardOfUuid,
  type Uuid,
} from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import { type Instant, later } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { TimerKind } from '../../platform/tables.ts'
import { amountsDue, totalDueOf } from '../../policy/bills/amounts-due.ts'
import type { Modification, PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding } from '../../policy/records/invoice.ts'
import type {
  GracePeriod,
  Lapse,
  LapseReinstatement,
  ModificationKind,
} from '../../policy/records/transactions.ts'
import { invoiceEvent, type Planned } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'

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

// Invoices that are unpaid past their due time (brief 1.5).
/** What brings cover back or prolongs it: what was unpaid before is past due anew from then on. */
const PROLONGING: ReadonlySet<ModificationKind> = new Set(['renewal', 'reinstatement'])

/**
 * From when the invoice, as long as it is unpaid, is past due: its due time; or when its transaction was issued, as
 * nobody loses his cover over what is only accepted; or when the cover was prolonged or brought back, whichever is
 * latest. Undefined while its transaction is not issued, or when it is settled.
 */
export function pastDueFrom({ modifications }: PolicyAggregate, invoice: Invoice): Instant | undefined {
  const issuedAt = modifications.get(invoice.policyModificationLocator)?.issuedAt
  if (issuedAt === undefined || !isOutstanding(invoice)) return undefined
  let from = later(invoice.dueAt, issuedAt)
  for (const one of modifications.values())
    if (one.issuedAt !== undefined && PROLONGING.has(one.kind)) from = later(from, one.issuedAt)
  return from
}

/** Whether the policyholder owes it: a refund that the insurer owes is never past due. */
export const isOwed = (aggregate: PolicyAggregate, invoice: Invoice): boolean =>
  totalDueOf(aggregate, invoice).minor > 0

/** The policy's invoices that are owed and past due. */
export function pastDueInvoices(aggregate: PolicyAggregate, now: Instant): Invoice[] {
  const dueOf = new Map<Modification, Money[]>()
  return [...aggregate.invoices.values()].filter(invoice => {
    const from = pastDueFrom(aggregate, invoice)
    if (from === undefined || from > now) return false
    const modification = aggregate.modifications.get(invoice.policyModificationLocator)!
    const due = dueOf.get(modification) ?? amountsDue(aggregate, modification)
    dueOf.set(modification, due)
    return due[invoice.installmentNumber - 1]!.minor > 0
  })
}

/** Tells that the invoice is past due (brief 9); undefined when it is paid, void, or has more time by now. */
export function planPastDueNotice(
  aggregate: PolicyAggregate,
  invoiceLocator: Uuid,
  now: Instant,
): Planned | undefined {
  const invoice = aggregate.invoices.get(invoiceLocator)
  const from = invoice && pastDueFrom(aggregate, invoice)
  if (!invoice || from === undefined || from > now || !isOwed(aggregate, invoice)) return undefined
  return {
    aggregate,
    events: [invoiceEvent(aggregate, 'invoice.pastDue', invoice, totalDueOf(aggregate, invoice))],
  }
}
