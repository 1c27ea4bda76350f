// What paying an invoice and reversing a payment decide: pure plans over what was loaded.

import { digitsForSettlement, planWhatPaymentSettles } from '../../lapses/settlement.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Uuid } from '../../platform/locators.ts'
import { type CurrencyCode, exactMoney, type Money, toText } from '../../platform/money.ts'
import { POLICY_LIMITS, type PolicyAggregate } from '../../policies/aggregate.ts'
import type { Attempt } from '../../policies/attempt.ts'
import { chain, type Planned } from '../../policies/planned.ts'
import type { Loaded } from '../../policies/surroundings.ts'
import type { PaymentCreateRequest } from '../contract.ts'
import { assertInvoiceAllows, type Invoice } from '../invoice.ts'
import { invoiceNamed } from '../projection.ts'
import { paymentFieldValues } from './field-values.ts'
import { paymentNamed, restDue } from './payment.ts'
import { type PaymentTerms, planPayment, planReversal } from './plans.ts'

export type PaymentOperation =
  | { action: 'pay'; invoice: Uuid; request: PaymentCreateRequest }
  | { action: 'reverse'; payment: Uuid }

/** What came of it, and which payment the answer shows. */
export type PaymentDecision = { planned: Planned; payment: Uuid }

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
  if (request.source === 'credit') {
    const terms = { source: request.source, amount: creditFor(loaded, invoice, amount), fieldValues: {} }
    return await pay(loaded, invoice.locator, attempt, terms)
  }
  const fieldValues = paymentFieldValues(
    configuration.configuration,
    request.fieldValues,
    timeZone,
    attempt.now,
  )
  return await pay(loaded, invoice.locator, attempt, { source: 'received', amount, fieldValues })
}

/**
 * What the credit pays of the invoice: what was asked, else as much as the invoice asks for and there is. 409 where
 * there is not so much. Of a refund it pays nothing: the refund is added to it.
 */
function creditFor({ aggregate, credit }: Loaded, invoice: Invoice, asked: Money | undefined): Money {
  const rest = restDue(aggregate, invoice)
  const amount = asked ?? (rest.minor < credit.minor ? rest : credit)
  if (rest.minor < 0 || (amount.minor <= credit.minor && credit.minor > 0)) return amount
  throw new Refusal(
    'wrongState',
    `Policyholder ${aggregate.policy.policyholderLocator} has a credit of ${toText(credit)} ${credit.currency}, which does not pay for this.`,
  )
}

/** Pays the invoice, from outside or from credit, and does what follows from its being paid. */
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

/** Takes the payment back. A grace period that follows begins when the invoice is past due again (lapses/settlement.ts). */
const reversed = ({ aggregate }: Loaded, payment: Uuid, { now }: Attempt): Planned =>
  planReversal(aggregate, paymentNamed(aggregate, payment), now)

function amountOf({ amount }: PaymentCreateRequest, currency: CurrencyCode): Money | undefined {
  if (amount === undefined) return undefined
  const exact = exactMoney(amount, currency)
  if (exact) return exact
  throw new Refusal('invalidRequest', `amount ${amount} has more decimal places than ${currency} has.`)
}

function assertRoom({ payments, policy }: PolicyAggregate): void {
  if (payments.size >= POLICY_LIMITS.payments)
    throw new Refusal(
      'policyLimit',
      `Policy ${policy.locator} has ${POLICY_LIMITS.payments} payments, the most that a policy can have.`,
    )
}
