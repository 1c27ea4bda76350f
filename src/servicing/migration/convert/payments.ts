// Payments of an account (rule 9 of resources brief 9.3). A payment of an invoice of several policies becomes one payment for each
// policy. Money beyond the amounts due is credit, held by the account's last invoice. Credit covers the part of settled invoices
// that payments do not, and receives settled refunds that nobody paid out.

import { paymentFieldValues } from '../../../billing/payments.ts'
import { Refusal } from '../../../kernel/errors.ts'
import { type DisplayId, type Uuid, uuidOfPolicy } from '../../../kernel/locators.ts'
import { type Money, minus, plus, sum } from '../../../kernel/money.ts'
import { type Instant, later } from '../../../kernel/time.ts'
import type { SettlementType } from '../../../policy/contract/billing.ts'
import { type Invoice, invoiceStatus, type Payment, paymentState } from '../../../policy/records/invoice.ts'
import type { FieldValues } from '../../../product/fields/values.ts'
import type { PaymentMigrationRequest } from '../contract-request.ts'
import {
  checkCurrency,
  type InvoiceItem,
  liveInvoices,
  livePayments,
  type Part,
  type PaymentItem,
  type Work,
} from './converted.ts'
import { readAmount } from './elements.ts'
import { balanceOf, earlierPart, partsOf, restOf } from './invoices.ts'

/** Reads payments into `work.payments`. Call it after `readInvoices`. Adds what is wrong to the findings. */
export function readPayments(work: Work): void {
  const { request, context, findings, warnings } = work
  for (const payment of findings.withoutRepeatedIds('payments', request.payments)) {
    const { id, paymentItems, source } = payment
    checkCurrency(work, 'payments', id, payment.currency)
    if (payment.paymentTime > context.now) warnings.add('payment', id, 'paymentTime is in the future.')
    if (paymentItems.length === 0) findings.wrong('payments', id, 'paymentItems must have at least one item.')
    const { byInvoice, credit } = readItems(work, payment)
    const isNothing = credit.minor === 0 && [...byInvoice.values()].every(amount => amount.minor === 0)
    if (isNothing && !findings.fails('payments', id))
      findings.wrong('payments', id, 'paymentItems must not total zero.')
    if (source === 'credit' && credit.minor !== 0)
      findings.wrong(
        'payments',
        id,
        'paymentItems must have invoiceId, because a payment from credit pays invoices.',
      )
    // A payment from credit has no field values.
    const fieldValues = source === 'credit' ? {} : readFields(work, payment)
    work.payments.set(id, { request: payment, byInvoice, credit, fieldValues })
  }
}

/** Reads the amount that the payment pays of each invoice, and the part that is credit. */
function readItems(
  { findings, invoices, none }: Work,
  { id, paymentItems }: PaymentMigrationRequest,
): Pick<PaymentItem, 'byInvoice' | 'credit'> {
  const byInvoice = new Map<string, Money>()
  let credit = none
  for (const [at, { amount: text, invoiceId }] of paymentItems.entries()) {
    const wrong = (rule: string): void => findings.wrong('payments', id, `paymentItems[${at}].${rule}`)
    const amount = readAmount(text, none.currency)
    if (typeof amount === 'string') wrong(`amount ${amount}`)
    else if (invoiceId === undefined) {
      if (amount.minor < 0) wrong('amount must not be negative without invoiceId, because it becomes credit.')
      credit = plus(credit, amount)
    } else if (!invoices.has(invoiceId))
      wrong(
        `invoiceId '${invoiceId}' must be the id of an invoice of the request, or of one that was migrated for the account before.`,
      )
    else {
      byInvoice.set(invoiceId, plus(byInvoice.get(invoiceId) ?? none, amount))
      findings.links.add({ kind: 'payments', id, invoice: invoiceId })
    }
  }
  return { byInvoice, credit }
}

/** Returns a failing payment that has or may have credit. It blocks the items that its credit would cover. */
export function failedCreditPayment({ findings, payments }: Work): string | undefined {
  const lost = [...payments.values()].find(
    ({ credit, request }) => credit.minor > 0 && findings.fails('payments', request.id),
  )
  return lost?.request.id ?? findings.failedBefore('payments')
}

function readFields(
  { context, findings }: Work,
  { id, data, paymentTime }: PaymentMigrationRequest,
): FieldValues {
  try {
    return paymentFieldValues(context.configuration, data, context.configuration.timeZone, paymentTime)
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    findings.wrong('payments', id, problem.message)
    return {}
  }
}

/** Bindery's payments for each payment of the other system, by its id. */
export type Paid = ReadonlyMap<string, readonly Uuid[]>

/**
 * Adds the payments to the policies in the order of `paymentTime`, then settles the invoices. Call it once `balanceCredit` has
 * passed.
 */
export function recordPayments(work: Work): Paid {
  const invoices = liveInvoices(work)
  const last = invoices.reduce<InvoiceItem | undefined>(
    (found, one) => (found && found.times.createdAt > one.times.createdAt ? found : one),
    undefined,
  )
  const creditPart = (): Part =>
    last ? creditPartOf(last) : earlierPart(work, work.context.existing!.lastInvoice!)
  const inOrder = livePayments(work).sort((a, b) => a.request.paymentTime - b.request.paymentTime)
  const paid = new Map(inOrder.map(one => [one.request.id, recordPayment(work, one, creditPart)] as const))
  for (const one of invoices) settleInvoice(work, one)
  return paid
}

