// What an account comes to, held against what the other system says that it comes to (rule 10 of resources brief 9.3).
import { sum, toText } from '../../../../kernel/money.ts'
import { toldTotals } from '../../contract-request.ts'
import { readAmount } from '../amount.ts'
import type { ControlTotals } from '../converted.ts'
import { creditLeft } from './balance.ts'
import type { PaidOut } from './disbursements.ts'
import type { Invoices } from './invoices.ts'
import { livePayments, type Payments } from './payments.ts'
import { accountIdOf, type Work } from './work.ts'

export function totalsOf(
  work: Work,
  invoices: Invoices,
  payments: Payments,
  { disbursements, moves }: PaidOut,
): ControlTotals {
  const { currency } = work.context.configuration
  const live = [...invoices.values()].filter(({ id }) => !work.findings.fails('invoices', id))
  return {
    invoiced: sum(
      live.flatMap(({ state, added }) => (state === 'discarded' ? [] : added.map(part => part.due))),
      currency,
    ),
    paid: sum(
      livePayments(work, payments).flatMap(({ byInvoice, credit }) => [...byInvoice.values(), credit]),
      currency,
    ),
    credit: creditLeft(work, moves),
    disbursed: sum(
      disbursements.map(one => one.amount),
      currency,
    ),
  }
}

/** What the other system says that there is, and is not, fails the account: nothing of it is kept. */
export function controlTotals(work: Work, totals: ControlTotals): void {
  const { request, context, findings } = work
  const told = toldTotals(request)
  if (told.length === 0) return
  const id = accountIdOf(work)
  const failing = findings.failing()
  if (failing !== undefined) {
    if (!findings.fails('account', id)) findings.wrong('account', id, `blocked by ${failing}`)
    return
  }
  const { currency } = context.configuration
  for (const [name, text] of told) {
    const own = Object.hasOwn(totals, name) ? totals[name as keyof ControlTotals] : undefined
    const place = `accounting.originalAccountBalances.${name}`
    if (!own) {
      findings.wrong('account', id, `${place} must be one of ${Object.keys(totals).join(', ')}.`)
      continue
    }
    const amount = readAmount(text, currency)
    if (typeof amount === 'string' || amount.minor !== own.minor)
      findings.wrong(
        'account',
        id,
        `${place} is ${text}, but what was sent comes to ${toText(own)} ${currency}.`,
      )
  }
}
