// Bills new business: the plan of its modification and the invoices that are made at once (brief 4.2). An
// invoice's total is the sum of its items; nothing writes a total.
import type { DisplayId, LocatorSupply } from '../kernel/locators.ts'
import { type CurrencyCode, type Money, money, plus, zero } from '../kernel/money.ts'
import { endOfDay, type Instant, later } from '../kernel/time.ts'
import {
  amountsDue,
  chargesOf,
  installmentsToInvoice,
  invoicesOf,
  notInvoiced,
  planOf,
} from '../policy/bills/amounts-due.ts'
import { quoteParts } from '../policy/quote-parts.ts'
import {
  type Modification,
  type PolicyAggregate,
  putRecords,
  type Quote,
  removeRecords,
} from '../policy/records/aggregate.ts'
import type { Installment, PlannedInstallment } from '../policy/records/installment.ts'
import {
  carriedForward,
  type Invoice,
  type InvoicedTransaction,
  invoiceOf,
  writtenOff,
} from '../policy/records/invoice.ts'
import { INVOICED_TRANSACTIONS } from '../policy/records/transactions.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import { planInstallments } from './schedule.ts'

/** Kind of the timers that go off when an installment is to be invoiced. */
export const INVOICE_TIMER = 'policy.invoice'

export type BillingContext = { product: ProductDefinition; now: Instant; supply: LocatorSupply }

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
  return withPlan(aggregate, modification, plan, supply)
}

/** The aggregate with the modification's plan, in place of an earlier one. */
export const withPlan = (
  aggregate: PolicyAggregate,
  modification: Modification,
  plan: readonly Installment[],
  supply: LocatorSupply,
): PolicyAggregate => ({
  ...aggregate,
  installments: putRecords(
    withoutPlan(aggregate, modification).installments,
    recorded(plan, modification, supply),
  ),
})

/** The aggregate without the modification's plan, which no invoice was made of. */
export const withoutPlan = (aggregate: PolicyAggregate, modification: Modification): PolicyAggregate => {
  const plan = planOf(aggregate, modification).map(installment => installment.locator)
  return plan.length === 0
    ? aggregate
    : { ...aggregate, installments: removeRecords(aggregate.installments, plan) }
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
  const plan = planInstallments({
    charges: chargesOf(aggregate, modification),
    schedule: schedule.type,
    terms: product.defaultPaymentTerms,
    coverage: { start: modification.effectiveAt, end: modification.policyEnd },
    now,
    timeZone: aggregate.policy.timeZone,
  })
  return carryingForward(plan, product, aggregate.policy.currency)
}

/** The plan of a product that carries small invoices forward: all installments do that have another after them. */
export function carryingForward(
  plan: readonly Installment[],
  { invoicing }: ProductDefinition,
  currency: CurrencyCode,
): Installment[] {
  if (invoicing.carryForwardBelow === undefined) return [...plan]
  const carriesBelow = money(invoicing.carryForwardBelow, currency).minor
  return plan.map((one, at) => (at < plan.length - 1 ? { ...one, carriesBelow } : one))
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
  return invoiceInstallments(aggregate, modification, installmentsToInvoice(aggregate, modification, now), {
    now,
    supply,
  })
}

/**
 * The aggregate with an invoice for each of these installments of the modification's plan. Takes a digit for each. One
 * that asks for too little is carried forward: it is settled, and the plan's next installment that is not to be written
 * off asks for it too. One that the plan writes off is settled so at once.
 */
export function invoiceInstallments(
  aggregate: PolicyAggregate,
  modification: Modification,
  due: readonly PlannedInstallment[],
  { now, supply }: Pick<BillingContext, 'now' | 'supply'>,
): Invoicing {
  if (due.length === 0) return { aggregate, made: [] }
  const totals = amountsDue(aggregate, modification)
  const { currency, timeZone } = aggregate.policy
  const open = notInvoiced(aggregate, modification)
  // What those before carry forward, in the order of time, and the installments that take it over.
  let carried = zero(currency)
  const takers: PlannedInstallment[] = []
  const made = [...due]
    .sort((a, b) => a.number - b.number)
    .map(installment => {
      const planned = totals[installment.number - 1]!
      const totalDue = installment.writeOff ? planned : plus(planned, carried)
      // One whose first invoice became void, or that a void plan had taken over, is due by the end of today at the earliest.
      const again =
        installment.absorbedBy.length > 0 ||
        invoicesOf(aggregate, modification).some(invoice => invoice.installmentNumber === installment.number)
      const dueAt = again ? later(installment.dueAt, endOfDay(now, timeZone)) : installment.dueAt
      const invoice = invoiceOf(
        { ...installment, dueAt },
        totalDue,
        invoiceTypeOf(installment, modification),
        {
          locator: supply.uuid(),
          displayId: supply.digits() as DisplayId,
          policyLocator: aggregate.policy.locator,
          policyModificationLocator: modification.locator,
        },
        now,
      )
      if (installment.writeOff)
        return { invoice: totalDue.minor === 0 ? invoice : writtenOff(invoice, now), totalDue }
      const next = open.find(one => one.number > installment.number && !one.writeOff)
      carried = zero(currency)
      if (!next || totalDue.minor <= 0 || totalDue.minor >= (installment.carriesBelow ?? 0))
        return { invoice, totalDue }
      carried = totalDue
      takers.push({ ...next, takesOver: [...(next.takesOver ?? []), installment.locator] })
      return { invoice: carriedForward(invoice, now), totalDue }
    })
  const invoices = putRecords(
    aggregate.invoices,
    made.map(one => one.invoice),
  )
  const installments = putRecords(aggregate.installments, takers)
  return { aggregate: { ...aggregate, installments, invoices }, made }
}

/** What an invoice of the installment is called: the plan's first after the transaction, and only where it is made at once. */
export const invoiceTypeOf = (
  { number, replans }: Installment,
  { kind }: Pick<Modification, 'kind'>,
): InvoicedTransaction =>
  number === 1 && replans?.bill !== 'planned' ? INVOICED_TRANSACTIONS[kind] : 'installment'
