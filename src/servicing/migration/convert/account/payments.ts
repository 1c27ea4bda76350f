// The payments of an account: what of each is for which invoice, and what no invoice asks for.
import { paymentFieldValues } from '../../../../billing/payments/field-values.ts'
import { Refusal } from '../../../../kernel/errors.ts'
import { type Money, plus } from '../../../../kernel/money.ts'
import type { PaymentMigrationRequest } from '../../contract-request.ts'
import { readAmount } from '../amount.ts'
import { assertCurrency, type Invoices } from './invoices.ts'
import type { Work } from './work.ts'

export type PaymentItem = {
  readonly request: PaymentMigrationRequest
  readonly byInvoice: ReadonlyMap<string, Money>
  readonly credit: Money
  readonly fieldValues: Record<string, string[]>
}

export type Payments = ReadonlyMap<string, PaymentItem>

export function readPayments(work: Work, invoices: Invoices): Payments {
  const { request, context, findings, warnings, none } = work
  const { currency } = context.configuration
  const payments = new Map<string, PaymentItem>()
  for (const payment of findings.singles('payments', request.payments)) {
    const { id, paymentItems } = payment
    assertCurrency(work, 'payments', id, payment.currency)
    if (payment.paymentTime > context.now) warnings.add('payment', id, 'paymentTime lies in the future.')
    if (paymentItems.length === 0) findings.wrong('payments', id, 'paymentItems must have at least one item.')
    const byInvoice = new Map<string, Money>()
    let credit = none
    for (const [at, { amount: text, invoiceId }] of paymentItems.entries()) {
      const amount = readAmount(text, currency)
      const wrong = (rule: string): void => findings.wrong('payments', id, `paymentItems[${at}].${rule}`)
      if (typeof amount === 'string') wrong(`amount ${amount}`)
      else if (invoiceId === undefined) {
        if (amount.minor < 0) wrong('amount must not lie below zero: what no invoice asks for is credit.')
        credit = plus(credit, amount)
      } else if (!invoices.has(invoiceId))
        wrong(
          `invoiceId '${invoiceId}' must be the id of an invoice of the request, or of one that was migrated for the account before.`,
        )
      else {
        byInvoice.set(invoiceId, plus(byInvoice.get(invoiceId) ?? none, amount))
        findings.link('payments', id, invoiceId)
      }
    }
    const isNothing = credit.minor === 0 && [...byInvoice.values()].every(amount => amount.minor === 0)
    if (isNothing && !findings.fails('payments', id))
      findings.wrong('payments', id, 'paymentItems must come to more or less than nothing.')
    payments.set(id, { request: payment, byInvoice, credit, fieldValues: dataOf(work, payment) })
  }
  return payments
}

/** A payment that fails and brings credit, or of which nobody can tell: what that credit would cover is blocked by it. */
export function missingCredit({ findings }: Work, payments: Payments): string | undefined {
  const lost = [...payments.values()].find(
    ({ credit, request }) => credit.minor > 0 && findings.fails('payments', request.id),
  )
  return lost?.request.id ?? findings.failedBefore('payments')
}

/** Payments that do not fail. */
export const livePayments = ({ findings }: Work, payments: Payments): PaymentItem[] =>
  [...payments.values()].filter(({ request }) => !findings.fails('payments', request.id))

function dataOf(
  { context: { configuration }, findings }: Work,
  { id, data, paymentTime }: PaymentMigrationRequest,
): Record<string, string[]> {
  try {
    return paymentFieldValues(configuration, data, configuration.timeZone, paymentTime)
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    findings.wrong('payments', id, problem.message)
    return {}
  }
}