/** The part that holds credit. */
const creditPartOf = ({ earlier, added }: InvoiceItem): Part => earlier?.home ?? added[0]!

function recordPayment(
  work: Work,
  { request: { paymentTime: at, source = 'received' }, byInvoice, credit, fieldValues }: PaymentItem,
  creditPart: () => Part,
): Uuid[] {
  const terms = { at, fieldValues, source }
  const made: Uuid[] = []
  // Credit goes to a payment that overpays an invoice, as with a live payment. Next to refunds it is a separate payment.
  const overpaid = [...byInvoice].findLast(([, amount]) => amount.minor > 0)?.[0]
  for (const [id, amount] of byInvoice) {
    const credited = id === overpaid ? credit : work.none
    made.push(...makePayments(work, partsOf(work.invoices.get(id)!), { ...terms, amount, credited }))
  }
  if (credit.minor > 0 && overpaid === undefined) {
    const [own] = byInvoice.keys()
    const part = own === undefined ? creditPart() : creditPartOf(work.invoices.get(own)!)
    made.push(addPayment(work, part, { ...terms, amount: credit, credited: credit }))
  }
  return made
}

/** Settles the invoice, or only its paid parts, so that no cover depends on a paid part. */
function settleInvoice(work: Work, item: InvoiceItem): void {
  const { state, times } = item
  const parts = partsOf(item)
  if (state === 'discarded') {
    settleParts(parts, 'writtenOff')
    return
  }
  const { rest } = balanceOf(item, work.none)
  const isCovered = state === 'settled' || rest.minor === 0
  const owing = new Set(parts.filter(part => restOf(part).minor !== 0))
  const terms = { amount: rest, credited: work.none, at: times.createdAt, fieldValues: {} }
  // Refunds of some parts that pay for others also go through credit.
  if (isCovered && owing.size > 0) makePayments(work, parts, { ...terms, source: 'credit' })
  settleParts(isCovered ? parts : parts.filter(part => !owing.has(part)), 'paid')
  if (!isCovered && item.isRestGivenUp) settleParts([...owing], 'writtenOff')
}

type Received = Pick<Payment, 'fieldValues' | 'source'> & {
  readonly amount: Money
  readonly at: Instant
  /** Overpaid beyond `amount`. */
  readonly credited: Money
}

/** Pays the parts; the last payment holds the credit. Takes a digit locator for each. Returns the locators of the payments. */
function makePayments(work: Work, parts: readonly Part[], received: Received): Uuid[] {
  const shares = sharesOf(parts, received.amount, work.none)
  const last = shares.findLastIndex(share => share.minor !== 0)
  return parts.flatMap((part, index) => {
    const share = shares[index]!
    if (share.minor === 0) return []
    const credited = index === last ? received.credited : work.none
    return [addPayment(work, part, { ...received, amount: plus(share, credited), credited })]
  })
}

/** Splits the amount over the parts: in full if it is their total, otherwise one part after the other. */
function sharesOf(parts: readonly Part[], amount: Money, none: Money): Money[] {
  const rests = parts.map(restOf)
  if (sum(rests, none.currency).minor === amount.minor) return rests
  let left = amount
  return rests.map((rest, at) => {
    const own = at === rests.length - 1 ? left : shareOf(rest, left, none)
    left = minus(left, own)
    return own
  })
}

/** Returns how much of the remaining money goes to a part. */
function shareOf(rest: Money, left: Money, none: Money): Money {
  if (Math.sign(rest.minor) !== Math.sign(left.minor)) return none
  return Math.abs(rest.minor) < Math.abs(left.minor) ? rest : left
}

function addPayment(
  { context: { accountLocator: policyholderLocator, supply } }: Work,
  { making, invoice: invoiceLocator }: Part,
  { at, ...terms }: Received,
): Uuid {
  const invoice = making.invoices.get(invoiceLocator)!
  const locator = uuidOfPolicy(invoice.policyLocator)
  const displayId = supply.digits() as DisplayId
  const ids = { locator, displayId, policyholderLocator, invoiceLocator }
  making.payments.set(locator, { ...ids, ...terms, postedAt: at })
  making.invoices.set(invoiceLocator, { ...invoice, updatedAt: later(invoice.updatedAt, at) })
  return locator
}

/** Settles the parts. A paid part is settled at the time of its last payment. */
function settleParts(parts: readonly Part[], outcome: Extract<SettlementType, 'paid' | 'writtenOff'>): void {
  for (const { making, invoice: locator, due } of parts) {
    const invoice: Invoice = making.invoices.get(locator)!
    const status = due.minor === 0 ? 'zeroDue' : outcome
    if (invoiceStatus(invoice) === status) continue
    const payments = [...making.payments.values()].filter(
      payment => payment.invoiceLocator === locator && paymentState(payment) === 'posted',
    )
    const at = payments.reduce((last, one) => later(last, one.postedAt), invoice.statuses.at(-1)!.at)
    making.invoices.set(locator, {
      ...invoice,
      updatedAt: at,
      statuses: [...invoice.statuses, { at, status }],
    })
  }
}
