// Bills that a product's createInstallments plans (brief 4.3, 5.6). The plugin receives what a transaction charges, together with
// the rests of charges whose invoices are planned and not made. Its answer replaces the built-in schedule and those planned
// invoices.
//
// The plugin is not called for legacy lapses and their reinstatements, which have their own arithmetic
// (transactions/lapses/lapse.ts): the installments that continue after a lapse are those that the plugin planned. Nor is it called
// for fees changed by hand, which are billed immediately, or if there is nothing to bill.
import type { InstallmentsInput } from '../extension/plugins/contract.ts'
import { pluginPolicy, readAnswer } from '../extension/plugins/translation.ts'
import { notFound, Refusal, wrongState } from '../kernel/errors.ts'
import type { LocatorSupply, Uuid } from '../kernel/locators.ts'
import { earlier, later, type Span } from '../kernel/time.ts'
import { chargesOf, openInstallments, restsOf, standingInvoices } from '../policy/bills/amounts-due.ts'
import type { Charge } from '../policy/bills/charge.ts'
import { withIssued } from '../policy/fold/line.ts'
import { policyResponse } from '../policy/projection/policy.ts'
import {
  type Modification,
  type Policy,
  type PolicyAggregate,
  policyOfQuote,
  type Quote,
  quoteParts,
  recordsWhere,
  selectedQuote,
} from '../policy/records/aggregate.ts'
import {
  type Installment,
  type Invoice,
  invoiceStatus,
  type PlannedInstallment,
} from '../policy/records/invoice.ts'
import { type Loaded, NeedsWholePolicy } from '../policy/surroundings.ts'
import { hasPlugin } from '../product/configuration.ts'
import { type Attempt, ratingContext } from '../rating/rate.ts'
import { overbilledOf, planFromAnswer, pluginCharges, pluginPlannedInvoices } from './plugin-plan.ts'
import { type BillPlan, countInvoicedNow, withCarryForward } from './schedule.ts'

/**
 * Returns the bills that the product plans, and the locators for their invoices. Undefined if the product plans none, or if there
 * is nothing to bill.
 */
export type OwnBills = (
  before: PolicyAggregate,
  modification: Modification,
) => Promise<{ bills: BillPlan; supply: LocatorSupply } | undefined>

/** For transactions whose bills no plugin plans: the payment schedule does. */
export const BUILT_IN_BILLS: OwnBills = async () => undefined

/** Returns the plugin's bills of transactions that are billed together with their effect. */
export const ownBills =
  (operation: InstallmentsInput['operation'], loaded: Loaded, attempt: Attempt): OwnBills =>
  async (before, modification) => {
    const bills = await planTransactionByPlugin(before, modification, { operation }, loaded, attempt)
    return bills && { bills, supply: await attempt.digits(countInvoicedNow(bills.plan, attempt.now)) }
  }

/** Whether a plugin of the product plans the bills, instead of its payment schedule. */
export const plansItsBills = ({ product }: Pick<Loaded, 'product'>): boolean =>
  hasPlugin(product, 'createInstallments')

/** Plans the bills of new business. Undefined in the same cases as `planTransactionByPlugin`. */
export async function planNewBusinessByPlugin(
  before: PolicyAggregate,
  quote: Quote,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  if (!plansItsBills(loaded)) return undefined
  const { modification } = quoteParts(before, quote)
  const charges = chargesOf(before, modification)
  const coverage = { start: quote.contractStart, end: quote.contractEnd }
  const { policy } = before
  const order = {
    operation: 'newBusiness',
    charges,
    open: [],
    coverage,
    policy,
    quote,
    modification,
  } as const
  return await planByPlugin(before, order, loaded, attempt)
}

export type OwnTransaction = {
  readonly operation: InstallmentsInput['operation']
  /** The policy after the transaction is issued, if it differs. */
  readonly policy?: Policy
  /** Bills it separately from the existing plan, like another term. */
  readonly apart?: boolean
}

/**
 * Plans bills for the charges and the open installments of an issued policy. Undefined if the product does not plan its bills, or
 * if there is nothing to bill.
 */
export async function planTransactionByPlugin(
  before: PolicyAggregate,
  modification: Modification,
  { operation, policy = before.policy, apart = false }: OwnTransaction,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  if (!plansItsBills(loaded)) return undefined
  const charges = chargesOf(before, modification, operation === 'cancellation')
  const open = apart ? [] : openInstallments(before)
  const coverage = { start: modification.effectiveAt, end: modification.policyEnd }
  const order = { operation, charges, open, coverage, policy, modification }
  return await planByPlugin(before, order, loaded, attempt)
}

/** Replans open installments by the schedule of `policy`. Undefined in the same cases as `planTransactionByPlugin`. */
export async function planRescheduleByPlugin(
  before: PolicyAggregate,
  policy: Policy,
  coverage: Span,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  if (!plansItsBills(loaded)) return undefined
  const order = {
    operation: 'endorsement',
    charges: [],
    open: openInstallments(before),
    coverage,
    policy,
  } as const
  return await planByPlugin(before, order, loaded, attempt)
}

type Order = {
  readonly operation: InstallmentsInput['operation']
  readonly charges: readonly Charge[]
  /** Installments that the plan replaces. */
  readonly open: readonly PlannedInstallment[]
  /** The transaction's span. Empty if the transaction removes all cover, or if the policy ended before it. */
  readonly coverage: Span
  /** The policy as the transaction leaves it. */
  readonly policy: Policy
  /** Set for new business only. */
  readonly quote?: Quote
  /** Absent for a new schedule, which takes effect immediately. */
  readonly modification?: Modification
}

