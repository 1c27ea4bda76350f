// Makes invoices of planned installments when their time comes. An invoice's total is the sum of its items; nothing writes a
// total.
import { wrongState } from '../kernel/errors.ts'
import {
  type DisplayId,
  type LocatorSupply,
  type QuoteLocator,
  type Uuid,
  uuidOfPolicy,
} from '../kernel/locators.ts'
import { type Money, plus, zero } from '../kernel/money.ts'
import { endOfDay, type Instant, later } from '../kernel/time.ts'
import type { NewTimer } from '../platform/commit.ts'
import {
  amountsDue,
  futureInstallments,
  installmentsToInvoice,
  invoicesOf,
  isBilled,
  notInvoiced,
  planOf,
} from '../policy/bills/amounts-due.ts'
import {
  acceptedQuote,
  type Modification,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  removeRecords,
} from '../policy/records/aggregate.ts'
import {
  carriedForward,
  type Installment,
  type Invoice,
  type InvoicedTransaction,
  invoiceOf,
  isSilent,
  type PlannedInstallment,
  writtenOff,
} from '../policy/records/invoice.ts'
import { INVOICED_TRANSACTIONS } from '../policy/records/transactions.ts'
import type { Loaded } from '../policy/surroundings.ts'
import { chain, invoiceEvents, type Planned, policyState } from '../policy/transitions.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { Attempt } from '../rating/rate.ts'
import { ownNewBusiness, plansItsBills } from './plugin-bills.ts'
import { recorded, termPlan } from './schedule.ts'

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
    const invoiced = invoiceInstallments(from, modification, due, {
      now,
      supply: await attempt.digits(due.length),
    })
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
    throw wrongState(
      `Policy ${aggregate.policy.locator} has no planned invoice; GET /policy/${aggregate.policy.locator}/checkInvoices lists what is planned.`,
    )
  const modification = aggregate.modifications.get(next.modificationLocator)!
  const context = { now: attempt.now, supply: await attempt.digits(1) }
  const planned = invoiceInstallments(aggregate, modification, [next], context)
  return { planned, invoice: planned.made[0]!.invoice.locator }
}

/** Kind of the timers that go off when an installment is to be invoiced. */
export const INVOICE_TIMER = 'policy.invoice'

export type InvoicingContext = { readonly now: Instant; readonly supply: LocatorSupply }

/** Invoices that were made, with their events. */
export type Invoicing = Planned & { readonly made: { invoice: Invoice; totalDue: Money }[] }

/** The aggregate with an invoice for every installment that is to be invoiced by now and is not yet. */
export function invoiceWhatIsDue(
  aggregate: PolicyAggregate,
  modification: Modification,
  { now, supply }: InvoicingContext,
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
  { now, supply }: InvoicingContext,
): Invoicing {
  if (due.length === 0) return { aggregate, made: [], events: [] }
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
          locator: uuidOfPolicy(aggregate.policy.locator),
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
  const after = { ...aggregate, installments, invoices }
  return {
    aggregate: after,
    made,
    events: made.flatMap(({ invoice, totalDue }) => invoiceEvents(after, invoice, totalDue)),
  }
}

/** What an invoice of the installment is called: the plan's first after the transaction, and only where it is made at once. */
export const invoiceTypeOf = (
  { number, replans }: Installment,
  { kind }: Pick<Modification, 'kind'>,
): InvoicedTransaction =>
  number === 1 && replans?.bill !== 'planned' ? INVOICED_TRANSACTIONS[kind] : 'installment'

/** One timer for each time at which an installment is to be invoiced; for now where that of one which goes on has come. */
export function invoiceTimers(
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): NewTimer[] {
  const times = new Set(
    planOf(aggregate, modification)
      .filter(one => !isSilent(one) && (one.issueAt > now || one.replans?.bill === 'planned'))
      .map(one => later(one.issueAt, now)),
  )
  return [...times].map(dueAt => timerAt(aggregate, dueAt))
}

/** A timer for now where the time of installments came while the modification had taken them over, which is void. */
export function missedInvoices(
  aggregate: PolicyAggregate,
  { locator }: Modification,
  now: Instant,
): NewTimer[] {
  const isMissed = [...aggregate.installments.values()].some(
    one => one.absorbedBy.includes(locator) && one.issueAt <= now,
  )
  return isMissed ? [timerAt(aggregate, now)] : []
}

const timerAt = ({ policy }: PolicyAggregate, dueAt: Instant): NewTimer => ({
  dueAt,
  kind: INVOICE_TIMER,
  subject: String(policy.locator),
  payload: {},
})

// Bills new business: the plan of the quote's modification, and the invoices that are made at once (brief 4.2).
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
