// Payments, refunds, reversals and write-offs of invoices, with their events (brief 4.4, 4.5). Pure.
import { invalidRequest, notFound, Refusal, wrongState } from '../kernel/errors.ts'
import { type DisplayId, type LocatorSupply, type Uuid, uuidOfPolicy } from '../kernel/locators.ts'
import { fromMinor, type Money, minus, negated, sum, toText, zero } from '../kernel/money.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import { futureInstallments, installmentOf, restDue, totalsDueOf } from '../policy/bills/amounts-due.ts'
import type { InstallmentItem } from '../policy/bills/items.ts'
import type {
  CheckInvoicesResponse,
  FutureInvoiceResponse,
  GetInvoiceFinancialTransactionsResponse,
  PaymentSource,
  PolicyInvoiceResponse,
} from '../policy/contract/billing.ts'
import { billedItemsOf, MOST_ITEMISED, shownItems } from '../policy/projection/billed-items.ts'
import { invoiceResponses } from '../policy/projection/records.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../policy/records/aggregate.ts'
import {
  appliedAmount,
  applyPayment,
  assertPaymentAllows,
  counterpartOf,
  type Invoice,
  invalidateInvoice,
  invoiceStatus,
  isOutstanding,
  type Payment,
  type PlannedInstallment,
  paymentState,
  reopenInvoice,
  standingPayments,
  writeOffInvoice,
} from '../policy/records/invoice.ts'
import { combineSteps, invoiceEvent, type Planned, policyEvent } from '../policy/transitions.ts'
import type { Configuration } from '../product/configuration.ts'
import { validateFields } from '../product/fields/validate.ts'
import {
  type FieldValues,
  fieldErrors,
  normaliseFieldValues,
  readFieldValues,
} from '../product/fields/values.ts'

export type PaymentTerms = {
  readonly source: PaymentSource
  /** By default, everything that the invoice still asks for. */
  readonly amount?: Money
  /** What the invoice still asks for, if the caller knows it. */
  readonly rest?: Money
  readonly fieldValues: FieldValues
  readonly offsetInvoiceLocator?: Uuid
}

/**
 * Pays an invoice. A partial payment leaves it outstanding; an overpayment becomes the policyholder's credit. A payment from credit
 * never exceeds what is due. Negative amounts pay out a refund, never more than is owed. Throws 400 for an amount with the wrong
 * sign or beyond what may be paid. Uses one digit locator.
 */
