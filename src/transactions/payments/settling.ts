// How invoices are settled: by payments, and by offsets between invoices of opposite sign. Also the ends of grace periods that
// start because a payment is taken back.
import { invoiceNamed, type PaymentTerms, planPayment } from '../../billing/payments.ts'
import type { PostPaymentReversalInput } from '../../extension/plugins/contract.ts'
import { invalidAnswer } from '../../extension/plugins/translation.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { fromMinor, type Money, negated, toText } from '../../kernel/money.ts'
import { type Instant, later } from '../../kernel/time.ts'
import {
  installmentOf,
  planOf,
  restDue,
  standingInvoices,
  totalDueOf,
  totalsDueOf,
} from '../../policy/bills/amounts-due.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import {
  type Invoice,
  invoiceStatus,
  isOutstanding,
  type Payment,
  paymentState,
} from '../../policy/records/invoice.ts'
import { type LapseReinstatement, reinstatementStatus } from '../../policy/records/transactions.ts'
import { type Loaded, NeedsWholePolicy } from '../../policy/surroundings.ts'
import { combineSteps, type Planned } from '../../policy/transitions.ts'
import { hasPlugin } from '../../product/configuration.ts'
import { type Attempt, type EffectContext, policyInfo, requestPluginAnswer } from '../../rating/rate.ts'
import { planGraceEndMove, planSettlement } from '../lapses/grace-periods.ts'
import { digitsForIssue, planClosing, planIssue } from '../lapses/reinstatements.ts'

/**
 * Returns the plan with its offsets (brief 4.5): outstanding invoices of opposite sign settle each other, earliest due first. No
 * money moves.
 */
export async function withOffsets(
  before: PolicyAggregate | undefined,
  loaded: Omit<Loaded, 'aggregate'>,
  plan: Planned,
  attempt: Attempt,
): Promise<Planned> {
  if (before && !mayOffset(before, plan.aggregate)) return plan
  let planned = plan
  let totals: Totals | undefined
  for (;;) {
    const { aggregate } = planned
    totals = totals && billsTheSame(totals.of, aggregate) ? totals : totalsOf(aggregate)
    const pair = nextPair(aggregate, totals, loaded)
    if (!pair) return planned
    planned = combineSteps(planned, await offsetRefund(aggregate, pair, loaded, attempt))
  }
}

/** The total of each invoice. Computed when first needed, once for each transaction. */
type Totals = { readonly of: PolicyAggregate; readonly totalDueOf: (invoice: Invoice) => Money }

const totalsOf = (of: PolicyAggregate): Totals => ({ of, totalDueOf: totalsDueOf(of) })

/** Whether only payments, and the amounts they settle of invoices, have changed. Totals do not depend on these. */
const billsTheSame = (before: PolicyAggregate, after: PolicyAggregate): boolean =>
  (Object.keys(before) as (keyof PolicyAggregate)[]).every(
    name => name === 'payments' || name === 'invoices' || before[name] === after[name],
  ) && standingInvoices(before).length === standingInvoices(after).length

const mayOffset = (before: PolicyAggregate, after: PolicyAggregate): boolean =>
  before.invoices !== after.invoices ||
  before.payments !== after.payments ||
  before.modifications !== after.modifications

/** An invoice and the amount that it still asks for. */
type Open = { readonly invoice: Invoice; readonly rest: Money }

type Pair = { readonly refund: Open; readonly owed: Open; readonly amount: Money }

function nextPair(
  aggregate: PolicyAggregate,
  { totalDueOf }: Totals,
  { unread }: Pick<Loaded, 'unread'>,
): Pair | undefined {
  const open = [...aggregate.invoices.values()].filter(one => isOffsettable(aggregate, one))
  if (open.length < 2) return undefined
  // Totals of invoices need all charges of their transactions.
  if (unread) {
    if (open.every(one => one.isRefund) || !open.some(one => one.isRefund)) return undefined
    throw new NeedsWholePolicy()
  }
  const rests: Open[] = open
    .sort((a, b) => a.dueAt - b.dueAt || a.createdAt - b.createdAt || a.displayId - b.displayId)
    .map(invoice => ({ invoice, rest: restDue(aggregate, invoice, totalDueOf(invoice)) }))
  const refund = rests.find(one => one.rest.minor < 0)
  const owed = rests.find(one => one.rest.minor > 0)
  if (!refund || !owed) return undefined
  const amount = fromMinor(Math.min(-refund.rest.minor, owed.rest.minor), owed.rest.currency)
  return { refund, owed, amount }
}

