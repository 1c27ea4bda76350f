// Checks invoices against payments and credit: rules 8 and 9 of resources brief 9.3.
import { type Money, minus, negated, plus, sum, sumOf, toText } from '../../../kernel/money.ts'
import { countText } from '../../../kernel/text.ts'
import { POLICY_LIMITS } from '../../../policy/limits.ts'
import { controlTotalsIn, type DisbursementMigrationRequest } from '../contract-request.ts'
import {
  accountIdOf,
  type ControlTotals,
  type ConvertedDisbursement,
  type CreditMove,
  checkCurrency,
  type InvoiceItem,
  liveInvoices,
  livePayments,
  type PaymentItem,
  type Work,
} from './converted.ts'
import { readAmount } from './elements.ts'
import { balanceOf, partsOf } from './invoices.ts'
import { failedCreditPayment } from './payments.ts'

/** Repeats the checks until nothing more fails, because failures block other items. Returns the movements of the credit. */
export function balanceCredit(work: Work): CreditMove[] {
  for (;;) {
    const amounts = livePayments(work).flatMap(({ byInvoice }) => [...byInvoice])
    const byInvoice = Map.groupBy(amounts, ([invoice]) => invoice)
    for (const item of work.invoices.values())
      item.received = (byInvoice.get(item.id) ?? []).map(([, amount]) => amount)
    const moves = checkInvoices(work)
    const isBlocked = work.findings.block()
    if (moves && !isBlocked) return moves
  }
}

const creditLeft = ({ context, none }: Work, moves: readonly CreditMove[]): Money =>
  moves.reduce((all, { by }) => plus(all, by), context.existing?.credit ?? none)

/** Checks each invoice on its own first, then the credit that must cover the rest. Returns undefined if an invoice fails. */
function checkInvoices(work: Work): CreditMove[] | undefined {
  const { findings, none } = work
  const live = liveInvoices(work)
  if (live.length === 0 && !work.context.existing?.lastInvoice && failCreditWithoutInvoice(work))
    return undefined
  for (const item of live) {
    const wrong = brokenRule(item, none)
    if (wrong !== undefined) addInvoiceFinding(work, item, wrong)
  }
  if (live.some(({ id }) => findings.fails('invoices', id))) return undefined
  const moves = livePayments(work)
    .map((payment): CreditMove => ({ at: payment.request.paymentTime, by: creditOfPayment(payment, none) }))
    .filter(({ by }) => by.minor !== 0)
  if (failUncoveredCredit(work, live, moves)) return undefined
  return coverFromCredit(work, live, moves) ? moves : undefined
}

/** Returns the credit that the payment adds, or the negative of what it takes from credit. */
const creditOfPayment = ({ request, credit, byInvoice }: PaymentItem, none: Money): Money =>
  request.source === 'credit' ? negated(sum([...byInvoice.values()], none.currency)) : credit

/** Fails payments from credit, latest first, until the credit covers the others. Returns whether any fails. */
function failUncoveredCredit(
  work: Work,
  live: readonly InvoiceItem[],
  moves: readonly CreditMove[],
): boolean {
  const { none, findings } = work
  // Settled refunds that nobody paid out add to the credit.
  const refunds = live
    .filter(({ state }) => state === 'settled')
    .map(item => balanceOf(item, none).rest)
    .filter(rest => rest.minor < 0)
  let left = creditLeft(work, moves).minor - sum(refunds, none.currency).minor
  const takers = livePayments(work)
    .filter(one => one.request.source === 'credit' && creditOfPayment(one, none).minor < 0)
    .sort((a, b) => b.request.paymentTime - a.request.paymentTime)
  let fails = false
  for (const one of takers) {
    if (left >= 0) break
    left -= creditOfPayment(one, none).minor
    fails = true
    const missing = failedCreditPayment(work)
    findings.wrong(
      'payments',
      one.request.id,
      missing === undefined
        ? 'source credit must not take more than the account has left as credit.'
        : `blocked by ${missing}`,
    )
  }
  return fails
}

const addInvoiceFinding = ({ findings }: Work, { id, earlier }: InvoiceItem, rule: string): void =>
  findings.wrong('invoices', id, earlier ? `invoiceId '${id}' was migrated before: ${rule}` : rule)

/** Fails credit-only payments of an account without any invoice that could hold the credit. Returns whether any fails. */
function failCreditWithoutInvoice(work: Work): boolean {
  const creditOnly = livePayments(work).filter(
    ({ byInvoice, credit }) => byInvoice.size === 0 && credit.minor > 0,
  )
  const failing = work.findings.failing('invoices')
  const rule =
    failing === undefined
      ? 'paymentItems without invoiceId need an account with an invoice, because its last invoice holds the credit.'
      : `blocked by ${failing}`
  for (const { request } of creditOnly) work.findings.wrong('payments', request.id, rule)
  return creditOnly.length > 0
}