/**
 * Returns the plugin's plan; undefined if there is nothing to bill. Carries invoices forward only if the product sets a
 * threshold. Throws 422 if the answer is invalid.
 */
async function planByPlugin(
  before: PolicyAggregate,
  order: Order,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  if (loaded.unread !== undefined) throw new NeedsWholePolicy()
  const { product } = loaded
  const { operation, charges: own, policy, quote, modification } = order
  const open = [...order.open].sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
  const rests = restsOf(before, open)
  const charges = [...own, ...rests]
  if (charges.length === 0) return undefined
  const current = quote ? policyOfQuote(before.policy, quote) : before.policy
  const { currency, timeZone, originalStart, effectiveEnd, paymentScheduleName: oldName } = current
  const lastChargeEnd = charges.map(charge => charge.end).reduce(later)
  const { start, end } = billedSpan(order.coverage, charges)
  const countedLine = modification && !quote ? withIssued(modification.locator) : undefined
  const planned = { ...before, policy }
  const shown = policyResponse(
    planned,
    product,
    { summarizeQuotes: false },
    quote ?? selectedQuote(before),
    countedLine,
  )
  const { paymentScheduleName } = quote ?? policy
  const { path } = product.plugins.createInstallments!
  const input: InstallmentsInput = {
    operation,
    transactionType: operation,
    policy: pluginPolicy(shown, before, quote),
    charges: pluginCharges(before, own, rests),
    plannedInvoices: pluginPlannedInvoices(before, open),
    paymentScheduleName,
    oldPaymentScheduleName: quote ? paymentScheduleName : oldName,
    defaultPaymentTerms: {
      amount: String(product.defaultPaymentTerms.amount),
      unit: product.defaultPaymentTerms.unit,
    },
    coverageStartTimestamp: String(start),
    coverageEndTimestamp: String(end),
    productName: product.name,
    tenantTimeZone: timeZone,
  }
  const { InstallmentsResult } = await import('../extension/plugins/contract.ts')
  const context = ratingContext({ ...loaded, aggregate: before }, attempt, modification ?? attempt.now)
  const result = await context.callPlugin('createInstallments', input)
  const plan = planFromAnswer(readAnswer('createInstallments', InstallmentsResult, result, path), {
    operation,
    charges,
    overbilled: overbilledOf(input.charges),
    product,
    contract: { start: originalStart, end: later(effectiveEnd, lastChargeEnd) },
    currency,
    timeZone,
    now: attempt.now,
    uuid: () => attempt.supply.uuid(),
  })
  assertKeepable(plan)
  return { charges, plan: withCarryForward(plan, product.invoicing.carryForwardBelow, currency), open }
}

/**
 * Returns the span to bill. Scripts give installments this span, so it is never empty: an empty coverage is extended to the end of
 * the charges, or replaced by their span if they end before it.
 */
function billedSpan({ start, end }: Span, charges: readonly Charge[]): Span {
  if (start < end) return { start, end }
  const last = charges.map(charge => charge.end).reduce(later)
  return { start: start < last ? start : charges.map(charge => charge.start).reduce(earlier), end: last }
}

/** Characters per installment, because of the limit of a database row. */
const LARGEST_ITEMS = 1_500_000

function assertKeepable(plan: readonly Installment[]): void {
  const large = plan.find(({ items }) => JSON.stringify(items).length > LARGEST_ITEMS)
  if (large)
    throw new Refusal(
      'pluginLimit',
      `Plugin createInstallments puts ${Object.keys(large.items!).length} charges on one installment, which is more than can be stored; spread them over several installments.`,
    )
}

/**
 * Marks the fee as reversed by the modification `by` (brief 3.3). Throws 404 for an unknown fee, and 409 for a fee that is already
 * reversed or that no invoice asks for.
 */
export function withFeeReversed(
  aggregate: PolicyAggregate,
  installments: PolicyAggregate['installments'],
  locator: string,
  by: Uuid,
): PlannedInstallment {
  const feeOf = ({ fees = [] }: PlannedInstallment) => fees.find(one => one.locator === locator)
  const [installment] = recordsWhere(installments, one => feeOf(one) !== undefined)
  const fee = installment && feeOf(installment)
  if (!fee) throw notFound('fee', locator)
  const title = `Fee '${locator}' (${fee.name})`
  if (fee.reversedBy) throw wrongState(`${title} is already reversed.`)
  if (aggregate.modifications.get(installment.modificationLocator)!.issuedAt === undefined)
    throw wrongState(
      `${title} belongs to a transaction that is not issued; issue or invalidate the transaction first.`,
    )
  if (!isBilledByInvoice(aggregate, installment))
    throw wrongState(
      `${title} belongs to an installment that no invoice bills, so there is nothing to reverse.`,
    )
  const fees = installment.fees!.map(one => (one === fee ? { ...one, reversedBy: by } : one))
  return { ...installment, fees }
}

/** Whether an invoice asks for the installment, directly or through an installment that took it over. */
function isBilledByInvoice(aggregate: PolicyAggregate, installment: PlannedInstallment): boolean {
  const { modificationLocator, number, locator } = installment
  const isOwn = ({ policyModificationLocator, installmentNumber }: Invoice): boolean =>
    policyModificationLocator === modificationLocator && installmentNumber === number
  if (standingInvoices(aggregate).some(one => isOwn(one) && invoiceStatus(one) !== 'writtenOff')) return true
  const takers = recordsWhere(aggregate.installments, one => one.takesOver?.includes(locator) === true)
  return takers.some(one => isBilledByInvoice(aggregate, one))
}