/**
 * Whether an invoice can be offset: it must be outstanding and of an issued transaction. A legacy reinstatement is issued by
 * payment, so its invoice can be offset before that. An invoice that such a reinstatement takes over cannot.
 */
function isOffsettable(aggregate: PolicyAggregate, invoice: Invoice): boolean {
  if (!isOutstanding(invoice)) return false
  const { issuedAt, invalidatedAt, undoes } = aggregate.modifications.get(invoice.policyModificationLocator)!
  if (invalidatedAt !== undefined) return false
  const isLegacyReinstatement = undoes !== undefined && aggregate.modifications.get(undoes)?.kind === 'lapse'
  if (issuedAt === undefined && !isLegacyReinstatement) return false
  return reinstatementTakingOver(aggregate, invoice) === undefined
}

async function offsetRefund(
  before: PolicyAggregate,
  { refund, owed, amount }: Pair,
  loaded: Pick<Loaded, 'product'>,
  attempt: Attempt,
): Promise<Planned> {
  const context = { now: attempt.now, supply: await attempt.digits(2) }
  const payBy = (from: PolicyAggregate, { invoice, rest }: Open, other: Open, paid: Money): Planned => {
    const offsetInvoiceLocator = other.invoice.locator
    return planPayment(
      from,
      invoice,
      { source: 'offset', amount: paid, rest, fieldValues: {}, offsetInvoiceLocator },
      context,
    )
  }
  const refunded = payBy(before, refund, owed, negated(amount))
  let planned = combineSteps(refunded, payBy(refunded.aggregate, owed, refund, amount))
  for (const { invoice } of [refund, owed])
    planned = await withSettlement(planned, invoice.locator, loaded, attempt)
  return planned
}

/** `payment` is the one that the response shows. */
export type PaymentDecision = { planned: Planned; payment: Uuid }

/** Pays the invoice. `source` may be credit. */
export async function pay(
  loaded: Pick<Loaded, 'aggregate' | 'product'>,
  invoice: Uuid,
  attempt: Attempt,
  terms: PaymentTerms,
): Promise<PaymentDecision> {
  const { aggregate } = loaded
  const context = { now: attempt.now, supply: await attempt.digits(1) }
  const { payment, ...planned } = planPayment(aggregate, invoiceNamed(aggregate, invoice), terms, context)
  return { planned: await withSettlement(planned, invoice, loaded, attempt), payment: payment.locator }
}

/** Adds the consequences of a payment that `planned` contains. Takes digit locators only if it issues a reinstatement. */
export async function withSettlement(
  planned: Planned,
  locator: Uuid,
  { product }: Pick<Loaded, 'product'>,
  { now, digits }: Attempt,
): Promise<Planned> {
  const { aggregate } = planned
  const invoice = invoiceNamed(aggregate, locator)
  const waiting = reinstatementPaidBy(aggregate, invoice)
  const supply = await digits(waiting ? digitsForIssue(aggregate, waiting, now) : 0)
  return combineSteps(planned, planPaymentConsequences(aggregate, invoice, { product, now, supply }))
}

/**
 * Plans the consequences of paying the invoice, in full or in part. `before` already has the payment. Returns undefined if there
 * are none. Takes as many digit locators as issuing the reinstatement does.
 *
 * - The reinstatement that waits for this invoice is issued.
 * - A reinstatement whose amount assumes that this invoice is unpaid is closed.
 * - The grace period is settled once nothing is past due.
 *
 * A reversal needs no such step. The invoice is due again by the end of that day (brief 4.4), and the same write sets its timer.
 * If it is still unpaid then, a new grace period starts, even if the payment had issued a reinstatement.
 */
export function planPaymentConsequences(
  before: PolicyAggregate,
  invoice: Invoice,
  context: EffectContext,
): Planned | undefined {
  const waiting = reinstatementPaidBy(before, invoice)
  const resting = waiting ? undefined : reinstatementTakingOver(before, invoice)
  const step = waiting
    ? planIssue(before, waiting, context)
    : resting && planClosing(before, resting, context.now)
  const settled = planSettlement(step?.aggregate ?? before, context.now)
  return step ? combineSteps(step, settled) : settled
}

