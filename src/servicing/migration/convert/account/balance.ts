// Whether invoices are what payments and credit make of them: rules 8 and 9 of resources brief 9.3.
import { type Money, minus, negated, plus, toText } from '../../../../kernel/money.ts'
import { POLICY_LIMITS } from '../../../../policy/records/aggregate.ts'
import type { CreditMove } from '../money-moves.ts'
import { balanceOf, type InvoiceItem, type Invoices, partsOf } from './invoices.ts'
import { livePayments, missingCredit, type Payments } from './payments.ts'
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
  const amounts = livePayments(work, payments).flatMap(({ byInvoice }) => [...byInvoice])
  const byInvoice = Map.groupBy(amounts, ([invoice]) => invoice)
  for (const item of invoices.values())
    item.received = (byInvoice.get(item.id) ?? []).map(([, amount]) => amount)
}

/** Undefined where something is found to fail. Each invoice is looked at by itself first, then at what credit has to cover. */
function checked(work: Work, invoices: Invoices, payments: Payments): CreditMove[] | undefined {
  const { findings } = work
  const live = [...invoices.values()].filter(({ id }) => !findings.fails('invoices', id))
  if (!hasCreditPlace(work, live, payments)) return undefined
  for (const item of live) {
    const wrong = wrongWith(item, work.none)
    if (wrong !== undefined) fail(work, item, wrong)
  }
  if (live.some(({ id }) => findings.fails('invoices', id))) return undefined
  const moves = received(work, payments)
  return coverFromCredit(work, live, payments, moves) ? moves : undefined
}

const fail = ({ findings }: Work, { id, earlier }: InvoiceItem, rule: string): void =>
  findings.wrong('invoices', id, earlier ? `invoiceId '${id}' was migrated before: ${rule}` : rule)

function hasCreditPlace(work: Work, live: readonly InvoiceItem[], payments: Payments): boolean {
  if (live.length > 0 || work.context.existing?.lastInvoice) return true
  const homeless = livePayments(work, payments).filter(
    ({ byInvoice, credit }) => byInvoice.size === 0 && credit.minor > 0,
  )
  const failing = work.findings.failing('invoices')
  for (const { request } of homeless)
    work.findings.wrong(
      'payments',
      request.id,
      failing === undefined
        ? 'paymentItems without invoiceId must stand in an account with an invoice: credit is kept with its last one.'
        : `blocked by ${failing}`,
    )
  return homeless.length === 0
}

/** Which rule the invoice breaks; undefined where it holds. */
function wrongWith(item: InvoiceItem, none: Money): string | undefined {
  const { state, earlier, received } = item
  const parts = partsOf(item)
  const { total, paid, rest } = balanceOf(item, none)
  const [asked, got] = [toText(total), toText(paid)]
  const sign = Math.sign(total.minor)
  if (state === 'discarded' && received.some(one => one.minor !== 0))
    return `invoiceState discarded must have no payments; it has ${got}.`
  if (earlier && parts.length === 0 && received.some(one => one.minor !== 0))
    return `what it asked for is settled (${earlier.statuses.join(', ')}), and payments of it must be items without invoiceId.`
  if (rest.minor !== 0 && Math.sign(rest.minor) !== sign)
    return `payments of ${got} must not be more than the invoice asks for, ${asked}; what is beyond it is an item without invoiceId.`
  if (paid.minor !== 0 && Math.sign(paid.minor) !== sign)
    return `payments of ${got} must be of the sign of what the invoice asks for, ${asked}.`
  if (state === 'open' && rest.minor === 0 && total.minor !== 0)
    return `invoiceState open must have payments of less than its total ${asked}; it is paid.`
  const most = Math.max(0, ...(earlier?.open ?? []).map(({ making }) => making.payments.size))
  return most + received.length > POLICY_LIMITS.payments
    ? `its policy has ${most} payments and gets ${received.length}; a policy may have ${POLICY_LIMITS.payments}.`
    : undefined
}

/** What payments bring that no invoice asks for. */
const received = (work: Work, payments: Payments): CreditMove[] =>
  livePayments(work, payments)
    .filter(({ credit }) => credit.minor > 0)
    .map(({ request, credit }) => ({ at: request.paymentTime, by: credit }))

type Short = { readonly item: InvoiceItem; readonly total: Money; readonly paid: Money; readonly rest: Money }

/**
 * Adds what settled invoices take from credit, refunds first, which add to it; false where it does not do for one of them. What
 * fails with such an invoice neither takes credit nor brings any, so that ones before it may fall short then: these are looked at
 * again, and all that fall short are found in one round.
 */
function coverFromCredit(
  work: Work,
  live: readonly InvoiceItem[],
  payments: Payments,
  moves: CreditMove[],
): boolean {
  const short = live
    .filter(({ state }) => state === 'settled')
    .map((item): Short => ({ item, ...balanceOf(item, work.none) }))
    .filter(({ rest }) => rest.minor !== 0)
    .sort(
      (a, b) =>
        (a.total.minor < 0 ? 0 : 1) - (b.total.minor < 0 ? 0 : 1) ||
        a.item.times.createdAt - b.item.times.createdAt,
    )
  const credits = new Map(livePayments(work, payments).map(one => [one.request.id, one.credit]))
  const fallen = new Set<string>()
  const covered = new Map<string, Money>()
  let missing = missingCredit(work, payments)
  let brought = creditLeft(work, moves)
  let left = brought
  for (let at = 0; at < short.length; at += 1) {
    const one = short[at]!
    const { id } = one.item
    if (fallen.has(id)) continue
    if (left.minor >= one.rest.minor) {
      left = minus(left, one.rest)
      covered.set(id, one.rest)
      continue
    }
    if (missing !== undefined) work.findings.wrong('invoices', id, `blocked by ${missing}`)
    else fail(work, one.item, uncovered(one, left))
    const together = work.findings.togetherWith(id)
    for (const other of together.invoices) {
      fallen.add(other)
      left = plus(left, covered.get(other) ?? work.none)
    }
    for (const payment of together.payments) {
      const credit = credits.get(payment)
      if (!credit || credit.minor === 0) continue
      brought = minus(brought, credit)
      left = minus(left, credit)
      missing ??= payment
    }
    if (left.minor >= 0) continue
    left = brought
    covered.clear()
    at = -1
  }
  for (const { item, rest } of short) moves.push({ at: item.times.createdAt, by: negated(rest) })
  return fallen.size === 0
}

const uncovered = ({ total, paid }: Short, left: Money): string =>
  `invoiceState settled must have payments and credit of its total ${toText(total)}; it has payments of ${toText(paid)}, and a credit of ${toText(left)} is left.`