/** Returns the rule that the invoice breaks, if any. */
function brokenRule(item: InvoiceItem, none: Money): string | undefined {
  const { state, earlier, received } = item
  const parts = partsOf(item)
  const { total, paid, rest } = balanceOf(item, none)
  const [asked, got] = [toText(total), toText(paid)]
  const sign = Math.sign(total.minor)
  if (state === 'discarded' && received.some(one => one.minor !== 0))
    return `invoiceState discarded must have no payments; it has ${got}.`
  if (earlier && parts.length === 0 && received.some(one => one.minor !== 0))
    return `it is already settled (${earlier.statuses.join(', ')}). Send further payments as items without invoiceId.`
  if (rest.minor !== 0 && Math.sign(rest.minor) !== sign)
    return `payments of ${got} must not exceed the amount due, ${asked}. Send the excess as an item without invoiceId.`
  if (paid.minor !== 0 && Math.sign(paid.minor) !== sign)
    return `payments of ${got} must have the same sign as the amount due, ${asked}.`
  if (state === 'open' && rest.minor === 0 && total.minor !== 0)
    return `invoiceState open must have payments of less than its total ${asked}, but it is paid.`
  const most = Math.max(0, ...(earlier?.open ?? []).map(({ making }) => making.payments.size))
  return most + received.length > POLICY_LIMITS.payments
    ? `its policy has ${countText(most, 'payment')} and would get ${received.length} more; a policy can have at most ${POLICY_LIMITS.payments}.`
    : undefined
}

type UnpaidInvoice = {
  readonly item: InvoiceItem
  readonly total: Money
  readonly paid: Money
  readonly rest: Money
}

/**
 * Adds what settled invoices take from credit, refunds first. Returns false if credit falls short. A failing invoice neither takes
 * nor adds credit, so earlier ones may then fall short too: the loop starts over until all of them are found.
 */
function coverFromCredit(work: Work, live: readonly InvoiceItem[], moves: CreditMove[]): boolean {
  const unpaid = live
    .filter(({ state }) => state === 'settled')
    .map((item): UnpaidInvoice => ({ item, ...balanceOf(item, work.none) }))
    .filter(({ rest }) => rest.minor !== 0)
    .sort(
      (a, b) =>
        Number(a.total.minor >= 0) - Number(b.total.minor >= 0) ||
        a.item.times.createdAt - b.item.times.createdAt,
    )
  const credits = new Map(livePayments(work).map(one => [one.request.id, one.credit]))
  const failedIds = new Set<string>()
  const covered = new Map<string, Money>()
  let missing = failedCreditPayment(work)
  let totalCredit = creditLeft(work, moves)
  let left = totalCredit
  for (let at = 0; at < unpaid.length; at += 1) {
    const one = unpaid[at]!
    const { id } = one.item
    if (failedIds.has(id)) continue
    if (left.minor >= one.rest.minor) {
      left = minus(left, one.rest)
      covered.set(id, one.rest)
      continue
    }
    if (missing !== undefined) work.findings.wrong('invoices', id, `blocked by ${missing}`)
    else addInvoiceFinding(work, one.item, uncoveredMessage(one, left))
    const linked = work.findings.links.around(id)
    for (const other of linked.invoices) {
      failedIds.add(other)
      left = plus(left, covered.get(other) ?? work.none)
    }
    for (const payment of linked.payments) {
      const credit = credits.get(payment)
      if (!credit || credit.minor === 0) continue
      totalCredit = minus(totalCredit, credit)
      left = minus(left, credit)
      missing ??= payment
    }
    if (left.minor >= 0) continue
    left = totalCredit
    covered.clear()
    at = -1
  }
  for (const { item, rest } of unpaid) moves.push({ at: item.times.createdAt, by: negated(rest) })
  return failedIds.size === 0
}

const uncoveredMessage = ({ total, paid }: UnpaidInvoice, left: Money): string =>
  `invoiceState settled must have payments and credit of its total ${toText(total)}, but it has payments of ${toText(paid)}, and only ${toText(left)} of credit is left.`

type PaidOut = {
  readonly disbursements: readonly ConvertedDisbursement[]
  /** Incoming and outgoing movements of the credit. */
  readonly moves: readonly CreditMove[]
}