const invoiced = ({ lapseReinstatements }: PolicyAggregate): LapseReinstatement[] =>
  [...lapseReinstatements.values()].filter(one => reinstatementStatus(one) === 'invoiced')

const reinstatementPaidBy = (before: PolicyAggregate, invoice: Invoice): LapseReinstatement | undefined =>
  isOutstanding(invoice)
    ? undefined
    : invoiced(before).find(one => one.modificationLocator === invoice.policyModificationLocator)

/** Returns the reinstatement whose invoice takes this one over. */
const reinstatementTakingOver = (before: PolicyAggregate, invoice: Invoice): LapseReinstatement | undefined =>
  invoiced(before).find(one =>
    planOf(before, before.modifications.get(one.modificationLocator!)!)[0]?.takesOver?.includes(
      installmentOf(before, invoice).locator,
    ),
  )

/**
 * Calls the plugin (brief 5.6, getPostPaymentReversal) for the end of the grace period that starts because an invoice is unpaid
 * again. A grace period that is already open gets the same end. Runs where changes are recorded, so that no transaction that
 * takes back payments can skip it.
 *
 * Called once for each payment that is taken back, either by itself (`payment_reversal`) or because its invoice becomes void
 * (`payment_invalidation`). Not called if the product has no grace period. If the answer gives no end, the product's number of
 * days applies. Rejects failures with 422; from the clock (`isAttended` false) it logs them and sets no end.
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
  for (const payment of reversedPayments(before, plan.aggregate)) {
    const isVoid = invoiceStatus(plan.aggregate.invoices.get(payment.invoiceLocator)!) === 'invalidated'
    const operationType = isVoid ? 'payment_invalidation' : 'payment_reversal'
    const asked = { ...loaded, aggregate: planned.aggregate }
    const answer = await requestPluginAnswer(asked, attempt, {
      name: 'getPostPaymentReversal',
      answer: contract => contract.PostPaymentReversalResult,
      input: inputOf(payment, operationType, before, product.lapse.gracePeriodDays),
      accept: ({ gracePeriodEndTimestamp: endAt }) => {
        if (endAt !== undefined && endAt < attempt.now)
          throw invalidAnswer(
            'getPostPaymentReversal',
            [`gracePeriodEndTimestamp ${endAt} is before the reversal at ${attempt.now}`],
            product.plugins.getPostPaymentReversal!.path,
          )
        return { endAt }
      },
      onFailure: isAttended ? undefined : 'The end of the grace period is unchanged.',
    })
    planned = withEnd(planned, payment, isVoid, answer?.endAt, attempt.now)
  }
  return planned
}

const reversedPayments = (before: PolicyAggregate, after: PolicyAggregate): Payment[] =>
  [...after.payments.values()].filter(payment => {
    const was = before.payments.get(payment.locator)
    const isReversed =
      was !== undefined && paymentState(was) === 'posted' && paymentState(payment) === 'reversed'
    // Of the two payments of an offset, only the one of the invoice that asks for money leaves an invoice unpaid again.
    return isReversed && !(payment.source === 'offset' && payment.amount.minor < 0)
  })

/** Shows the former due time, not the new one. */
function inputOf(
  { locator, invoiceLocator }: Payment,
  operationType: PostPaymentReversalInput['operationType'],
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

/** Replaces the end by the one that the plugin gives. An end before the new due time ends the grace period as it starts. */
function withEnd(
  planned: Planned,
  { invoiceLocator }: Payment,
  isVoid: boolean,
  endAt: Instant | undefined,
  now: Instant,
): Planned {
  const { aggregate } = planned
  const invoice = aggregate.invoices.get(invoiceLocator)!
  const graceEndAt = endAt === undefined || isVoid ? undefined : later(endAt, invoice.dueAt)
  const invoices = putRecords(aggregate.invoices, [{ ...invoice, graceEndAt }])
  const set: Planned = { aggregate: { ...aggregate, invoices }, events: [] }
  return combineSteps(
    planned,
    set,
    endAt === undefined ? undefined : planGraceEndMove(set.aggregate, endAt, now),
  )
}
