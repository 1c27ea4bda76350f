// Bills a transaction, from the charge to the invoice (brief 4.5; docs/design.md, section 4). `billTransaction` and `planBills`
// show the order:
//
// 1. `chargesOf`: what the transaction charges.
// 2. `openInstallments`: what is planned and not billed yet.
// 3. The new plan: by the product's plugin, otherwise by `planBills`.
// 4. `makeBills`: makes the bills that are due now; the others get timers.
// 5. Offsets and credit settle invoices (transactions/payments), once the change is recorded.
//
// An invoice's total is the sum of its items. No code stores a total.
import { wrongState } from '../kernel/errors.ts'
import {
  type DisplayId,
  type LocatorSupply,
  type QuoteLocator,
  type Uuid,
  uuidOfPolicy,
} from '../kernel/locators.ts'
import { type Money, plus, zero } from '../kernel/money.ts'
import { earlier, endOfDay, type Instant, later } from '../kernel/time.ts'
import type { NewTimer } from '../platform/commit.ts'
import {
  amountsDue,
  chargesOf,
  futureInstallments,
  installmentsToInvoice,
  invoicesOf,
  isBilled,
  openInstallments,
  planOf,
  uninvoicedInstallments,
} from '../policy/bills/amounts-due.ts'
import { isContinued } from '../policy/bills/items.ts'
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
  carryInvoiceForward,
  type Installment,
  type Invoice,
  type InvoicedTransaction,
  invoiceOf,
  isSilent,
  type PlannedInstallment,
  writeOffInvoice,
} from '../policy/records/invoice.ts'
import { INVOICED_TRANSACTIONS } from '../policy/records/transactions.ts'
import type { Loaded } from '../policy/surroundings.ts'
import { combineSteps, invoiceEvents, type Planned, policyState } from '../policy/transitions.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { Attempt } from '../rating/rate.ts'
import { type OwnBills, planNewBusinessByPlugin, plansItsBills } from './plugin-bills.ts'
import {
  planAfterCancellation,
  planAfterEndorsement,
  planAfterFeeUpdate,
  planByNewSchedule,
} from './replanning.ts'
import { planAfterReinstatement } from './returning.ts'
import { type BillPlan, planRecords, termPlan } from './schedule.ts'

type PlanContext = {
  readonly product: ProductDefinition
  readonly now: Instant
  readonly newPaymentScheduleName?: string
}

/** Bills a transaction together with its effect. `before` already has the modification and everything that it made. */
export async function billTransaction(
  before: PolicyAggregate,
  modification: Modification,
  { ownBills, supply, ...context }: PlanContext & { supply: LocatorSupply; ownBills: OwnBills },
): Promise<Planned> {
  const { now } = context
  const own = await ownBills(before, modification)
  const bills = own?.bills ?? planBills(before, modification, context)
  return makeBills(before, modification, bills, { now, supply: own?.supply ?? supply })
}

/**
 * Returns the plan of a product without a plugin. Most transactions keep planned bills, each for what is then in force, and
 * immediately bill what existing bills charged too much or too little. A renewal plans its own term. An endorsement that names a
 * payment schedule, even the current one, replans all open bills (brief 4.3).
 */
export function planBills(
  before: PolicyAggregate,
  modification: Modification,
  { product, now, newPaymentScheduleName }: PlanContext,
): BillPlan {
  const scheduleName = newPaymentScheduleName ?? before.policy.paymentScheduleName
  const charges = chargesOf(before, modification)
  const open = openInstallments(before).sort(
    (a, b) => a.start - b.start || a.dueAt - b.dueAt || a.end - b.end,
  )
  const change = { before, modification, charges, open, product, scheduleName, now }
  switch (modification.kind) {
    case 'renewal':
      return { charges, plan: termPlan(before, modification, scheduleName, product, now), open: [] }
    case 'endorsement':
      return newPaymentScheduleName === undefined ? planAfterEndorsement(change) : planByNewSchedule(change)
    case 'cancellation':
    case 'withdrawal':
      return planAfterCancellation(change)
    case 'reinstatement':
      return planAfterReinstatement(change)
    case 'feeUpdate':
      return planAfterFeeUpdate(change)
    default:
      throw new Error(`A modification of kind ${modification.kind} is billed elsewhere.`)
  }
}

/** Records the plan, which takes over the open installments; existing invoices stay. Makes bills, each with a digit locator. */
export function makeBills(
  before: PolicyAggregate,
  modification: Modification,
  { plan, open }: Pick<BillPlan, 'plan' | 'open'>,
  context: InvoicingContext,
): Invoicing {
  const { now, supply } = context
  const own = planRecords(plan, modification, supply)
  const absorbed = open.map(one => ({ ...one, absorbedBy: [...one.absorbedBy, modification.locator] }))
  const planned = { ...before, installments: putRecords(before.installments, [...absorbed, ...own]) }
  // Replanned bills are made by their timers, even those that are due now.
  const atOnce = own.filter(one => one.replans?.bill !== 'planned' && one.issueAt <= now && !isSilent(one))
  const invoiced = isContinued(own)
    ? invoiceInstallments(planned, modification, atOnce, context)
    : invoiceDueInstallments(planned, modification, context)
  return { ...invoiced, timers: invoiceTimers(invoiced.aggregate, modification, now) }
}

