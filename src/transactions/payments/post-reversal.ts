// What the product's plugin says of payments that a change takes back (brief 5.6, getPostPaymentReversal): when the grace
// period ends that begins since the invoice is unpaid again; an open one ends then too. The payments are found at the
// one place where changes are recorded, so that no transaction that takes back invoices forgets them.

import type { PostPaymentReversalInput } from '../../extension/plugins/contract.ts'
import { nonsense } from '../../extension/plugins/translation.ts'
import { toText } from '../../kernel/money.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { totalDueOf } from '../../policy/bills/amounts-due.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import { type Invoice, invoiceStatus, type Payment, paymentState } from '../../policy/records/invoice.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { hasPlugin } from '../../product/plugins.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { askPlugin, askPluginUnattended, policyInfo } from '../../rating/plugin-call.ts'
import { planGraceEndMove } from '../lapses/grace-periods.ts'

type OperationType = PostPaymentReversalInput['operationType']

/**
 * The plan with the ends of grace periods that the plugin sets, called once for each payment that the plan takes
 * back: by itself (`payment_reversal`), or since its invoice is made void (`payment_invalidation`). Not called
 * where the product knows no grace. Without an end it is as without a
 * plugin. Refuses (422) what the plugin fails with; from the clock (`isAttended` false) that is logged, and sets no end.
 */
export async function withGraceEnds(
  before: PolicyAggregate | undefined,
  loaded: Omit<Loaded, 'aggregate'>,
  plan: Planned,
  attempt: Attempt,
  isAttended: boolean,
): Promise<Planned> {
  const { product } = loaded
  if (!before || before.payments === plan.aggregate.payments) return plan
  if (!hasPlugin(product, 'getPostPaymentReversal') || product.lapse.gracePeriodDays === undefined)
    return plan
  let planned = plan
  for (const payment of takenBack(before, plan.aggregate)) {
    const operationType = operationOf(payment, plan.aggregate)
    const question = {
      name: 'getPostPaymentReversal' as const,
      answer: (contract: typeof import('../../extension/plugins/contract.ts')) =>
        contract.PostPaymentReversalResult,
      input: inputOf(payment, operationType, before, product.lapse.gracePeriodDays),
    }
    const accept = ({ gracePeriodEndTimestamp: endAt }: { gracePeriodEndTimestamp?: Instant }) => {
      if (endAt !== undefined && endAt < attempt.now)
        throw nonsense(
          'getPostPaymentReversal',
          [`gracePeriodEndTimestamp ${endAt} lies before the reversal at ${attempt.now}`],
          product.plugins.getPostPaymentReversal!.path,
        )
      return { endAt }
    }
    const asked = { ...loaded, aggregate: planned.aggregate }
    const answer = isAttended
      ? await askPlugin(asked, attempt, question, accept)
      : await askPluginUnattended(asked, attempt, question, accept, 'The end of grace stays as it is.')
    planned = withEnd(planned, payment, operationType, answer?.endAt, attempt.now)
  }
  return planned
}

const takenBack = (before: PolicyAggregate, after: PolicyAggregate): Payment[] =>
  [...after.payments.values()].filter(payment => {
    const was = before.payments.get(payment.locator)
    const isReversed =
      was !== undefined && paymentState(was) === 'posted' && paymentState(payment) === 'reversed'
    // Of an offset, only the invoice that asks for money is unpaid again.
    return isReversed && !(payment.source === 'offset' && payment.amount.minor < 0)
  })

function operationOf({ invoiceLocator }: Payment, after: PolicyAggregate): OperationType {
  return invoiceStatus(after.invoices.get(invoiceLocator)!) === 'invalidated'
    ? 'payment_invalidation'
    : 'payment_reversal'
}

/** The invoice as it was until now: when it was due, and not when it is due again. */
function inputOf(
  { locator, invoiceLocator }: Payment,
  operationType: OperationType,
  before: PolicyAggregate,
  gracePeriodDays: number,
): PostPaymentReversalInput {
  const invoice = before.invoices.get(invoiceLocator)!
  return {
    operationType,
    paymentLocator: locator,
    invoiceLocator,
    invoiceAmount: toText(totalDueOf(before, invoice)),
    invoiceDueTimestamp: String(invoice.dueAt),
    invoiceIssueTimestamp: String(invoice.createdAt),
    gracePeriodDays: String(gracePeriodDays),
    policy: policyInfo(before),
    tenantTimeZone: before.policy.timeZone,
  }
}

/** An end before the invoice is due again means that grace is over as it begins. The former end no longer counts. */
function withEnd(
  planned: Planned,
  { invoiceLocator }: Payment,
  operationType: OperationType,
  endAt: Instant | undefined,
  now: Instant,
): Planned {
  const { aggregate } = planned
  const invoice = aggregate.invoices.get(invoiceLocator)!
  const graceEndAt =
    endAt === undefined || operationType === 'payment_invalidation' ? undefined : later(endAt, invoice.dueAt)
  const changed: Invoice = { ...invoice, graceEndAt }
  const set: Planned = {
    aggregate: { ...aggregate, invoices: putRecords(aggregate.invoices, [changed]) },
    events: [],
  }
  return chain(planned, set, endAt === undefined ? undefined : planGraceEndMove(set.aggregate, endAt, now))
}
