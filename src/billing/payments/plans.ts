// Plans for paying an invoice and reversing a payment, with their events (brief 4.4). Pure.
import { invalidRequest, notFound } from '../../kernel/errors.ts'
import { type DisplayId, type LocatorSupply, type Uuid, uuidOfPolicy } from '../../kernel/locators.ts'
import { type Money, minus, toText, zero } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { futureInstallments, installmentOf, restDue, totalsDueOf } from '../../policy/bills/amounts-due.ts'
import type { InstallmentItem } from '../../policy/bills/items.ts'
import type {
  CheckInvoicesResponse,
  FutureInvoiceResponse,
  GetInvoiceFinancialTransactionsResponse,
  PolicyInvoiceResponse,
} from '../../policy/contract/billing.ts'
import { billedItemsOf, MOST_ITEMISED, shownItems } from '../../policy/projection/billed-items.ts'
import { invoiceResponses } from '../../policy/projection/records.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import {
  assertPaymentAllows,
  counterpartOf,
  type Invoice,
  invalidated,
  invoiceStatus,
  type Payment,
  type PaymentSource,
  type PlannedInstallment,
  paid,
  reopened,
  standingPayments,
  writtenOff,
} from '../../policy/records/invoice.ts'
import { chain, invoiceEvent, type Planned, policyEvent } from '../../policy/transitions.ts'
import type { FieldValues } from '../../product/fields/values.ts'

export type PaymentTerms = {
  readonly source: PaymentSource
  /** By default everything that the invoice still asks for. */
  readonly amount?: Money
  readonly fieldValues: FieldValues
  readonly offsetInvoiceLocator?: Uuid
}

/**
 * Pays an invoice. Less than it asks for leaves it outstanding with the payment; what is beyond it is the
 * policyholder's credit; from credit no more is taken than is asked for. A refund is paid by negative amounts, and never
 * beyond what is owed. Takes one digit.
 */
