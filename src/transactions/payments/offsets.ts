// Refunds settle what is open (brief 4.5): outstanding invoices of issued transactions of one policy whose amounts have
// opposite signs settle each other, those due first before the others, and no money moves.
import { planPayment } from '../../billing/payments/plans.ts'
import { invoiceNamed } from '../../billing/projection.ts'
import { fromMinor, type Money } from '../../kernel/money.ts'
import { restDue, totalsDueOf } from '../../policy/bills/amounts-due.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding } from '../../policy/records/invoice.ts'
import { type Loaded, NeedsWholePolicy } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { digitsForSettlement, planWhatPaymentSettles, reinstatementRestingOn } from '../lapses/settlement.ts'

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
