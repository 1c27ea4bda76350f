// A policyholder's credit is the amount that it overpaid, over all its policies, and has not used. It is the sum of the payments
// and has no separate record that could differ from them. The next invoices of any of the policyholder's policies use it.
import { planReversal } from '../../billing/payments.ts'
import { wrongState } from '../../kernel/errors.ts'
import {
  assertStorable,
  fromMinor,
  LARGEST_MINOR,
  type Money,
  minus,
  negated,
  plus,
  sum,
  toText,
  zero,
} from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { restDue } from '../../policy/bills/amounts-due.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding, type Payment, paymentState } from '../../policy/records/invoice.ts'
import type { Loaded, NeededCredit } from '../../policy/surroundings.ts'
import { combineSteps, type Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { pay, withOffsets } from './settling.ts'

/** Returns the credit that a payment adds. Negative for a payment made from credit. */
export function creditOf(payment: Payment): Money {
  const { amount, credited, source } = payment
  if (paymentState(payment) === 'reversed') return zero(amount.currency)
  return source === 'credit' ? fromMinor(-amount.minor, amount.currency) : credited
}

/** Returns by how much the write changes the policyholder's credit; negative if it uses credit. */
export function creditChange(before: PolicyAggregate | undefined, after: PolicyAggregate): Money {
  const { currency } = after.policy
  if (before?.payments === after.payments) return zero(currency)
  const totalCredit = (aggregate: PolicyAggregate | undefined): Money =>
    sum([...(aggregate?.payments.values() ?? [])].map(creditOf), currency)
  return minus(totalCredit(after), totalCredit(before))
}

/**
 * Rejects taking back credit that other policies have used (`wrongState`). Their payments change only with them, so the caller
 * must reverse those first.
 */
function assertCredit(credit: Money, change: Money, holder: string): void {
  if (credit.minor + change.minor >= 0) return
  throw wrongState(
    `This would take ${toText(fromMinor(-change.minor, change.currency))} ${change.currency} from the credit of policyholder ${holder}, but only ${toText(credit)} ${credit.currency} is left. First reverse payments of other policies that were made from the credit; GET /policyholder/${holder}/credits lists them.`,
  )
}

/**
 * Returns the plan, in which the policy gives back the credit that the plan takes and the policyholder no longer has: payments that
 * the policy made from credit are reversed, the latest first, and their invoices are open again. A payment that did not come in can
 * so be reversed even if its surplus has paid later invoices (brief 4.5). Unchanged if these payments do not suffice.
 */
function withUsedCreditBack(
  before: PolicyAggregate | undefined,
  { credit }: Pick<Loaded, 'credit'>,
  plan: Planned,
  now: Instant,
): Planned {
  let missing = -(credit.minor + creditChange(before, plan.aggregate).minor)
  if (missing <= 0) return plan
  const fromCredit = [...plan.aggregate.payments.values()]
    .filter(one => one.source === 'credit' && one.amount.minor > 0 && paymentState(one) === 'posted')
    .sort((a, b) => b.postedAt - a.postedAt || b.displayId - a.displayId)
  let planned = plan
  for (const payment of fromCredit) {
    planned = combineSteps(planned, planReversal(planned.aggregate, payment, now))
    missing -= payment.amount.minor
    if (missing <= 0) return planned
  }
  return plan
}

/**
 * Returns the plan with its offsets, and then with its new invoices paid from credit, earliest due first, until the credit is
 * used up. Rejects with 409 a plan that takes back credit that other policies use; a plan of the clock is retried until the credit
 * is there again.
 *
 * `loaded` is the state that the plan was made from. Also returns the credit that is left, and `neededCredit`, the credit for
 * which the plan is right. It is undefined if the plan does not depend on credit.
 */
export async function withCredit(
  before: PolicyAggregate | undefined,
  loaded: Omit<Loaded, 'aggregate'>,
  decided: Planned,
  attempt: Attempt,
) {
  const returned = withUsedCreditBack(before, loaded, decided, attempt.now)
  const plan = await withOffsets(before, loaded, returned, attempt)
  const creditLeftAfter = ({ aggregate }: Planned): Money =>
    plus(loaded.credit, creditChange(before, aggregate))
  const { policyholderLocator } = plan.aggregate.policy
  assertCredit(loaded.credit, creditChange(before, plan.aggregate), policyholderLocator)
  const newInvoices = newInvoicesOf(before, plan.aggregate)
  let planned = plan
  for (const invoice of newInvoices) {
    const { aggregate } = planned
    const credit = creditLeftAfter(planned)
    if (credit.minor === 0) break
    const rest = restDue(aggregate, invoice)
    if (rest.minor < 0) continue
    const amount = rest.minor < credit.minor ? rest : credit
    const terms = { source: 'credit' as const, amount, rest, fieldValues: {} }
    planned = combineSteps(
      planned,
      (await pay({ ...loaded, aggregate }, invoice.locator, attempt, terms)).planned,
    )
  }
  const credit = creditLeftAfter(planned)
  if (credit.minor > loaded.credit.minor) assertStorable(credit)
  return { planned, credit, neededCredit: neededCredit(loaded.credit, credit, newInvoices.length > 0) }
}

/**
 * Returns the credit that the plan relies on. If credit is left, it paid everything requested of it, and any credit that is large
 * enough gives the same plan. So policies of one policyholder that use its credit simultaneously do not block each other while
 * there is enough of it. Policies that add to it do not block each other either.
 */
function neededCredit(read: Money, left: Money, mayPay: boolean): NeededCredit | undefined {
  const added = minus(left, read)
  if (added.minor > 0) return { atMost: minus(fromMinor(LARGEST_MINOR, read.currency), added) }
  if (added.minor === 0 && !mayPay) return undefined
  return left.minor > 0 ? { atLeast: negated(added) } : { exactly: read }
}

/** Returns new invoices that are outstanding, by due time. */
const newInvoicesOf = (before: PolicyAggregate | undefined, after: PolicyAggregate): Invoice[] =>
  [...after.invoices.values()]
    .filter(invoice => !before?.invoices.has(invoice.locator) && isOutstanding(invoice))
    .sort((a, b) => a.dueAt - b.dueAt)
