// Bills new business: the plan of the quote's modification, and the invoices that are made at once (brief 4.2).
import type { LocatorSupply, QuoteLocator } from '../kernel/locators.ts'
import { installmentsToInvoice, invoicesOf, planOf } from '../policy/bills/amounts-due.ts'
import type { Planned } from '../policy/planned.ts'
import {
  acceptedQuote,
  type Modification,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  removeRecords,
} from '../policy/records/aggregate.ts'
import type { Installment } from '../policy/records/installment.ts'
import type { Loaded } from '../policy/surroundings.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { Attempt } from '../rating/attempt.ts'
import { type InvoicingContext, invoiceInstallments, invoiceTimers } from './invoicing.ts'
import { ownNewBusiness, plansItsBills } from './plugin-bills.ts'
import { recorded, termPlan } from './schedule.ts'

/**
 * The aggregate with the plan of the quote's modification, in place of an earlier one. A plan that was invoiced
 * from stays as it is, since what its invoices bill follows from it; the quote's price has not changed either.
 */
export function planNewBusiness(
  aggregate: PolicyAggregate,
  quote: Quote,
  { product, now, supply }: InvoicingContext & { product: ProductDefinition },
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

/** Makes the invoices of the accepted quote that are due; its payments are planned anew until the first of them. */
export async function bill(before: PolicyAggregate, loaded: Loaded, attempt: Attempt): Promise<Planned> {
  const { now } = attempt
  const quote = acceptedQuote(before)!
  const planned = await planBills(before, quote, loaded, attempt)
  const { modification } = quoteParts(planned, quote)
  const due = installmentsToInvoice(planned, modification, now)
  const isFirst = invoicesOf(before, modification).length === 0
  const timers = isFirst ? invoiceTimers(planned, modification, now) : []
  if (due.length === 0) return { aggregate: planned, events: [], timers }
  const invoiced = invoiceInstallments(planned, modification, due, {
    now,
    supply: await attempt.digits(due.length),
  })
  return { ...invoiced, timers }
}

/** The aggregate with the plan of the quote's modification, made now; one that was invoiced from stays as it is. */
async function planBills(
  before: PolicyAggregate,
  quote: Quote,
  loaded: Loaded,
  attempt: Attempt,
): Promise<PolicyAggregate> {
  const { now, supply } = attempt
  const { modification } = quoteParts(before, quote)
  const isPlanned = invoicesOf(before, modification).length > 0
  const own = isPlanned ? undefined : await ownNewBusiness(before, quote, loaded, attempt)
  return own
    ? withPlan(before, modification, own.plan, supply)
    : planNewBusiness(before, quote, { product: loaded.product, now, supply })
}

/**
 * The plan that a quote shows until it is billed, where its product plans bills itself; else undefined: a built-in one
 * is made when it is quoted.
 */
export async function showBills(
  before: PolicyAggregate,
  locator: QuoteLocator,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned | undefined> {
  const quote = before.quotes.get(locator)!
  const isShown = plansItsBills(loaded) && (quote.state === 'quoted' || quote.state === 'accepted')
  return isShown ? { aggregate: await planBills(before, quote, loaded, attempt), events: [] } : undefined
}

/** As `bill`, where the product invoices on acceptance and there is an accepted quote; else undefined. */
export async function billOnAcceptance(
  before: PolicyAggregate,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned | undefined> {
  const bills = loaded.product.invoicing.generatingEvent === 'accept' && acceptedQuote(before)
  return bills ? await bill(before, loaded, attempt) : undefined
}
