// Bills the accepted quote: its plan, the invoices that are due, and timers for those to come.
import { INVOICE_TIMER, installmentsToInvoice, invoicesOf, planNewBusiness, planOf } from '../billing/bill.ts'
import type { NewTimer } from '../platform/commit.ts'
import type { Instant } from '../platform/time.ts'
import { acceptedQuote } from '../quotes/plans.ts'
import type { Modification, PolicyAggregate } from './aggregate.ts'
import type { Attempt } from './attempt.ts'
import { planInvoices } from './new-business.ts'
import type { Planned } from './planned.ts'
import { quoteParts } from './quote-parts.ts'
import type { Loaded } from './surroundings.ts'
import { policyState } from './transitions.ts'

/** Makes the invoices of the accepted quote that are due; its payments are planned anew until the first of them. */
export async function bill(before: PolicyAggregate, loaded: Loaded, attempt: Attempt): Promise<Planned> {
  const { now, supply } = attempt
  const quote = acceptedQuote(before)!
  const planned = planNewBusiness(before, quote, { product: loaded.product, now, supply })
  const { modification } = quoteParts(planned, quote)
  const due = installmentsToInvoice(planned, modification, now)
  if (due.length === 0) return { aggregate: planned, events: [] }
  const isFirst = invoicesOf(before, modification).length === 0
  const invoiced = planInvoices(planned, modification, now, await attempt.digits(due.length))
  return { ...invoiced, timers: isFirst ? invoiceTimers(planned, modification, now) : [] }
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

/** Invoices whose time has come; undefined when there are none, or the policy came to nothing. */
export async function decideInvoicing(loaded: Loaded, attempt: Attempt): Promise<Planned | undefined> {
  const { aggregate } = loaded
  const quote = acceptedQuote(aggregate)
  if (!quote || policyState(aggregate) === 'discarded') return undefined
  const begun = invoicesOf(aggregate, quoteParts(aggregate, quote).modification).length > 0
  const billed = begun ? await bill(aggregate, loaded, attempt) : undefined
  return billed && billed.events.length > 0 ? billed : undefined
}

/** One timer for each time at which an installment is to be invoiced. */
function invoiceTimers(aggregate: PolicyAggregate, modification: Modification, now: Instant): NewTimer[] {
  const times = new Set(
    planOf(aggregate, modification)
      .map(installment => installment.issueAt)
      .filter(at => at > now),
  )
  const subject = String(aggregate.policy.locator)
  return [...times].map(dueAt => ({ dueAt, kind: INVOICE_TIMER, subject, payload: {} }))
}
