// Bills new business: the plan of its modification and the invoices that are made at once (brief 4.2). An
// invoice's total is the sum of its items; nothing writes a total.
import type { ProductDefinition } from '../configuration/configuration.ts'
import type { DisplayId, LocatorSupply, Uuid } from '../platform/locators.ts'
import { type Money, plus } from '../platform/money.ts'
import { earlier, endOfDay, type Instant, later } from '../platform/time.ts'
import {
  type Modification,
  type PlannedInstallment,
  type PolicyAggregate,
  type Quote,
  withoutRecords,
  withRecords,
} from '../policies/aggregate.ts'
import { quoteParts } from '../policies/quote-parts.ts'
import { type Charge, feeCharges, feeReversals, perilCharges } from './charge.ts'
import { type Installment, planInstallments } from './installments.ts'
import { INVOICED_TRANSACTIONS, type Invoice, invoiceOf, invoiceStatus } from './invoice.ts'
import { restOf, totalsDue } from './items.ts'
import { netCharges } from './net-charges.ts'

/** Kind of the timers that go off when an installment is to be invoiced. */
export const INVOICE_TIMER = 'policy.invoice'

/** All that the modification charges. */
export function chargesOf(aggregate: PolicyAggregate, modification: Modification): Charge[] {
  const { kind, locator } = modification
  const fees = [...aggregate.fees.values()]
  const made = feeCharges(fees.filter(fee => fee.madeBy === locator))
  switch (kind) {
    case 'creation': {
      const runs = [...aggregate.perilRuns.values()].filter(run => run.madeBy === locator)
      return [
        ...runs.flatMap(run => perilCharges(run, aggregate.perils.get(run.perilLocator)?.name ?? '')),
        ...made,
      ]
    }
    case 'feeUpdate':
      return [...made, ...feeReversals(fees, locator)]
    case 'scheduleChange':
      return []
    default:
      return netCharges(aggregate, modification)
  }
}

/** The modification's plan, in its order. */
export const planOf = (aggregate: PolicyAggregate, modification: Modification): PlannedInstallment[] =>
  [...aggregate.installments.values()]
    .filter(installment => installment.modificationLocator === modification.locator)
    .sort((a, b) => a.number - b.number)

/** What each installment of the modification's plan bills; nothing while there is no plan. */
export function amountsDue(aggregate: PolicyAggregate, modification: Modification): Money[] {
  const plan = planOf(aggregate, modification)
  if (plan.length === 0) return []
  return totalsDue(plan, billedCharges(aggregate, modification), aggregate.policy.currency)
}

/** All that the modification's plan bills: what it charges, and what is left of charges that it took over. */
export const billedCharges = (
  aggregate: PolicyAggregate,
  modification: Modification,
  known: BilledCharges = new Map(),
): Charge[] => [
  ...chargesOf(aggregate, modification),
  ...restsOf(
    aggregate,
    [...aggregate.installments.values()].filter(one => one.absorbedBy.includes(modification.locator)),
    known,
  ),
]

/** What was worked out of other modifications already: a plan may have taken over from one that took over. */
type BilledCharges = Map<Uuid, Charge[]>

/** What the installments bill, as charges of which that is left. */
export function restsOf(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
  known: BilledCharges = new Map(),
): Charge[] {
  const rests = new Map<string, Charge>()
  for (const [owner, open] of Map.groupBy(installments, one => one.modificationLocator)) {
    const from = aggregate.modifications.get(owner)!
    const billed = known.get(owner) ?? billedCharges(aggregate, from, known)
    known.set(owner, billed)
    const numbers = new Set(open.map(one => one.number))
    for (const rest of restOf(planOf(aggregate, from), billed, numbers)) {
      const other = rests.get(rest.id)
      rests.set(rest.id, other ? joined(other, rest) : rest)
    }
  }
  return [...rests.values()]
}

/** Two rests of one charge, left by two plans. */
const joined = (a: Charge, b: Charge): Charge => ({
  ...a,
  amount: plus(a.amount, b.amount),
  rest: {
    start: earlier(a.rest!.start, b.rest!.start),
    end: later(a.rest!.end, b.rest!.end),
  },
})

/** Whether a plan that counts took over what the installment bills. */
export const isAbsorbed = (
  { modifications }: PolicyAggregate,
  { absorbedBy }: Pick<PlannedInstallment, 'absorbedBy'>,
): boolean => absorbedBy.some(locator => modifications.get(locator)?.invalidatedAt === undefined)

export type BillingContext = { product: ProductDefinition; now: Instant; supply: LocatorSupply }

