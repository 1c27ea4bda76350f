// A policyholder's credit is what it paid beyond its invoices, over all its policies, and has not used yet. It is the sum of
// the payments and has no record of its own that could differ. The next invoices of any of its policies use it.

import { planPayment } from '../../billing/payments/plans.ts'
import { invoiceNamed } from '../../billing/projection.ts'
import { Refusal } from '../../kernel/errors.ts'
import { fromMinor, type Money, minus, plus, sum, toText, zero } from '../../kernel/money.ts'
import { restDue, totalsDueOf } from '../../policy/bills/amounts-due.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding, type Payment, paymentState } from '../../policy/records/invoice.ts'
import { type Loaded, NeedsWholePolicy } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { digitsForSettlement, planWhatPaymentSettles, reinstatementRestingOn } from '../lapses/settlement.ts'
import { pay } from './decision.ts'

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

// Refunds settle what is open (brief 4.5): outstanding invoices of issued transactions of one policy whose amounts have
// opposite signs settle each other, those due first before the others, and no money moves.
/** The plan, with the invoices that settle each other once it is carried out. */
export async function withOffsets(
  before: PolicyAggregate | undefined,
  loaded: Omit<Loaded, 'aggregate'>,
  plan: Planned,
  attempt: Attempt,
): Promise<Planned> {
  if (before && !mayOffset(before, plan.aggregate)) return plan
  let planned = plan
  for (;;) {
    const pair = nextPair(planned.aggregate, loaded)
    if (!pair) return planned
    planned = chain(planned, await offset(planned.aggregate, pair, loaded, attempt))
  }
}

const mayOffset = (before: PolicyAggregate, after: PolicyAggregate): boolean =>
  before.invoices !== after.invoices ||
  before.payments !== after.payments ||
  before.modifications !== after.modifications

type Pair = { readonly refund: Invoice; readonly owed: Invoice; readonly amount: Money }

/** The first refund and the first invoice to be paid, and the amount that they settle. */
function nextPair(aggregate: PolicyAggregate, { unread }: Pick<Loaded, 'unread'>): Pair | undefined {
  const open = [...aggregate.invoices.values()].filter(one => takesPart(aggregate, one))
  if (open.length < 2) return undefined
  // The totals of invoices follow from all charges of their transactions.
  if (unread) {
    if (open.every(one => one.isRefund) || !open.some(one => one.isRefund)) return undefined
    throw new NeedsWholePolicy()
  }
  const totalDueOf = totalsDueOf(aggregate)
  const rests = open
    .sort((a, b) => a.dueAt - b.dueAt || a.createdAt - b.createdAt || a.displayId - b.displayId)
    .map(invoice => ({ invoice, rest: restDue(aggregate, invoice, totalDueOf(invoice)) }))
  const refund = rests.find(one => one.rest.minor < 0)
  const owed = rests.find(one => one.rest.minor > 0)
  if (!refund || !owed) return undefined
  const amount = fromMinor(Math.min(-refund.rest.minor, owed.rest.minor), owed.rest.currency)
  return { refund: refund.invoice, owed: owed.invoice, amount }
}

/**
 * An invoice takes part while it is outstanding and its transaction is issued. The way back from a lapse is issued by
 * paying its invoice, so that one takes part before; a refund that it takes over does not.
 */
function takesPart(aggregate: PolicyAggregate, invoice: Invoice): boolean {
  if (!isOutstanding(invoice)) return false
  const { issuedAt, invalidatedAt, undoes } = aggregate.modifications.get(invoice.policyModificationLocator)!
  if (invalidatedAt !== undefined) return false
  const isWayBack = undoes !== undefined && aggregate.modifications.get(undoes)?.kind === 'lapse'
  if (issuedAt === undefined && !isWayBack) return false
  return reinstatementRestingOn(aggregate, invoice) === undefined
}

/** A payment of opposite amount on each, with everything that follows. */
async function offset(
  before: PolicyAggregate,
  { refund, owed, amount }: Pair,
  { product }: Omit<Loaded, 'aggregate'>,
  { now, digits }: Attempt,
): Promise<Planned> {
  const supply = await digits(2)
  const paid = (from: PolicyAggregate, of: Invoice, by: Invoice, minor: number): Planned =>
    planPayment(
      from,
      of,
      {
        source: 'offset',
        amount: fromMinor(minor, amount.currency),
        fieldValues: {},
        offsetInvoiceLocator: by.locator,
      },
      { now, supply },
    )
  const refunded = paid(before, refund, owed, -amount.minor)
  let planned = chain(refunded, paid(refunded.aggregate, owed, refund, amount.minor))
  for (const { locator } of [refund, owed]) {
    const { aggregate } = planned
    const invoice = invoiceNamed(aggregate, locator)
    const more = await digits(digitsForSettlement(aggregate, invoice, now))
    planned = chain(planned, planWhatPaymentSettles(aggregate, invoice, { product, now, supply: more }))
  }
  return planned
}
