// The credit of a policyholder: what it paid beyond what was asked for, over all its policies, and has not used yet.
// It is the sum of what payments say, and has no record of its own that could say something else.

import { Refusal } from '../../kernel/errors.ts'
import { fromMinor, type Money, minus, sum, toText, zero } from '../../kernel/money.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Payment, paymentState } from '../../policy/records/payment.ts'

/** What the payment adds to the credit of its policyholder: less than nothing where it was made from it. */
export function creditOf(payment: Payment): Money {
  const { amount, credited, source } = payment
  if (paymentState(payment) === 'reversed') return zero(amount.currency)
  return source === 'credit' ? fromMinor(-amount.minor, amount.currency) : credited
}

/** What the credit changes by from one state of a policy to the next. */
export function creditChange(before: PolicyAggregate | undefined, after: PolicyAggregate): Money {
  const { currency } = after.policy
  const ofAll = (aggregate: PolicyAggregate | undefined): Money =>
    sum([...(aggregate?.payments.values() ?? [])].map(creditOf), currency)
  return minus(ofAll(after), ofAll(before))
}

/**
 * Refuses with `wrongState` what would take back credit that has been used. Who took money back must say first which
 * of the payments that were made of it are not paid after all.
 */
export function assertCredit(credit: Money, change: Money, holder: string): void {
  if (credit.minor + change.minor >= 0) return
  throw new Refusal(
    'wrongState',
    `This would take ${toText(fromMinor(-change.minor, change.currency))} ${change.currency} from the credit of policyholder ${holder}, of which ${toText(credit)} ${credit.currency} is left. Reverse payments that were made from it first; GET /policyholder/${holder}/credits lists them.`,
  )
}
