// Decides payments and their reversal: pure plans over the loaded policy.
import {
  invoiceNamed,
  type PaymentTerms,
  type PayOut,
  paymentFieldValues,
  planPayment,
  planPayOut,
  planReversal,
} from '../../billing/payments.ts'
import { invalidRequest, Refusal, wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, exactMoney, type Money, toText } from '../../kernel/money.ts'
import { restDue } from '../../policy/bills/amounts-due.ts'
import type { PaymentCreateRequest } from '../../policy/contract/billing.ts'
import { POLICY_LIMITS, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import { assertInvoiceAllows, type Invoice, paymentOf } from '../../policy/records/invoice.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { digitsForSettlement, planWhatPaymentSettles } from './settling.ts'

export type PaymentOperation =
  | { action: 'pay'; invoice: Uuid; request: PaymentCreateRequest }
  | { action: 'reverse'; payment: Uuid }

/** The result, and the payment that the answer shows. */
export type PaymentDecision = { planned: Planned; payment: Uuid }

/** The call is refused, but its plan is carried out: a refund of which nothing may be paid out is written off. */
export class RefusedPayOut extends Refusal {
  readonly planned: Planned

  constructor({ code, message }: Refusal, planned: Planned) {
    super(code, message)
    this.planned = planned
  }
}

export async function decidePayment(
  loaded: Loaded,
  operation: PaymentOperation,
  attempt: Attempt,
): Promise<PaymentDecision> {
  const { aggregate, configuration } = loaded
  const { timeZone, currency } = aggregate.policy
  if (operation.action === 'reverse')
    return { planned: reversed(loaded, operation.payment, attempt), payment: operation.payment }
  const { request } = operation
  const invoice = invoiceNamed(aggregate, operation.invoice)
  assertInvoiceAllows(invoice, 'pay')
  assertRoom(aggregate)
  const amount = amountOf(request, currency)
  const isCredit = request.source === 'credit'
  const fieldValues = isCredit
    ? {}
    : paymentFieldValues(configuration.configuration, request.fieldValues, timeZone, attempt.now)
  if (restDue(aggregate, invoice).minor < 0)
    return await payOut(loaded, invoice, attempt, {
      source: isCredit ? 'credit' : 'received',
      amount,
      fieldValues,
    })
  if (isCredit) {
    const terms = { source: 'credit' as const, amount: creditFor(loaded, invoice, amount), fieldValues }
    return await pay(loaded, invoice.locator, attempt, terms)
  }
  return await pay(loaded, invoice.locator, attempt, { source: 'received', amount, fieldValues })
}

/**
 * The part of the invoice that credit pays: the requested amount, otherwise as much as is asked for and available; else 409.
 */
function creditFor({ aggregate, credit }: Loaded, invoice: Invoice, asked: Money | undefined): Money {
  const rest = restDue(aggregate, invoice)
  const amount = asked ?? (rest.minor < credit.minor ? rest : credit)
  if (amount.minor <= credit.minor && credit.minor > 0) return amount
  throw wrongState(
    `Policyholder ${aggregate.policy.policyholderLocator} has a credit of ${toText(credit)} ${credit.currency}, which does not pay for this.`,
  )
}

/** Pays the invoice, from outside or from credit, with everything that follows. */
export async function pay(
  { aggregate, product }: Loaded,
  invoice: Uuid,
  { now, digits }: Attempt,
  terms: PaymentTerms,
): Promise<PaymentDecision> {
  const context = { now, supply: await digits(1) }
  const { payment, ...planned } = planPayment(aggregate, invoiceNamed(aggregate, invoice), terms, context)
  const after = invoiceNamed(planned.aggregate, invoice)
  const supply = await digits(digitsForSettlement(planned.aggregate, after, now))
  const settled = planWhatPaymentSettles(planned.aggregate, after, { product, now, supply })
  return { planned: chain(planned, settled), payment: payment.locator }
}

/** Pays a refund out or credits it, as far as it may be paid out, with everything that follows. */
async function payOut(
  { aggregate, product }: Loaded,
  invoice: Invoice,
  { now, digits }: Attempt,
  terms: PayOut,
): Promise<PaymentDecision> {
  const { planned, payment, refusal } = planPayOut(aggregate, invoice, terms, {
    now,
    supply: await digits(1),
  })
  const after = invoiceNamed(planned.aggregate, invoice.locator)
  const supply = await digits(digitsForSettlement(planned.aggregate, after, now))
  const settled = planWhatPaymentSettles(planned.aggregate, after, { product, now, supply })
  const all = chain(planned, settled)
  if (refusal) throw new RefusedPayOut(refusal, all)
  return { planned: all, payment: payment!.locator }
}

/** Takes the payment back. A grace period that follows begins when the invoice is past due again (transactions/payments/settling.ts). */
function reversed({ aggregate }: Loaded, locator: Uuid, { now }: Attempt): Planned {
  const payment = paymentOf(aggregate, locator)
  if (payment.source === 'offset')
    throw wrongState(
      `Payment ${payment.displayId} is an offset with invoice ${payment.offsetInvoiceLocator}: it is reversed only with what caused it.`,
    )
  return planReversal(aggregate, payment, now)
}

function amountOf({ amount }: PaymentCreateRequest, currency: CurrencyCode): Money | undefined {
  if (amount === undefined) return undefined
  const exact = exactMoney(amount, currency)
  if (exact) return exact
  throw invalidRequest(`amount ${amount} has more decimal places than ${currency} has.`)
}

function assertRoom({ payments, policy }: PolicyAggregate): void {
  if (payments.size >= POLICY_LIMITS.payments)
    throw new Refusal(
      'policyLimit',
      `Policy ${policy.locator} has ${POLICY_LIMITS.payments} payments, the most that a policy can have.`,
    )
}
