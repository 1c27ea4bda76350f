// Payments, and what settles invoices, as records.
import type { Uuid } from '../../../../kernel/locators.ts'
import { type Part, receive, receiveCredit, restOf, settle } from '../money-moves.ts'
import type { EarlierPolicies } from './earlier.ts'
import { balanceOf, type InvoiceItem, type Invoices, partsOf } from './invoices.ts'
import { livePayments, type PaymentItem, type Payments } from './payments.ts'
import type { Work } from './work.ts'

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
