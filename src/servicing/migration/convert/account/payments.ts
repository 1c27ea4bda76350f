// The payments of an account: what of each is for which invoice, and what no invoice asks for.
import { paymentFieldValues } from '../../../../billing/payments.ts'
import { Refusal } from '../../../../kernel/errors.ts'
import type { Uuid } from '../../../../kernel/locators.ts'
import { type Money, plus } from '../../../../kernel/money.ts'
import type { PaymentMigrationRequest } from '../../contract-request.ts'
import { readAmount } from '../charges.ts'
import { type Part, receive, receiveCredit, restOf, settle, type Work } from '../converted.ts'
import {
  assertCurrency,
  balanceOf,
  type EarlierPolicies,
  type InvoiceItem,
  type Invoices,
  partsOf,
} from './invoices.ts'

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

// Payments, and what settles invoices, as records.
/** The locators of the payments that each payment of the other system became, by its id. */
export type Paid = ReadonlyMap<string, readonly Uuid[]>

export function recordPayments(
  work: Work,
  invoices: Invoices,
  payments: Payments,
  policies: EarlierPolicies,
): Paid {
  const live = [...invoices.values()].filter(({ id }) => !work.findings.fails('invoices', id))
  const last = live.reduce<InvoiceItem | undefined>(
    (found, one) => (found && found.times.createdAt > one.times.createdAt ? found : one),
    undefined,
  )
  const { existing } = work.context
  const home = (): Part => (last ? homeOf(last) : policies.partOf(existing!.lastInvoice!))
  const inOrder = livePayments(work, payments).sort((a, b) => a.request.paymentTime - b.request.paymentTime)
  const paid = new Map(inOrder.map(one => [one.request.id, recorded(work, one, invoices, home)] as const))
  for (const one of live) settled(work, one)
  return paid
}

/** The part of the invoice with which credit stands. */
const homeOf = ({ earlier, added }: InvoiceItem): Part => earlier?.home ?? added[0]!

function recorded(
  { context: { accountLocator, supply } }: Work,
  { request: { paymentTime: at }, byInvoice, credit, fieldValues }: PaymentItem,
  invoices: Invoices,
  home: () => Part,
): Uuid[] {
  const made: Uuid[] = []
  // A payment of more than an invoice asked for, as a live one is; beside a refund or nothing, a payment of its own.
  const overpaid = [...byInvoice].findLast(([, amount]) => amount.minor > 0)?.[0]
  for (const [invoice, amount] of byInvoice) {
    const terms = { amount, at, fieldValues, source: 'received' as const }
    const more = invoice === overpaid && credit.minor > 0 && { credited: credit }
    made.push(...receive(partsOf(invoices.get(invoice)!), { ...terms, ...more }, accountLocator, supply))
  }
  if (credit.minor > 0 && overpaid === undefined) {
    const [own] = byInvoice.keys()
    const part = own === undefined ? home() : homeOf(invoices.get(own)!)
    made.push(receiveCredit(part, { amount: credit, at, fieldValues }, accountLocator, supply))
  }
  return made
}

/** Settles the invoice, or the parts of it that ask for nothing any more: nobody's cover is to rest on what is paid. */
function settled({ context: { accountLocator, supply }, none }: Work, item: InvoiceItem): void {
  const { state, times } = item
  const parts = partsOf(item)
  if (state === 'discarded') {
    settle(parts, 'writtenOff')
    return
  }
  const { rest } = balanceOf(item, none)
  const isCovered = state === 'settled' || rest.minor === 0
  const owing = new Set(parts.filter(part => restOf(part).minor !== 0))
  const credited = { amount: rest, at: times.createdAt, fieldValues: {}, source: 'credit' as const }
  // Where refunds of some parts pay for others, that goes by credit too.
  if (isCovered && owing.size > 0) receive(parts, credited, accountLocator, supply)
  settle(isCovered ? parts : parts.filter(part => !owing.has(part)), 'paid')
}
