// A policyholder's credit is what it paid beyond its invoices, over all its policies, and has not used yet. It is the sum of
// the payments and has no record of its own that could differ. The next invoices of any of its policies use it.
import { Refusal } from '../../kernel/errors.ts'
import { fromMinor, type Money, minus, plus, sum, toText, zero } from '../../kernel/money.ts'
import { restDue } from '../../policy/bills/amounts-due.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding } from '../../policy/records/invoice.ts'
import { type Payment, paymentState } from '../../policy/records/payment.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { pay } from './decision.ts'
import { withOffsets } from './offsets.ts'

/** The payment's contribution to its policyholder's credit; negative when it was made from credit. */
export function creditOf(payment: Payment): Money {
  const { amount, credited, source } = payment
  if (paymentState(payment) === 'reversed') return zero(amount.currency)
  return source === 'credit' ? fromMinor(-amount.minor, amount.currency) : credited
}

/** The change of the credit from one state of a policy to the next. */
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

export type Credited = {
  readonly planned: Planned
  /** The credit that is left. */
  readonly credit: Money
  /** Whether the plan rests on the credit as it was read. */
  readonly restsOnCredit: boolean
}

/**
 * The plan, with the invoices that settle each other (offsets.ts), and after that those that it makes paid from the
 * credit as far as it goes, those due first before the others.
 * Refuses (409) a plan that takes back credit which has been used; one of the clock's is tried again until it is not.
 * `loaded` is what the plan was made with.
 */
export async function withCredit(
  before: PolicyAggregate | undefined,
  loaded: Omit<Loaded, 'aggregate'>,
  decided: Planned,
  attempt: Attempt,
): Promise<Credited> {
  const plan = await withOffsets(before, loaded, decided, attempt)
  const left = ({ aggregate }: Planned): Money => plus(loaded.credit, creditChange(before, aggregate))
  const { policyholderLocator } = plan.aggregate.policy
  assertCredit(loaded.credit, creditChange(before, plan.aggregate), policyholderLocator)
  const made = madeBy(before, plan.aggregate)
  let planned = plan
  for (const invoice of made) {
    const { aggregate } = planned
    const credit = left(planned)
    if (credit.minor === 0) break
    const rest = restDue(aggregate, invoice)
    if (rest.minor < 0) continue
    const amount = rest.minor < credit.minor ? rest : credit
    const terms = { source: 'credit' as const, amount, fieldValues: {} }
    planned = chain(planned, (await pay({ ...loaded, aggregate }, invoice.locator, attempt, terms)).planned)
  }
  const credit = left(planned)
  return { planned, credit, restsOnCredit: made.length > 0 || credit.minor < loaded.credit.minor }
}

/** New invoices that are outstanding, by their due time. */
const madeBy = (before: PolicyAggregate | undefined, after: PolicyAggregate): Invoice[] =>
  [...after.invoices.values()]
    .filter(invoice => !before?.invoices.has(invoice.locator) && isOutstanding(invoice))
    .sort((a, b) => a.dueAt - b.dueAt)