export function planPayment(
  before: PolicyAggregate,
  invoice: Invoice,
  { source, amount: asked, fieldValues, offsetInvoiceLocator }: PaymentTerms,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Planned & { payment: Payment } {
  const rest = restDue(before, invoice)
  const amount = asked ?? rest
  const after = paid(invoice, Math.abs(amount.minor) >= Math.abs(rest.minor), now)
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
  const aggregate: PolicyAggregate = {
    ...before,
    invoices: putRecords(before.invoices, [after]),
    payments: putRecords(before.payments, [payment]),
  }
  return { aggregate, payment, events: [paymentEvent(aggregate, 'payment.pay', payment)] }
}

/**
 * Takes a payment back: its invoice asks for the amount again, unless it was given up (brief 4.4). An offset is taken back
 * on both invoices.
 */
export function planReversal(before: PolicyAggregate, payment: Payment, now: Instant): Planned {
  const counterpart = payment.source === 'offset' ? counterpartOf(before, payment) : undefined
  const reversed = planOneReversal(before, payment, now)
  return counterpart ? chain(reversed, planOneReversal(reversed.aggregate, counterpart, now)) : reversed
}

/** A refund that was written off beyond what was paid out becomes open again as a whole. */
function planOneReversal(before: PolicyAggregate, payment: Payment, now: Instant): Planned {
  assertPaymentAllows(payment, 'reverse')
  const invoice = before.invoices.get(payment.invoiceLocator)!
  const isWrittenOff = invoiceStatus(invoice) === 'writtenOff' && payment.amount.minor > 0
  const reversed: Payment = { ...payment, reversedAt: now }
  const aggregate: PolicyAggregate = {
    ...before,
    invoices: putRecords(before.invoices, [
      isWrittenOff ? { ...invoice, updatedAt: now } : reopened(invoice, now, before.policy.timeZone),
    ]),
    payments: putRecords(before.payments, [reversed]),
  }
  return { aggregate, events: [paymentEvent(aggregate, 'payment.reverse', reversed)] }
}

const paymentEvent = (
  aggregate: PolicyAggregate,
  type: 'payment.pay' | 'payment.reverse',
  { locator, invoiceLocator, amount, source }: Payment,
): NewEvent =>
  policyEvent(aggregate, type, {
    paymentLocator: locator,
    invoiceLocator,
    amount: toText(amount),
    currency: amount.currency,
    source,
  })

/** An amount pays what is asked for; refunds and payments from credit never go beyond it. */
export function assertFits(amount: Money, rest: Money, source: PaymentSource): void {
  if (amount.minor === 0 || Math.sign(amount.minor) !== Math.sign(rest.minor))
    throw invalidRequest(
      `amount ${toText(amount)} must be ${rest.minor > 0 ? 'above' : 'below'} zero: the invoice asks for ${toText(rest)} ${rest.currency}.`,
    )
  if (rest.minor > 0 && source === 'received') return
  if (Math.abs(amount.minor) > Math.abs(rest.minor))
    throw invalidRequest(
      `amount ${toText(amount)} is more than the ${toText(rest)} ${rest.currency} that the invoice ${rest.minor > 0 ? 'asks for, and credit pays no more' : 'gives back'}.`,
    )
}

/**
 * The open parts of the invoices are written off; what was paid stays paid and does not become credit (brief 4.5).
 */
export function planWriteOff(before: PolicyAggregate, invoices: readonly Invoice[], now: Instant): Planned {
  const totalDueOf = totalsDueOf(before)
  const lost = invoices.map(invoice => writtenOff(invoice, now))
  const aggregate = { ...before, invoices: putRecords(before.invoices, lost) }
  return {
    aggregate,
    events: lost.map(invoice => invoiceEvent(aggregate, 'invoice.writtenOff', invoice, totalDueOf(invoice))),
  }
}

/**
 * The invoices of a transaction that comes to nothing are void; what was paid of them is reversed first (brief 1.3,
 * 1.4). Those that were settled without money, or are void already, stay as they are. These reversals reopen nothing
 * beside the invoice, which is not outstanding in between.
 */
export function planVoidInvoices(
  before: PolicyAggregate,
  invoices: readonly Invoice[],
  now: Instant,
): Planned {
  const totalDueOf = totalsDueOf(before)
  return invoices
    .filter(invoice => ['unfulfilled', 'paid'].includes(invoiceStatus(invoice)))
    .reduce<Planned>(
      (planned, invoice) => {
        const unpaid = withoutPayments(planned.aggregate, invoice, now)
        const gone = invalidated(unpaid.aggregate.invoices.get(invoice.locator)!, now)
        const aggregate = { ...unpaid.aggregate, invoices: putRecords(unpaid.aggregate.invoices, [gone]) }
        const event = invoiceEvent(aggregate, 'invoice.invalidate', gone, totalDueOf(gone))
        return chain(planned, unpaid, { aggregate, events: [event] })
      },
      { aggregate: before, events: [] },
    )
}

const withoutPayments = (before: PolicyAggregate, invoice: Invoice, now: Instant): Planned =>
  standingPayments(before, invoice).reduce<Planned>(
    (planned, payment) => chain(planned, planReversal(planned.aggregate, payment, now)),
    { aggregate: before, events: [] },
  )

// Shows what is billed and planned for a policy.
/** The invoice of that locator; 404 when the policy has none such. */
export function invoiceNamed({ invoices }: PolicyAggregate, locator: Uuid): Invoice {
  const invoice = invoices.get(locator)
  if (!invoice) throw notFound('invoice', locator)
  return invoice
}

export const invoiceResponse = (aggregate: PolicyAggregate, locator: Uuid): PolicyInvoiceResponse =>
  invoiceResponses(aggregate, [invoiceNamed(aggregate, locator)])[0]!

/** The items of an invoice, posted when it was made; above 10,000 those of the same type and name are one. */
export function invoiceItems(
  aggregate: PolicyAggregate,
  locator: Uuid,
): GetInvoiceFinancialTransactionsResponse {
  const invoice = invoiceNamed(aggregate, locator)
  const billed = billedItemsOf(aggregate)(installmentOf(aggregate, invoice))
  return { financialTransactions: shownItems(aggregate, billed, invoice.createdAt) }
}

/** Every invoice with its items, and what is planned (brief 3.5). Above 10,000 items in all they are summed. */
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

/** The open installments of the modification's own plan. */
export function plannedBy(aggregate: PolicyAggregate, { locator }: Modification): FutureInvoiceResponse[] {
  const itemsOf = billedItemsOf(aggregate)
  return futureInstallments(aggregate)
    .filter(one => one.modificationLocator === locator)
    .map(one => futureInvoice(aggregate, one, itemsOf(one)))
}

const futureInvoice = (
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
