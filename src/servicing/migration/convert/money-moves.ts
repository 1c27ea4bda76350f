// Invoices and the money on them: what was paid of each, what is left as credit, and what was paid out of it (rules 8 to
// 10 of resources brief 9.3).
//
// An invoice of the other system may bill several policies. Here each of them has its part of it as an invoice of its own,
// and a payment of it is one of each part. Money that no invoice asked for is credit, and stands with the account's
// last invoice, since credit is what payments say. A settled invoice that payments do not cover is covered from it, and a
// settled refund that nobody paid out went to it.
import type { DisplayId, LocatorSupply, Uuid } from '../../../kernel/locators.ts'
import { type CurrencyCode, type Money, minus, plus, sum, zero } from '../../../kernel/money.ts'
import { type Instant, later } from '../../../kernel/time.ts'
import {
  applied,
  type Invoice,
  type InvoiceSettlement,
  invoiceStatus,
  type Payment,
  paymentState,
} from '../../../policy/records/invoice.ts'
import type { FieldValues } from '../../../product/fields/values.ts'
import type { Making } from './transaction/carrying.ts'

/** What a payment changes of a policy. */
export type Payable = Pick<Making, 'invoices' | 'payments'>

/** The part of an invoice that a policy has. */
export type Part = {
  readonly making: Payable
  readonly invoice: Uuid
  /** What it asks for; nothing until all invoices of the account are made. */
  readonly due: Money
}

/** What the parts ask for in all. */
export const totalOf = (parts: readonly Part[], currency: CurrencyCode): Money =>
  sum(
    parts.map(part => part.due),
    currency,
  )

const invoiceOf = ({ making, invoice }: Part): Invoice => making.invoices.get(invoice)!

export type Received = {
  readonly amount: Money
  readonly at: Instant
  readonly fieldValues: FieldValues
  readonly source: Payment['source']
  /** What of it the invoice did not ask for, beside the amount; nothing unless said. */
  readonly credited?: Money
}

const standingOf = ({ making, invoice }: Part): Payment[] =>
  [...making.payments.values()].filter(
    one => one.invoiceLocator === invoice && paymentState(one) === 'posted',
  )

/** What the part asks for beyond what is paid of it. */
export const restOf = (part: Part): Money =>
  minus(part.due, sum(standingOf(part).map(applied), part.due.currency))

/** What of the amount is for which part. Paid in full, each gets what it asks for; else one after the other does. */
function spread(parts: readonly Part[], amount: Money, currency: CurrencyCode): Money[] {
  const rests = parts.map(restOf)
  if (sum(rests, currency).minor === amount.minor) return rests
  let left = amount
  return rests.map((rest, at) => {
    const isSame = Math.sign(rest.minor) === Math.sign(left.minor)
    const share =
      isSame && Math.abs(rest.minor) < Math.abs(left.minor) ? rest : isSame ? left : zero(currency)
    const own = at === rests.length - 1 ? left : share
    left = minus(left, own)
    return own
  })
}

/** Pays the parts; credit stands with the last payment. Takes a digit for each; the locators of the payments that were made. */
export function receive(
  parts: readonly Part[],
  received: Received,
  policyholderLocator: Uuid,
  supply: LocatorSupply,
): Uuid[] {
  const { amount, at, fieldValues, source, credited = zero(amount.currency) } = received
  const shares = spread(parts, amount, amount.currency)
  const last = shares.findLastIndex(share => share.minor !== 0)
  return parts.flatMap((part, index) => {
    const share = shares[index]!
    if (share.minor === 0) return []
    const own = index === last ? credited : zero(amount.currency)
    const payment: Payment = {
      locator: supply.uuid(),
      displayId: supply.digits() as DisplayId,
      policyholderLocator,
      invoiceLocator: part.invoice,
      source,
      amount: plus(share, own),
      credited: own,
      fieldValues,
      postedAt: at,
    }
    part.making.payments.set(payment.locator, payment)
    return [payment.locator]
  })
}

/** Money that no invoice asked for, with an invoice that it did not pay. Takes a digit. */
export function receiveCredit(
  { making, invoice }: Part,
  { amount, at, fieldValues }: Omit<Received, 'source'>,
  policyholderLocator: Uuid,
  supply: LocatorSupply,
): Uuid {
  const payment: Payment = {
    locator: supply.uuid(),
    displayId: supply.digits() as DisplayId,
    policyholderLocator,
    invoiceLocator: invoice,
    source: 'received',
    amount,
    credited: amount,
    fieldValues,
    postedAt: at,
  }
  making.payments.set(payment.locator, payment)
  return payment.locator
}

/** Settles each part: paid when its last payment came, due for nothing, or given up. */
export function settle(parts: readonly Part[], how: Extract<InvoiceSettlement, 'paid' | 'writtenOff'>): void {
  for (const part of parts) {
    const invoice = invoiceOf(part)
    const isNothing = part.due.minor === 0
    const at = standingOf(part).reduce((last, one) => later(last, one.postedAt), invoice.statuses.at(-1)!.at)
    const status = isNothing ? 'zeroDue' : how
    if (invoiceStatus(invoice) === status) continue
    part.making.invoices.set(part.invoice, {
      ...invoice,
      updatedAt: at,
      statuses: [...invoice.statuses, { at, status }],
    })
  }
}

/** A movement of an account's credit at a time. */
export type CreditMove = { readonly at: Instant; readonly by: Money }