/** Makes the bills that were to be made by `until`. Undefined if there are none, or if the policy is discarded. */
export async function decideInvoicing(
  { aggregate }: Loaded,
  attempt: Attempt,
  until = attempt.now,
): Promise<Planned | undefined> {
  if (policyState(aggregate) === 'discarded') return undefined
  const { now } = attempt
  let planned: Planned | undefined
  for (const modification of aggregate.modifications.values()) {
    const from = planned?.aggregate ?? aggregate
    if (!isBilled(from, modification)) continue
    const due = installmentsToInvoice(from, modification, earlier(until, now))
    if (due.length === 0) continue
    const context = { now, supply: await attempt.digits(due.length) }
    const invoiced = invoiceInstallments(from, modification, due, context)
    planned = planned ? combineSteps(planned, invoiced) : invoiced
  }
  return planned
}

/** Makes the earliest planned invoice early, with its planned due time. Throws 409 if none is planned. */
export async function decideNextInvoice(
  { aggregate }: Loaded,
  attempt: Attempt,
): Promise<{ planned: Planned; invoice: Uuid }> {
  const [next] = futureInstallments(aggregate)
  if (!next)
    throw wrongState(
      `Policy ${aggregate.policy.locator} has no planned invoice. GET /policy/${aggregate.policy.locator}/checkInvoices lists planned invoices.`,
    )
  const modification = aggregate.modifications.get(next.modificationLocator)!
  const context = { now: attempt.now, supply: await attempt.digits(1) }
  const planned = invoiceInstallments(aggregate, modification, [next], context)
  return { planned, invoice: planned.made[0]!.invoice.locator }
}

export const INVOICE_TIMER = 'policy.invoice'

type InvoicingContext = { readonly now: Instant; readonly supply: LocatorSupply }

type Invoicing = Planned & { readonly made: { invoice: Invoice; totalDue: Money }[] }

/** Makes the invoices of the modification's installments whose time has come. */
export const invoiceDueInstallments = (
  aggregate: PolicyAggregate,
  modification: Modification,
  context: InvoicingContext,
): Invoicing => {
  const due = installmentsToInvoice(aggregate, modification, context.now)
  return invoiceInstallments(aggregate, modification, due, context)
}

/**
 * Makes an invoice for each of these installments of the modification's plan. Uses a digit locator for each. An invoice that asks
 * for too little is carried forward: it is settled, and the plan's next installment that is not written off also asks for its
 * amount. An invoice that the plan writes off is settled immediately.
 */
function invoiceInstallments(
  aggregate: PolicyAggregate,
  modification: Modification,
  due: readonly PlannedInstallment[],
  { now, supply }: InvoicingContext,
): Invoicing {
  if (due.length === 0) return { aggregate, made: [], events: [] }
  const totals = amountsDue(aggregate, modification)
  const { currency, timeZone, locator: policyLocator } = aggregate.policy
  const open = uninvoicedInstallments(aggregate, modification)
  const earlier = new Set(invoicesOf(aggregate, modification).map(invoice => invoice.installmentNumber))
  // The amount carried forward, in order of time, and the installments that take it over.
  let carriedAmount = zero(currency)
  const takers: PlannedInstallment[] = []
  const made = [...due]
    .sort((a, b) => a.number - b.number)
    .map(installment => {
      const { number, absorbedBy, items, writeOff, carriesBelow = 0 } = installment
      const planned = totals[number - 1]!
      const totalDue = writeOff ? planned : plus(planned, carriedAmount)
      // No invoice is past due when it is made (brief 4.2), even if a void invoice, a void plan or an outage delayed it. Only a
      // plugin may decide otherwise, and only the first time.
      const isAsPlanned = items !== undefined && absorbedBy.length === 0 && !earlier.has(number)
      const dueAt = isAsPlanned ? installment.dueAt : later(installment.dueAt, endOfDay(now, timeZone))
      const identity = {
        locator: uuidOfPolicy(policyLocator),
        displayId: supply.digits() as DisplayId,
        policyLocator,
        policyModificationLocator: modification.locator,
      }
      const type = invoiceTypeOf(installment, modification)
      const invoice = invoiceOf({ ...installment, dueAt }, totalDue, type, identity, now)
      if (writeOff)
        return { invoice: totalDue.minor === 0 ? invoice : writeOffInvoice(invoice, now), totalDue }
      const next = open.find(one => one.number > number && !one.writeOff)
      carriedAmount = zero(currency)
      if (!next || totalDue.minor <= 0 || totalDue.minor >= carriesBelow) return { invoice, totalDue }
      carriedAmount = totalDue
      takers.push({ ...next, takesOver: [...(next.takesOver ?? []), installment.locator] })
      return { invoice: carryInvoiceForward(invoice, now), totalDue }
    })
  const invoices = made.map(one => one.invoice)
  const after = {
    ...aggregate,
    installments: putRecords(aggregate.installments, takers),
    invoices: putRecords(aggregate.invoices, invoices),
  }
  const events = made.flatMap(({ invoice, totalDue }) => invoiceEvents(after, invoice, totalDue))
  return { aggregate: after, made, events }
}

