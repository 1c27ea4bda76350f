// Bills the accepted quote: its plan, the invoices that are due, and timers for those to come.
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply, QuoteLocator, Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import {
  futureInstallments,
  installmentsToInvoice,
  invoicesOf,
  isBilled,
} from '../policy/bills/amounts-due.ts'
import { invoiceEvents } from '../policy/events.ts'
import { chain, type Planned } from '../policy/planned.ts'
import { quoteParts } from '../policy/quote-parts.ts'
import {
  acceptedQuote,
  type Modification,
  type PolicyAggregate,
  type Quote,
} from '../policy/records/aggregate.ts'
import type { Loaded } from '../policy/surroundings.ts'
import { policyState } from '../policy/transitions.ts'
import type { Attempt } from '../rating/attempt.ts'
import { invoiceInstallments, invoiceWhatIsDue, planNewBusiness, withPlan } from './bill.ts'
import { ownNewBusiness, plansItsBills } from './own-bills.ts'
import { invoiceTimers } from './timers.ts'

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
  const invoiced = planInvoices(planned, modification, now, await attempt.digits(due.length))
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

/** Invoices whose time has come; undefined when there are none, or the policy came to nothing. */
export async function decideInvoicing({ aggregate }: Loaded, attempt: Attempt): Promise<Planned | undefined> {
  if (policyState(aggregate) === 'discarded') return undefined
  const { now } = attempt
  let planned: Planned | undefined
  for (const modification of aggregate.modifications.values()) {
    const from = planned?.aggregate ?? aggregate
    if (!isBilled(from, modification)) continue
    const due = installmentsToInvoice(from, modification, now)
    if (due.length === 0) continue
    const invoiced = planInvoices(from, modification, now, await attempt.digits(due.length))
    planned = planned ? chain(planned, invoiced) : invoiced
  }
  return planned
}

/** The earliest planned invoice, made before its time; due when it was planned to be. 409 when none is planned. */
export async function decideNextInvoice(
  { aggregate }: Loaded,
  attempt: Attempt,
): Promise<{ planned: Planned; invoice: Uuid }> {
  const [next] = futureInstallments(aggregate)
  if (!next)
    throw new Refusal(
      'wrongState',
      `Policy ${aggregate.policy.locator} has no planned invoice; GET /policy/${aggregate.policy.locator}/checkInvoices lists what is planned.`,
    )
  const modification = aggregate.modifications.get(next.modificationLocator)!
  const context = { now: attempt.now, supply: await attempt.digits(1) }
  const { aggregate: after, made } = invoiceInstallments(aggregate, modification, [next], context)
  const { invoice, totalDue } = made[0]!
  return {
    planned: { aggregate: after, events: invoiceEvents(after, invoice, totalDue) },
    invoice: invoice.locator,
  }
}

/** Invoices what is due of the modification's plan, with the events of each invoice. */
export function planInvoices(
  before: PolicyAggregate,
  modification: Modification,
  now: Instant,
  supply: LocatorSupply,
): Planned {
  const { aggregate, made } = invoiceWhatIsDue(before, modification, { now, supply })
  return {
    aggregate,
    events: made.flatMap(({ invoice, totalDue }) => invoiceEvents(aggregate, invoice, totalDue)),
  }
}
