// What was paid out of the account's credit.
import { type Money, minus, negated, plus, sum, toText } from '../../../../kernel/money.ts'
import type { DisbursementMigrationRequest } from '../../contract-request.ts'
import { readAmount } from '../amount.ts'
import type { ConvertedDisbursement } from '../converted.ts'
import type { CreditMove } from '../money-moves.ts'
import { creditLeft } from './balance.ts'
import { assertCurrency } from './invoices.ts'
import { missingCredit, type Payments } from './payments.ts'
import type { Work } from './work.ts'

export type PaidOut = {
  readonly disbursements: readonly ConvertedDisbursement[]
  /** All movements of the credit: those that came in, and what was paid out. */
  readonly moves: readonly CreditMove[]
}

/** Those that the credit of their time does for, in the order of time. */
export function payDisbursements(work: Work, payments: Payments, before: readonly CreditMove[]): PaidOut {
  const { request, context, findings, warnings, none } = work
  const { existing, supply } = context
  const moves = [...before]
  const incoming = before.toSorted((a, b) => a.at - b.at)
  let seen = 0
  // What the account has at the time of the disbursement, and in the end, after the ones before it.
  let available = existing?.credit ?? none
  let left = creditLeft(work, before)
  let missing: { readonly id: string | undefined } | undefined
  const disbursements: ConvertedDisbursement[] = []
  const ordered = findings
    .singles('disbursements', request.disbursements)
    .sort((a, b) => a.disbursementTime - b.disbursementTime)
  for (const one of ordered) {
    const { id, disbursementTime: at, disbursementType, data } = one
    if (at > context.now) warnings.add('disbursement', id, 'disbursementTime lies in the future.')
    const amount = amountOf(work, one)
    for (; seen < incoming.length && incoming[seen]!.at <= at; seen += 1)
      available = plus(available, incoming[seen]!.by)
    if (!findings.fails('disbursements', id) && amount.minor > Math.min(available.minor, left.minor)) {
      // None of these fails because of a disbursement, so that one look is enough.
      missing ??= { id: missingMoney(work, payments) }
      findings.wrong(
        'disbursements',
        id,
        missing.id === undefined
          ? `sources of ${toText(amount)} must not be more than the credit at that time, ${toText(available)}.`
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

/** What fails and may have brought credit: of payments more than an invoice asked for, of invoices a refund. */
const missingMoney = (work: Work, payments: Payments): string | undefined =>
  missingCredit(work, payments) ?? work.findings.failing('payments') ?? work.findings.failing('invoices')

/** What its sources come to; those that are wrong, nothing. */
export function amountOf(work: Work, { id, sources, currency: own }: DisbursementMigrationRequest): Money {
  const { findings, none } = work
  const { currency } = work.context.configuration
  assertCurrency(work, 'disbursements', id, own)
  const amounts = sources.map(({ amount }, index) => {
    const exact = readAmount(amount, currency)
    const wrong = (rule: string): void =>
      findings.wrong('disbursements', id, `sources[${index}].amount ${rule}`)
    if (typeof exact === 'string') wrong(exact)
    else if (exact.minor <= 0) wrong('must lie above zero.')
    return typeof exact === 'string' ? none : exact
  })
  if (sources.length === 0) findings.wrong('disbursements', id, 'sources must have at least one source.')
  return sum(amounts, currency)
}