/** Pays disbursements in order of time, and fails each that exceeds the credit at its time. */
export function payDisbursements(work: Work, before: readonly CreditMove[]): PaidOut {
  const { request, context, findings, warnings, none } = work
  const { existing, supply } = context
  const moves = [...before]
  const incoming = before.toSorted((a, b) => a.at - b.at)
  let seen = 0
  // `available` is the credit at the disbursement's time, `left` the credit at the end.
  let available = existing?.credit ?? none
  let left = creditLeft(work, before)
  let missing: { readonly id: string | undefined } | undefined
  const disbursements: ConvertedDisbursement[] = []
  const ordered = findings
    .withoutRepeatedIds('disbursements', request.disbursements)
    .sort((a, b) => a.disbursementTime - b.disbursementTime)
  for (const one of ordered) {
    const { id, disbursementTime: at, disbursementType, data } = one
    if (at > context.now) warnings.add('disbursement', id, 'disbursementTime is in the future.')
    const amount = amountOf(work, one)
    for (; seen < incoming.length && incoming[seen]!.at <= at; seen += 1)
      available = plus(available, incoming[seen]!.by)
    if (!findings.fails('disbursements', id) && amount.minor > Math.min(available.minor, left.minor)) {
      // Disbursements cause none of these failures, so one look is enough.
      missing ??= { id: missingMoney(work) }
      findings.wrong(
        'disbursements',
        id,
        missing.id === undefined
          ? `sources of ${toText(amount)} must not exceed the credit at that time, ${toText(available)}.`
          : `blocked by ${missing.id}`,
      )
    }
    if (findings.fails('disbursements', id)) continue
    moves.push({ at, by: negated(amount) })
    available = minus(available, amount)
    left = minus(left, amount)
    const type = disbursementType ?? ''
    disbursements.push({ locator: supply.uuid(), originalId: id, type, amount, at, data })
  }
  return { disbursements, moves }
}

/** Returns a failing item that may have added credit: an overpayment or a refund. */
const missingMoney = (work: Work): string | undefined =>
  failedCreditPayment(work) ?? work.findings.failing('payments') ?? work.findings.failing('invoices')

/** Returns the sum of the disbursement's sources. Wrong sources count as zero. */
export function amountOf(work: Work, { id, sources, currency }: DisbursementMigrationRequest): Money {
  const { findings, none } = work
  checkCurrency(work, 'disbursements', id, currency)
  const amounts = sources.map(({ amount }, index) => {
    const exact = readAmount(amount, none.currency)
    const wrong = (rule: string): void =>
      findings.wrong('disbursements', id, `sources[${index}].amount ${rule}`)
    if (typeof exact === 'string') wrong(exact)
    else if (exact.minor <= 0) wrong('must be above zero.')
    return typeof exact === 'string' ? none : exact
  })
  if (sources.length === 0) findings.wrong('disbursements', id, 'sources must have at least one source.')
  return sum(amounts, none.currency)
}

/** Rule 10 of resources brief 9.3. */
export function totalsOf(work: Work, { disbursements, moves }: PaidOut): ControlTotals {
  const { currency } = work.none
  const billed = liveInvoices(work).filter(({ state }) => state !== 'discarded')
  const received = livePayments(work)
    .filter(({ request }) => request.source !== 'credit')
    .flatMap(({ byInvoice, credit }) => [...byInvoice.values(), credit])
  return {
    invoiced: sumOf(
      billed.flatMap(({ added }) => added),
      part => part.due,
      currency,
    ),
    paid: sum(received, currency),
    credit: creditLeft(work, moves),
    disbursed: sumOf(disbursements, one => one.amount, currency),
  }
}

/** Compares the control totals. A difference fails the whole account. */
export function checkControlTotals(work: Work, totals: ControlTotals): void {
  const { request, findings, none } = work
  const expected = controlTotalsIn(request)
  if (expected.length === 0) return
  const id = accountIdOf(work)
  const wrong = (sentence: string): void => findings.wrong('account', id, sentence)
  const failing = findings.failing()
  if (failing !== undefined) {
    if (!findings.fails('account', id)) wrong(`blocked by ${failing}`)
    return
  }
  for (const [name, text] of expected) {
    const own = Object.hasOwn(totals, name) ? totals[name as keyof ControlTotals] : undefined
    const place = `accounting.originalAccountBalances.${name}`
    const amount = readAmount(text, none.currency)
    if (!own) wrong(`${place} must be one of ${Object.keys(totals).join(', ')}.`)
    else if (typeof amount === 'string' || amount.minor !== own.minor)
      wrong(`${place} is ${text}, but the total of the request is ${toText(own)} ${none.currency}.`)
  }
}