export function planPayment(
  before: PolicyAggregate,
  invoice: Invoice,
  { source, amount: asked, rest = restDue(before, invoice), fieldValues, offsetInvoiceLocator }: PaymentTerms,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Planned & { payment: Payment } {
  const amount = asked ?? rest
  const after = applyPayment(invoice, Math.abs(amount.minor) >= Math.abs(rest.minor), now)
  assertFits(amount, rest, source)
  const beyond = minus(amount, rest)
  const payment: Payment = {
    locator: uuidOfPolicy(before.policy.locator),
    displayId: supply.digits() as DisplayId,
    policyholderLocator: before.policy.policyholderLocator,
    invoiceLocator: invoice.locator,
    source,
    ...(offsetInvoiceLocator && { offsetInvoiceLocator }),
    amount,
    credited: rest.minor > 0 && beyond.minor > 0 ? beyond : zero(amount.currency),
    fieldValues,
    postedAt: now,
  }
  return { ...withPayment(before, 'payment.pay', payment, after), payment }
}

function withPayment(
  before: PolicyAggregate,
  type: 'payment.pay' | 'payment.reverse',
  payment: Payment,
  invoice: Invoice,
): Planned {
  const { locator: paymentLocator, invoiceLocator, amount, source } = payment
  const aggregate: PolicyAggregate = {
    ...before,
    invoices: putRecords(before.invoices, [invoice]),
    payments: putRecords(before.payments, [payment]),
  }
  const data = { paymentLocator, invoiceLocator, amount: toText(amount), currency: amount.currency, source }
  return { aggregate, events: [policyEvent(aggregate, type, data)] }
}

/** Reverses a payment; an offset on both invoices. The invoice asks for the amount again, unless it was given up (brief 4.4). */
export function planReversal(before: PolicyAggregate, payment: Payment, now: Instant): Planned {
  const counterpart = payment.source === 'offset' ? counterpartOf(before, payment) : undefined
  const reversed = planOneReversal(before, payment, now)
  return counterpart
    ? combineSteps(reversed, planOneReversal(reversed.aggregate, counterpart, now))
    : reversed
}

/** A refund that was partly written off becomes outstanding as a whole. */
function planOneReversal(before: PolicyAggregate, payment: Payment, now: Instant): Planned {
  assertPaymentAllows(payment, 'reverse')
  const invoice = before.invoices.get(payment.invoiceLocator)!
  const isWrittenOff = invoiceStatus(invoice) === 'writtenOff' && payment.amount.minor > 0
  const after = isWrittenOff
    ? { ...invoice, updatedAt: now }
    : reopenInvoice(invoice, now, before.policy.timeZone)
  return withPayment(before, 'payment.reverse', { ...payment, reversedAt: now }, after)
}

/** Throws 400 for an amount with the wrong sign, and for refunds and credit payments beyond what is due. */
function assertFits(amount: Money, rest: Money, source: PaymentSource): void {
  if (amount.minor === 0 || Math.sign(amount.minor) !== Math.sign(rest.minor))
    throw invalidRequest(
      `amount ${toText(amount)} must be ${rest.minor > 0 ? 'above' : 'below'} zero, because the invoice still asks for ${toText(rest)} ${rest.currency}.`,
    )
  if (rest.minor > 0 && source === 'received') return
  if (Math.abs(amount.minor) > Math.abs(rest.minor))
    throw invalidRequest(
      `amount ${toText(amount)} is more than the ${toText(rest)} ${rest.currency} that the invoice ${rest.minor > 0 ? 'asks for; a payment from credit cannot exceed that' : 'refunds'}.`,
    )
}

/** Writes off the invoices. What was paid stays paid and does not become credit (brief 4.5). */
export function planWriteOff(before: PolicyAggregate, invoices: readonly Invoice[], now: Instant): Planned {
  const totalDueOf = totalsDueOf(before)
  const writtenOffInvoices = invoices.map(invoice => writeOffInvoice(invoice, now))
  const aggregate = { ...before, invoices: putRecords(before.invoices, writtenOffInvoices) }
  return {
    aggregate,
    events: writtenOffInvoices.map(invoice =>
      invoiceEvent(aggregate, 'invoice.writtenOff', invoice, totalDueOf(invoice)),
    ),
  }
}

/**
 * Voids the invoices of a transaction that comes to nothing, after reversing their payments (brief 1.3, 1.4). This includes
 * invoices that were settled without money, because what was never owed cannot be given up or carried forward. The reversals reopen
 * no other invoice.
 */
export function planVoidInvoices(
  before: PolicyAggregate,
  invoices: readonly Invoice[],
  now: Instant,
): Planned {
  const totalDueOf = totalsDueOf(before)
  let planned: Planned = { aggregate: before, events: [] }
  for (const invoice of invoices) {
    if (invoiceStatus(invoice) === 'invalidated') continue
    for (const payment of standingPayments(planned.aggregate, invoice))
      planned = combineSteps(planned, planReversal(planned.aggregate, payment, now))
    const { invoices } = planned.aggregate
    const voided = invalidateInvoice(invoices.get(invoice.locator)!, now)
    const aggregate = { ...planned.aggregate, invoices: putRecords(invoices, [voided]) }
    const event = invoiceEvent(aggregate, 'invoice.invalidate', voided, totalDueOf(voided))
    planned = combineSteps(planned, { aggregate, events: [event] })
  }
  return planned
}

/**
 * Returns the most that may go out of the policy, as refund or credit (brief 4.5): what was paid in and not yet paid out or
 * credited. The rest of a refund is written off. Reversed payments do not count, nor does the part of a payment that became credit.
 * Offsets move no money.
 */
export function payOutLimit({ payments, policy }: Pick<PolicyAggregate, 'payments' | 'policy'>): Money {
  const moved = [...payments.values()].filter(
    one => one.source !== 'offset' && paymentState(one) === 'posted',
  )
  const left = sum(moved.map(appliedAmount), policy.currency)
  return left.minor > 0 ? left : zero(policy.currency)
}

export type PayOut = {
  readonly source: 'received' | 'credit'
  /** Negative. By default everything that may go out. */
  readonly amount?: Money
  readonly fieldValues: FieldValues
}

/** `refusal` is set if nothing may be paid out. The plan still applies, and writes the refund off. */
type PayOutPlan = { planned: Planned; payment?: Payment; refusal?: Refusal }

/**
 * Pays out a refund. Without an amount, pays as much as may go out and writes off the rest. Throws 409 for an amount beyond the
 * limit. Uses one digit locator.
 */
export function planPayOut(
  before: PolicyAggregate,
  invoice: Invoice,
  { source, amount, fieldValues }: PayOut,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): PayOutPlan {
  const rest = restDue(before, invoice)
  if (amount) assertFits(amount, rest, source)
  const limit = payOutLimit(before)
  if (limit.minor === 0)
    return {
      planned: planWriteOff(before, [invoice], now),
      refusal: payOutRefusal(
        limit,
        `Nothing of invoice ${invoice.displayId} can be paid out, so it is written off`,
        before,
      ),
    }
  if (amount && -amount.minor > limit.minor)
    throw payOutRefusal(
      limit,
      `Not all of ${toText(negated(amount))} ${amount.currency} can be paid out`,
      before,
    )
  const most = fromMinor(-Math.min(-rest.minor, limit.minor), rest.currency)
  const terms = { source, amount: amount ?? most, rest, fieldValues }
  const { payment, ...paid } = planPayment(before, invoice, terms, { now, supply })
  const after = invoiceNamed(paid.aggregate, invoice.locator)
  const isLost = amount === undefined && isOutstanding(after)
  return {
    planned: combineSteps(paid, isLost ? planWriteOff(paid.aggregate, [after], now) : undefined),
    payment,
  }
}

const payOutRefusal = (limit: Money, problem: string, { policy }: PolicyAggregate): Refusal =>
  wrongState(
    `${problem}: of the amount paid in for policy ${policy.locator}, only ${toText(limit)} ${limit.currency} has not been paid out or credited yet.`,
  )

/**
 * Returns a payment's values as they are stored, checked against payment/payment.json. Throws 400 with every problem, including
 * missing required fields. Deployments reject group and lookup fields in that file (brief 4.4, 6.7).
 */
export function paymentFieldValues(
  { paymentFields }: Pick<Configuration, 'paymentFields'>,
  wire: unknown,
  timeZone: TimeZone,
  now: Instant,
): FieldValues {
  const { values, problems } = readFieldValues(wire)
  const found = validateFields(paymentFields, values, [], {
    timeZone,
    now,
    requireMissing: true,
    table: () => undefined,
    reported: fieldErrors(problems),
  })
  if (found.hasErrors)
    throw new Refusal('paymentValidation', found.errors.map(error => error.message ?? '').join(' '), {
      paymentFieldErrors: found,
    })
  return normaliseFieldValues(paymentFields, values, timeZone)
}

/** Throws 404 if the policy has no such invoice. */
export function invoiceNamed({ invoices }: PolicyAggregate, locator: Uuid): Invoice {
  const invoice = invoices.get(locator)
  if (!invoice) throw notFound('invoice', locator)
  return invoice
}

/** Returns the invoice as responses show it. Throws 404 if the policy has no such invoice. */
export const invoiceResponse = (aggregate: PolicyAggregate, locator: Uuid): PolicyInvoiceResponse =>
  invoiceResponses(aggregate, [invoiceNamed(aggregate, locator)])[0]!

/** Returns the items of an invoice. If there are more than 10,000, items of the same type and name are summed. */
export function invoiceItems(
  aggregate: PolicyAggregate,
  locator: Uuid,
): GetInvoiceFinancialTransactionsResponse {
  const invoice = invoiceNamed(aggregate, locator)
  const billed = billedItemsOf(aggregate)(installmentOf(aggregate, invoice))
  return { financialTransactions: shownItems(aggregate, billed, invoice.createdAt) }
}

/** Returns invoices with their items, and planned ones (brief 3.5). If there are more than 10,000 items in all, sums them. */
export function checkedInvoices(aggregate: PolicyAggregate): CheckInvoicesResponse {
  const billedItems = billedItemsOf(aggregate)
  const invoices = [...aggregate.invoices.values()]
  const billed = invoices.map(invoice => billedItems(installmentOf(aggregate, invoice)))
  const future = futureInstallments(aggregate)
  const planned = future.map(billedItems)
  const itemised = [...billed, ...planned].reduce((count, one) => count + one.length, 0) <= MOST_ITEMISED
  return {
    policyLocator: String(aggregate.policy.locator),
    invoices: invoiceResponses(aggregate, invoices).map((response, at) => ({
      ...response,
      financialTransactions: shownItems(aggregate, billed[at]!, invoices[at]!.createdAt, itemised),
    })),
    futureInvoices: future.map((one, at) => futureInvoice(aggregate, one, planned[at]!, itemised)),
  }
}

/** Returns the invoices that the modification's installments will become. */
export function plannedInvoicesOf(
  aggregate: PolicyAggregate,
  { locator }: Modification,
): FutureInvoiceResponse[] {
  const itemsOf = billedItemsOf(aggregate)
  return futureInstallments(aggregate)
    .filter(one => one.modificationLocator === locator)
    .map(one => futureInvoice(aggregate, one, itemsOf(one)))
}

/** Returns a planned installment with these items as a future invoice. */
export const futureInvoice = (
  aggregate: PolicyAggregate,
  { issueAt, dueAt, start, end, writeOff = false }: PlannedInstallment,
  items: readonly InstallmentItem[],
  itemised?: boolean,
): FutureInvoiceResponse => ({
  issueTimestamp: String(issueAt),
  dueTimestamp: String(dueAt),
  startTimestamp: String(start),
  endTimestamp: String(end),
  writeOff,
  financialTransactions: shownItems(aggregate, items, issueAt, itemised),
})