/** Returns the invoice type. The transaction's own type applies only to a first installment that is made immediately. */
export const invoiceTypeOf = (
  { number, replans }: Installment,
  { kind }: Pick<Modification, 'kind'>,
): InvoicedTransaction =>
  number === 1 && replans?.bill !== 'planned' ? INVOICED_TRANSACTIONS[kind] : 'installment'

/** Returns one timer for each invoice time. Due now if a replanned installment's time has passed. */
export function invoiceTimers(
  aggregate: PolicyAggregate,
  modification: Modification,
  now: Instant,
): NewTimer[] {
  const toCome = planOf(aggregate, modification).filter(
    one => !isSilent(one) && (one.issueAt > now || one.replans?.bill === 'planned'),
  )
  const times = new Set(toCome.map(one => later(one.issueAt, now)))
  return Array.from(times, dueAt => timerAt(aggregate, dueAt))
}

/** Returns a timer for now if the void modification had taken over installments whose time has passed. */
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

/**
 * Plans the quote's modification. Replaces an earlier plan, unless that has invoices: the items of an invoice are derived from its
 * plan. In that case the quote's price has not changed.
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

/** Stores the plan, replacing an earlier one. */
export const withPlan = (
  aggregate: PolicyAggregate,
  modification: Modification,
  plan: readonly Installment[],
  supply: LocatorSupply,
): PolicyAggregate => ({
  ...aggregate,
  installments: putRecords(
    withoutPlan(aggregate, modification).installments,
    planRecords(plan, modification, supply),
  ),
})

/** Removes the modification's plan, which must have no invoices. */
export const withoutPlan = (aggregate: PolicyAggregate, modification: Modification): PolicyAggregate => {
  const plan = planOf(aggregate, modification).map(installment => installment.locator)
  return plan.length === 0
    ? aggregate
    : { ...aggregate, installments: removeRecords(aggregate.installments, plan) }
}

/** Makes the due invoices of the accepted quote. Plans the quote again until it has its first invoice. */
export async function billAcceptedQuote(
  before: PolicyAggregate,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const { now } = attempt
  const quote = acceptedQuote(before)!
  const { modification } = quoteParts(before, quote)
  const planned = await planQuote(before, quote, loaded, attempt)
  const due = installmentsToInvoice(planned, modification, now)
  const isFirst = invoicesOf(before, modification).length === 0
  const timers = isFirst ? invoiceTimers(planned, modification, now) : []
  const context = { now, supply: await attempt.digits(due.length) }
  return { ...invoiceInstallments(planned, modification, due, context), timers }
}

/** Plans the quote, unless its plan already has invoices. */
async function planQuote(
  before: PolicyAggregate,
  quote: Quote,
  loaded: Loaded,
  attempt: Attempt,
): Promise<PolicyAggregate> {
  const { now, supply } = attempt
  const { modification } = quoteParts(before, quote)
  if (invoicesOf(before, modification).length > 0) return before
  const own = await planNewBusinessByPlugin(before, quote, loaded, attempt)
  return own
    ? withPlan(before, modification, own.plan, supply)
    : planNewBusiness(before, quote, { product: loaded.product, now, supply })
}

/** Plans a quote that is not billed yet, if the product plans its own bills. Built-in plans are made when a policy is quoted. */
export async function planUnbilledQuote(
  before: PolicyAggregate,
  locator: QuoteLocator,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned | undefined> {
  const quote = before.quotes.get(locator)!
  const isShown = plansItsBills(loaded) && (quote.state === 'quoted' || quote.state === 'accepted')
  return isShown ? { aggregate: await planQuote(before, quote, loaded, attempt), events: [] } : undefined
}

/** Bills the accepted quote if the product invoices on acceptance. Otherwise, or if no quote is accepted, returns undefined. */
export async function billOnAcceptance(
  before: PolicyAggregate,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned | undefined> {
  const bills = loaded.product.invoicing.generatingEvent === 'accept' && acceptedQuote(before)
  return bills ? await billAcceptedQuote(before, loaded, attempt) : undefined
}
