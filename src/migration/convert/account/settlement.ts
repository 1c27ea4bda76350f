// Payments, and what settles invoices, as records.
import type { Uuid } from '../../../platform/locators.ts'
import { minus } from '../../../platform/money.ts'
import { receive, receiveCredit, settle } from '../money-moves.ts'
import { type InvoiceItem, type Invoices, madeAt } from './invoices.ts'
import { livePayments, type PaymentItem, type Payments } from './payments.ts'
import type { Work } from './work.ts'

/** The locators of the payments that each payment of the other system became, by its id. */
export type Paid = ReadonlyMap<string, readonly Uuid[]>

export function recordPayments(work: Work, invoices: Invoices, payments: Payments): Paid {
  const live = [...invoices.values()].filter(({ request }) => !work.findings.fails('invoices', request.id))
  const last = live.reduce<InvoiceItem | undefined>(
    (found, one) => (found && madeAt(found.request) > madeAt(one.request) ? found : one),
    undefined,
  )
  const inOrder = livePayments(work, payments).sort((a, b) => a.request.paymentTime - b.request.paymentTime)
  const paid = new Map(inOrder.map(one => [one.request.id, recorded(work, one, invoices, last)] as const))
  for (const one of live) settled(work, one)
  return paid
}

function recorded(
  { context: { accountLocator, supply } }: Work,
  { request: { paymentTime: at }, byInvoice, credit, fieldValues }: PaymentItem,
  invoices: Invoices,
  last: InvoiceItem | undefined,
): Uuid[] {
  const made: Uuid[] = []
  // A payment of more than an invoice asked for, as a live one is; beside a refund or nothing, a payment of its own.
  const overpaid = [...byInvoice].findLast(([, amount]) => amount.minor > 0)?.[0]
  for (const [invoice, amount] of byInvoice) {
    const { parts } = invoices.get(invoice)!
    const terms = { amount, at, fieldValues, source: 'received' as const }
    const more = invoice === overpaid && credit.minor > 0 && { credited: credit }
    made.push(...receive(parts, { ...terms, ...more }, accountLocator, supply))
  }
  if (credit.minor > 0 && overpaid === undefined) {
    const [own] = byInvoice.keys()
    const { parts } = own === undefined ? last! : invoices.get(own)!
    const terms = { amount: credit, at, fieldValues }
    made.push(receiveCredit(parts[0]!, terms, accountLocator, supply))
  }
  return made
}

function settled(
  { context: { accountLocator, supply } }: Work,
  { request, parts, total, paid }: InvoiceItem,
): void {
  const rest = minus(total, paid)
  if (request.invoiceState === 'settled' && rest.minor !== 0)
    receive(
      parts,
      { amount: rest, at: madeAt(request), fieldValues: {}, source: 'credit' },
      accountLocator,
      supply,
    )
  if (request.invoiceState === 'discarded') settle(parts, 'writtenOff')
  else if (request.invoiceState === 'settled' || rest.minor === 0) settle(parts, 'paid')
}
