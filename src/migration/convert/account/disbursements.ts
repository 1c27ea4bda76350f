// What was paid out of the account's credit.
import { type Money, negated, sum, toText } from '../../../platform/money.ts'
import type { Instant } from '../../../platform/time.ts'
import type { DisbursementMigrationRequest } from '../../contract-request.ts'
import { readAmount } from '../amount.ts'
import type { ConvertedDisbursement } from '../converted.ts'
import { type CreditMove, creditAt } from '../money-moves.ts'
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
  const { request, context, findings, warnings } = work
  const { configuration, existing, supply } = context
  const { currency } = configuration
  const had: CreditMove[] = existing ? [{ at: Number.NEGATIVE_INFINITY as Instant, by: existing.credit }] : []
  const moves = [...before]
  const disbursements: ConvertedDisbursement[] = []
  const ordered = findings
    .singles('disbursements', request.disbursements)
    .sort((a, b) => a.disbursementTime - b.disbursementTime)
  for (const one of ordered) {
    const { id, disbursementTime: at, disbursementType, data } = one
    if (at > context.now) warnings.add('disbursement', id, 'disbursementTime lies in the future.')
    const amount = amountOf(work, one)
    const available = creditAt([...had, ...moves], at, currency)
    const isLeft = creditAt([...had, ...moves], Number.POSITIVE_INFINITY as Instant, currency)
    if (!findings.fails('disbursements', id) && amount.minor > Math.min(available.minor, isLeft.minor)) {
      const missing = missingMoney(work, payments)
      findings.wrong(
        'disbursements',
        id,
        missing === undefined
          ? `sources of ${toText(amount)} must not be more than the credit at that time, ${toText(available)}.`
          : `blocked by ${missing}`,
      )
    }
    if (findings.fails('disbursements', id)) continue
    moves.push({ at, by: negated(amount) })
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