/** The modification's invoices, void ones too. */
export const invoicesOf = (aggregate: PolicyAggregate, modification: Modification): Invoice[] =>
  [...aggregate.invoices.values()].filter(
    invoice => invoice.policyModificationLocator === modification.locator,
  )

/**
 * The aggregate with the plan of the quote's modification, in place of an earlier one. A plan that was invoiced
 * from stays as it is, since what its invoices bill follows from it; the quote's price has not changed either.
 */
export function planNewBusiness(
  aggregate: PolicyAggregate,
  quote: Quote,
  { product, now, supply }: BillingContext,
): PolicyAggregate {
  const { modification } = quoteParts(aggregate, quote)
  if (invoicesOf(aggregate, modification).length > 0) return aggregate
  const plan = termPlan(aggregate, modification, quote.paymentScheduleName, product, now)
  const superseded = planOf(aggregate, modification).map(installment => installment.locator)
  return {
    ...aggregate,
    installments: withRecords(
      withoutRecords(aggregate.installments, superseded),
      recorded(plan, modification, supply),
    ),
  }
}

/** The installments that the modification's term is billed by, planned now by a schedule of the product. */
export function termPlan(
  aggregate: PolicyAggregate,
  modification: Modification,
  scheduleName: string,
  product: ProductDefinition,
  now: Instant,
): Installment[] {
  const schedule = product.paymentSchedules.find(one => one.name === scheduleName)
  if (!schedule) throw new Error(`Product '${product.name}' has no payment schedule '${scheduleName}'.`)
  return planInstallments({
    charges: chargesOf(aggregate, modification),
    schedule: schedule.type,
    terms: product.defaultPaymentTerms,
    coverage: { start: modification.effectiveAt, end: modification.policyEnd },
    now,
    timeZone: aggregate.policy.timeZone,
  })
}

/** The plan as the modification's records. */
export const recorded = (
  plan: readonly Installment[],
  modification: Modification,
  supply: LocatorSupply,
): PlannedInstallment[] =>
  plan.map(installment => ({
    ...installment,
    locator: supply.uuid(),
    modificationLocator: modification.locator,
    absorbedBy: [],
  }))

export type Invoicing = { aggregate: PolicyAggregate; made: { invoice: Invoice; totalDue: Money }[] }

/** The aggregate with an invoice for every installment that is to be invoiced by now and is not yet. */
export function invoiceWhatIsDue(
  aggregate: PolicyAggregate,
  modification: Modification,
  { now, supply }: Pick<BillingContext, 'now' | 'supply'>,
): Invoicing {
  const due = installmentsToInvoice(aggregate, modification, now)
  if (due.length === 0) return { aggregate, made: [] }
  const totals = amountsDue(aggregate, modification)
  const made = due.map(installment => {
    const totalDue = totals[installment.number - 1]!
    // One whose first invoice became void, or that a void plan had taken over, is due by the end of today at the earliest.
    const again =
      installment.absorbedBy.length > 0 ||
      invoicesOf(aggregate, modification).some(invoice => invoice.installmentNumber === installment.number)
    const dueAt = again
      ? later(installment.dueAt, endOfDay(now, aggregate.policy.timeZone))
      : installment.dueAt
    const invoice = invoiceOf(
      { ...installment, dueAt },
      totalDue,
      INVOICED_TRANSACTIONS[modification.kind],
      {
        locator: supply.uuid(),
        displayId: supply.digits() as DisplayId,
        policyLocator: aggregate.policy.locator,
        policyModificationLocator: modification.locator,
      },
      now,
    )
    return { invoice, totalDue }
  })
  const invoices = withRecords(
    aggregate.invoices,
    made.map(one => one.invoice),
  )
  return { aggregate: { ...aggregate, invoices }, made }
}

/** The policy's invoices that are not void. */
export const standingInvoices = ({ invoices }: PolicyAggregate): Invoice[] =>
  [...invoices.values()].filter(invoice => invoiceStatus(invoice) !== 'invalidated')

/** Installments of the plan whose time to be invoiced has come. One whose invoice became void is invoiced anew. */
export function installmentsToInvoice(
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): PlannedInstallment[] {
  const standing = standingInvoices(aggregate).filter(
    invoice => invoice.policyModificationLocator === modification.locator,
  )
  const invoiced = new Set(standing.map(invoice => invoice.installmentNumber))
  return planOf(aggregate, modification).filter(
    one => one.issueAt <= now && !isAbsorbed(aggregate, one) && !invoiced.has(one.number),
  )
}
