import { decideInvoicing, decideNextInvoice } from '../../billing/billing.ts'
import {
  invoiceNamed,
  invoiceResponse,
  type PayOut,
  paymentFieldValues,
  planPayOut,
  planReversal,
} from '../../billing/payments.ts'
import { invalidRequest, Refusal, wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, exactMoney, type Money, toText } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { restDue } from '../../policy/bills/amounts-due.ts'
import type { PaymentCreateRequest } from '../../policy/contract/billing.ts'
import { POLICY_LIMITS } from '../../policy/limits.ts'
import { paymentResponse } from '../../policy/projection/records.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { assertInvoiceAllows, type Invoice, paymentOf } from '../../policy/records/invoice.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { defineKind, type Response, showNothing } from '../mechanism/kind.ts'
import { type PaymentDecision, pay, withSettlement } from './settling.ts'

export type PaymentOperation =
  | { action: 'pay'; invoice: Uuid; request: PaymentCreateRequest }
  | { action: 'reverse'; payment: Uuid }

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    payment: { operation: PaymentOperation }
    /** Creates the earliest planned invoice before its time. */
    nextInvoice: object
    /** From the clock: creates the bills that are due by `until`. Messages of an earlier release lack it and mean now. */
    invoice: { until?: Instant }
  }
}

const showPayment =
  (locator: Uuid): Response =>
  ({ aggregate }) =>
    paymentResponse(aggregate, paymentOf(aggregate, locator))

const showInvoice =
  (locator: Uuid): Response =>
  ({ aggregate }) =>
    invoiceResponse(aggregate, locator)

const payment = defineKind<'payment'>({
  name: 'payment',
  record: ({ operation }) =>
    operation.action === 'pay' ? showInvoice(operation.invoice) : showPayment(operation.payment),
  async decide(loaded, { operation }, { attempt }) {
    const { planned, payment } = await decidePayment(loaded, operation, attempt)
    return { planned, response: showPayment(payment), subject: payment }
  },
})

const nextInvoice = defineKind<'nextInvoice'>({
  name: 'nextInvoice',
  async decide(loaded, _, { attempt }) {
    const { planned, invoice } = await decideNextInvoice(loaded, attempt)
    return { planned, response: showInvoice(invoice), subject: invoice }
  },
})

const invoicing = defineKind<'invoice'>({
  name: 'invoice',
  async decide(loaded, { until }, { attempt }) {
    const planned = await decideInvoicing(loaded, attempt, until)
    return planned && { planned, response: showNothing }
  },
})

export const billingKinds = [payment, nextInvoice, invoicing]

/** Rejects the call but carries a plan to commit: a refund of which nothing may be paid out is written off nevertheless. */
export class RefusedPayOut extends Refusal {
  readonly planned: Planned

  constructor({ code, message }: Refusal, planned: Planned) {
    super(code, message)
    this.planned = planned
  }
}

/** Plans an operation on a payment or an invoice. Throws 404 for an unknown one and 409 if its state does not allow the action. */
export async function decidePayment(
  loaded: Loaded,
  operation: PaymentOperation,
  attempt: Attempt,
): Promise<PaymentDecision> {
  const { aggregate, configuration } = loaded
  const { timeZone, currency } = aggregate.policy
  if (operation.action === 'reverse')
    return { planned: planPaymentReversal(loaded, operation.payment, attempt), payment: operation.payment }
  const { request } = operation
  const invoice = invoiceNamed(aggregate, operation.invoice)
  assertInvoiceAllows(invoice, 'pay')
  assertBelowPaymentLimit(aggregate)
  const amount = amountOf(request, currency)
  const isCredit = request.source === 'credit'
  const source = isCredit ? 'credit' : 'received'
  const fieldValues = isCredit
    ? {}
    : paymentFieldValues(configuration.configuration, request.fieldValues, timeZone, attempt.now)
  const rest = restDue(aggregate, invoice)
  if (rest.minor < 0) return await payOut(loaded, invoice, attempt, { source, amount, fieldValues })
  const paid = isCredit ? creditFor(loaded, rest, amount) : amount
  return await pay(loaded, invoice.locator, attempt, { source, amount: paid, rest, fieldValues })
}

/** Returns the requested amount, or as much of `rest`, the amount due, as the credit covers. Throws 409 if credit is lacking. */
function creditFor({ aggregate, credit }: Loaded, rest: Money, asked: Money | undefined): Money {
  const amount = asked ?? (rest.minor < credit.minor ? rest : credit)
  if (amount.minor <= credit.minor && credit.minor > 0) return amount
  throw wrongState(
    `Policyholder ${aggregate.policy.policyholderLocator} has a credit of ${toText(credit)} ${credit.currency}, which is not enough for this payment.`,
  )
}

/** Pays a refund out or adds it to the credit, up to the limit (`payOutLimit`), with all consequences. */
async function payOut(
  loaded: Loaded,
  invoice: Invoice,
  attempt: Attempt,
  terms: PayOut,
): Promise<PaymentDecision> {
  const context = { now: attempt.now, supply: await attempt.digits(1) }
  const { planned, payment, refusal } = planPayOut(loaded.aggregate, invoice, terms, context)
  const settled = await withSettlement(planned, invoice.locator, loaded, attempt)
  if (refusal) throw new RefusedPayOut(refusal, settled)
  return { planned: settled, payment: payment!.locator }
}

/** Plans the reversal of a payment. A new grace period starts only once the invoice is past due again. */
function planPaymentReversal({ aggregate }: Loaded, locator: Uuid, { now }: Attempt): Planned {
  const payment = paymentOf(aggregate, locator)
  if (payment.source === 'offset')
    throw wrongState(
      `Payment ${payment.displayId} is an offset with invoice ${payment.offsetInvoiceLocator}. It can be reversed only together with the change that caused it.`,
    )
  return planReversal(aggregate, payment, now)
}

function amountOf({ amount }: PaymentCreateRequest, currency: CurrencyCode): Money | undefined {
  if (amount === undefined) return undefined
  const exact = exactMoney(amount, currency)
  if (exact) return exact
  throw invalidRequest(`amount ${amount} has more decimal places than ${currency} permits.`)
}

function assertBelowPaymentLimit({ payments, policy }: PolicyAggregate): void {
  if (payments.size >= POLICY_LIMITS.payments)
    throw new Refusal(
      'policyLimit',
      `Policy ${policy.locator} already has ${POLICY_LIMITS.payments} payments, which is the maximum for a policy.`,
    )
}
