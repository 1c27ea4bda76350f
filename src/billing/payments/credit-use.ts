// What a policyholder has left is used by the next invoices that are made for it, of whichever of its policies.
import { type Money, plus } from '../../kernel/money.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding } from '../../policy/records/invoice.ts'
import { restDue } from '../../policy/records/payment.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { pay } from '../../transactions/payments/decision.ts'
import { withOffsets } from '../../transactions/payments/offsets.ts'
import { assertCredit, creditChange } from './credit.ts'

export type Credited = {
  readonly planned: Planned
  /** What is left after it. */
  readonly credit: Money
  /** Whether the credit had to be what it was read to be. */
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
