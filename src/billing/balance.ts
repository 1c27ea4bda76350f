// Bills a later modification by its plan, which takes over installments that are planned. What has been invoiced stays as
// it is.
import type { LocatorSupply, Uuid } from '../kernel/locators.ts'
import { endOfDay, type Instant, later } from '../kernel/time.ts'
import { isAbsorbed, standingInvoices } from '../policy/bills/amounts-due.ts'
import { isContinued } from '../policy/bills/continued-plan.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../policy/records/aggregate.ts'
import { isSilent, type PlannedInstallment } from '../policy/records/installment.ts'
import { type Invoicing, invoiceInstallments, invoiceWhatIsDue, recorded } from './bill.ts'
import type { Replan } from './replan.ts'

export type BalanceContext = { now: Instant; supply: LocatorSupply }

/** Bills the modification by a plan over a new schedule, which takes over what is open. */
export const billAnew = (
  before: PolicyAggregate,
  modification: Modification,
  { plan, open }: Replan,
  { now, supply }: BalanceContext,
): Invoicing => billed(before, modification, recorded(plan, modification, supply), open, { now, supply })

/** Bills the modification by the plan, which takes over the installments. */
export function billed(
  before: PolicyAggregate,
  modification: Modification,
  plan: readonly PlannedInstallment[],
  open: readonly PlannedInstallment[],
  { now, supply }: BalanceContext,
): Invoicing {
  const absorbed = open.map(one => ({ ...one, absorbedBy: [...one.absorbedBy, modification.locator] }))
  const planned = { ...before, installments: putRecords(before.installments, [...absorbed, ...plan]) }
  if (isContinued(plan)) {
    // Bills that go on are made when their time comes, even where that is now (timers.ts).
    const made = plan.filter(one => one.replans?.bill !== 'planned' && one.issueAt <= now && !isSilent(one))
    return invoiceInstallments(planned, modification, made, { now, supply })
  }
  return invoiceWhatIsDue(planned, modification, { now, supply })
}

/** The whole of the modification as one installment, due at the end of today. */
export function onlyInstallment(
  { policy }: PolicyAggregate,
  { locator, effectiveAt: start, policyEnd }: Modification,
  { now, supply }: BalanceContext,
): PlannedInstallment {
  const end = later(policyEnd, later(policy.originalEnd, start))
  const span = { start, end: end > start ? end : ((start + 1) as Instant) }
  return {
    ...span,
    locator: supply.uuid(),
    modificationLocator: locator,
    number: 1,
    issueAt: now,
    dueAt: endOfDay(now, policy.timeZone),
    periods: [{ ...span, wholeMs: span.end - span.start }],
    absorbedBy: [],
  }
}

/** Installments of what is issued that start then or later and have no invoice that stands. */
export const openAfter = (aggregate: PolicyAggregate, at: Instant): PlannedInstallment[] =>
  openInstallments(aggregate).filter(one => one.start >= at)

/** Installments of what is issued that have no invoice that stands. */
export function openInstallments(aggregate: PolicyAggregate): PlannedInstallment[] {
  const invoiced = new Set(
    standingInvoices(aggregate).map(one => keyOf(one.policyModificationLocator, one.installmentNumber)),
  )
  return [...aggregate.installments.values()].filter(
    one =>
      !isAbsorbed(aggregate, one) &&
      !isSilent(one) &&
      counts(aggregate, one.modificationLocator) &&
      !invoiced.has(keyOf(one.modificationLocator, one.number)),
  )
}

const keyOf = (modification: Uuid, number: number): string => `${modification}/${number}`

/** The plan of what is issued; those of other quotes are for show. */
const counts = ({ modifications }: PolicyAggregate, locator: Uuid): boolean =>
  modifications.get(locator)?.issuedAt !== undefined
