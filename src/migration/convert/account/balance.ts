// Whether invoices are what payments and credit make of them: rules 8 and 9 of resources brief 9.3.
import { type Money, minus, negated, plus, toText } from '../../../platform/money.ts'
import type { CreditMove } from '../money-moves.ts'
import { type InvoiceItem, type Invoices, madeAt } from './invoices.ts'
import { livePayments, type Payments } from './payments.ts'
import type { Work } from './work.ts'

/**
 * Holds what is left against the rules; what fails takes along more, until the rest holds. The movements of the account's
 * credit that come of it.
 */
export function balance(work: Work, invoices: Invoices, payments: Payments): CreditMove[] {
  for (;;) {
    tally(work, invoices, payments)
    const moves = checked(work, invoices, payments)
    const isBlocked = work.findings.block()
    if (moves && !isBlocked) return moves
  }
}

/** The credit that is left after these movements. */
export const creditLeft = ({ context, none }: Work, moves: readonly CreditMove[]): Money =>
  moves.reduce((all, { by }) => plus(all, by), context.existing?.credit ?? none)

function tally(work: Work, invoices: Invoices, payments: Payments): void {
  for (const item of invoices.values()) item.paid = work.none
  for (const { byInvoice } of livePayments(work, payments))
    for (const [invoice, amount] of byInvoice) {
      const item = invoices.get(invoice)!
      item.paid = plus(item.paid, amount)
    }
}

type Live = (readonly [string, InvoiceItem])[]

/** Undefined where something is found to fail. Each invoice is looked at by itself first, then at what credit has to cover. */
function checked(work: Work, invoices: Invoices, payments: Payments): CreditMove[] | undefined {
  const { findings } = work
  const live = [...invoices].filter(([id]) => !findings.fails('invoices', id))
  const isHoused = creditHasPlace(work, live, payments)
  if (!isHoused) return undefined
  for (const one of live) checkState(work, one)
  if (live.some(([id]) => findings.fails('invoices', id))) return undefined
  const moves = received(work, payments)
  return coverFromCredit(work, live, moves) ? moves : undefined
}

function creditHasPlace(work: Work, live: Live, payments: Payments): boolean {
  const homeless = livePayments(work, payments).filter(
    ({ byInvoice, credit }) => live.length === 0 && byInvoice.size === 0 && credit.minor > 0,
  )
  for (const { request } of homeless)
    work.findings.wrong(
      'payments',
      request.id,
      'paymentItems without invoiceId must stand in an account with an invoice: credit is kept with its last one.',
    )
  return homeless.length === 0
}

function checkState({ findings }: Work, [id, { request, total, paid }]: Live[number]): void {
  const rest = minus(total, paid)
  const isOver = rest.minor !== 0 && Math.sign(rest.minor) !== Math.sign(total.minor)
  const [asked, got] = [toText(total), toText(paid)]
  if (isOver)
    findings.wrong('invoices', id, `payments of ${got} must not be more than the invoice asks for, ${asked}.`)
  else if (request.invoiceState === 'discarded' && paid.minor !== 0)
    findings.wrong('invoices', id, `invoiceState discarded must have no payments; it has ${got}.`)
  else if (request.invoiceState === 'open' && rest.minor === 0 && total.minor !== 0)
    findings.wrong(
      'invoices',
      id,
      `invoiceState open must have payments of less than its total ${asked}; it is paid.`,
    )
}

/** What payments bring that no invoice asks for. */
const received = (work: Work, payments: Payments): CreditMove[] =>
  livePayments(work, payments)
    .filter(({ credit }) => credit.minor > 0)
    .map(({ request, credit }) => ({ at: request.paymentTime, by: credit }))

/** Adds what settled invoices take from credit, refunds first, which add to it; false where it does not do for one of them. */
function coverFromCredit(work: Work, live: Live, moves: CreditMove[]): boolean {
  let left = creditLeft(work, moves)
  const short = live
    .filter(
      ([, { request, total, paid }]) => request.invoiceState === 'settled' && minus(total, paid).minor !== 0,
    )
    .sort(
      ([, a], [, b]) =>
        (a.total.minor < 0 ? 0 : 1) - (b.total.minor < 0 ? 0 : 1) || madeAt(a.request) - madeAt(b.request),
    )
  for (const [id, { request, total, paid }] of short) {
    const rest = minus(total, paid)
    left = minus(left, rest)
    if (left.minor < 0) {
      work.findings.wrong(
        'invoices',
        id,
        `invoiceState settled must have payments and credit of its total ${toText(total)}; it has payments of ${toText(paid)}, and a credit of ${toText(plus(left, rest))} is left.`,
      )
      return false
    }
    moves.push({ at: madeAt(request), by: negated(rest) })
  }
  return true
}
