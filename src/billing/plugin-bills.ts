// Bills that a product plans by its own code (brief 4.3, 5.6): createInstallments is given what a transaction charges,
// together with what is left of charges whose invoices are planned and not made, and its answer takes the place of the
// built-in schedule and of those planned invoices.
//
// What a legacy lapse settles, and the way back from it, is arithmetic of its own (transactions/lapses/billing.ts): the installments
// that go on after it are those that the plugin planned. Fees added and taken back by hand are billed at once, and a
// transaction that charges nothing, with nothing open, has nothing to be planned: the plugin is not called.
import type { InstallmentsInput, PluginPolicy } from '../extension/plugins/contract.ts'
import { asPluginInput, readAnswer } from '../extension/plugins/translation.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply } from '../kernel/locators.ts'
import { type Instant, later, type Span } from '../kernel/time.ts'
import { chargesOf, openInstallments, restsOf } from '../policy/bills/amounts-due.ts'
import type { Charge } from '../policy/bills/charge.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import { withIssued } from '../policy/fold/line.ts'
import { policyResponse } from '../policy/projection/policy.ts'
import {
  type Modification,
  type Policy,
  type PolicyAggregate,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../policy/records/aggregate.ts'
import type { Installment, PlannedInstallment } from '../policy/records/invoice.ts'
import { type Loaded, NeedsWholePolicy } from '../policy/surroundings.ts'
import { hasPlugin, type PluginCaller, type ProductDefinition } from '../product/configuration.ts'
import { type Attempt, ratingContext } from '../rating/rate.ts'
import { answeredPlan, pluginCharges, pluginPlannedInvoices } from './plugin-plan.ts'
import { type BillPlan, carryingForward, invoicedAtOnce } from './schedule.ts'

export type OwnPlanOrder = {
  readonly operation: InstallmentsInput['operation']
  /** The transaction's charges. */
  readonly charges: readonly Charge[]
  /** Installments that the plan takes the place of; `before` has them. */
  readonly open: readonly PlannedInstallment[]
  readonly scheduleName: string
  /** The schedule that the policy had, where this is another one. */
  readonly oldScheduleName?: string
  /** The time that the transaction is about; where that is nothing, up to where its charges end. */
  readonly coverage: Span
  /** The policy with all that is pending. */
  policy(): PolicyResponse
}

export type OwnPlanContext = {
  readonly product: ProductDefinition
  readonly now: Instant
  readonly supply: Pick<LocatorSupply, 'uuid'>
  /** Exposures of the policy were not read. */
  readonly unread: boolean
  readonly callPlugin: PluginCaller
}

/**
 * How a transaction is billed where its product plans that itself, with the locators that its invoices take; undefined
 * where the product does not, or nothing is to be billed.
 */
export type OwnBills = (
  before: PolicyAggregate,
  modification: Modification,
) => Promise<{ bills: BillPlan; supply: LocatorSupply } | undefined>

/** Bills by the built-in schedules, without a plugin. */
export const BUILT_IN_BILLS: OwnBills = async () => undefined

/**
 * The bills as the product's plugin plans them; undefined where nothing is to be billed. Small invoices are carried forward
 * as those of a built-in plan are. Refuses (422) an answer that does not hold.
 */
export async function ownPlan(
  before: PolicyAggregate,
  order: OwnPlanOrder,
  { product, now, supply, unread, callPlugin }: OwnPlanContext,
): Promise<BillPlan | undefined> {
  if (unread) throw new NeedsWholePolicy()
  const { operation, charges: own } = order
  const open = [...order.open].sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
  const rests = restsOf(before, open)
  const charges = [...own, ...rests]
  if (charges.length === 0) return undefined
  const { currency, timeZone, originalStart, effectiveEnd } = before.policy
  const ends = charges.map(charge => charge.end).reduce(later)
  const coverage =
    order.coverage.start < order.coverage.end ? order.coverage : { ...order.coverage, end: ends }
  const input: InstallmentsInput = {
    operation,
    transactionType: operation,
    policy: asPluginInput(order.policy()) as PluginPolicy,
    charges: pluginCharges(before, own, rests),
    plannedInvoices: pluginPlannedInvoices(before, open),
    paymentScheduleName: order.scheduleName,
    ...(order.oldScheduleName !== undefined && { oldPaymentScheduleName: order.oldScheduleName }),
    defaultPaymentTerms: {
      amount: String(product.defaultPaymentTerms.amount),
      unit: product.defaultPaymentTerms.unit,
    },
    coverageStartTimestamp: String(coverage.start),
    coverageEndTimestamp: String(coverage.end),
    productName: product.name,
    tenantTimeZone: timeZone,
  }
  const { InstallmentsResult } = await import('../extension/plugins/contract.ts')
  const answer = readAnswer(
    'createInstallments',
    InstallmentsResult,
    await callPlugin('createInstallments', input),
    product.plugins.createInstallments!.path,
  )
  const plan = answeredPlan(answer, {
    operation,
    charges,
    product,
    contract: { start: originalStart, end: later(effectiveEnd, ends) },
    currency,
    timeZone,
    now,
    uuid: () => supply.uuid(),
  })
  assertKeepable(plan)
  return { charges, plan: carryingForward(plan, product, currency), open }
}

/** Characters of the items of one installment, as they are kept in a row of the database. */
const LARGEST_ITEMS = 1_500_000

function assertKeepable(plan: readonly Installment[]): void {
  const large = plan.find(({ items }) => JSON.stringify(items).length > LARGEST_ITEMS)
  if (large)
    throw new Refusal(
      'pluginLimit',
      `Plugin createInstallments puts ${Object.keys(large.items!).length} charges on one installment, more than are kept; put them on several.`,
    )
}

// What each transaction gives the plugin to plan.
/** Whether the product plans the bills of its policies itself. */
export const plansItsBills = ({ product }: Pick<Loaded, 'product'>): boolean =>
  hasPlugin(product, 'createInstallments')

type Order = Omit<OwnPlanOrder, 'policy'> & {
  /** The policy as it will be. */
  policy?: Policy
  quote?: Quote
  /** New business and a new schedule have none; a schedule takes effect when it is asked for. */
  modification?: Modification
}

async function plannedByPlugin(
  before: PolicyAggregate,
  { policy = before.policy, quote = selectedQuote(before), modification, ...order }: Order,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  const counts = modification && withIssued(modification.locator)
  return await ownPlan(
    before,
    {
      ...order,
      policy: () =>
        policyResponse({ ...before, policy }, loaded.product, { summarizeQuotes: false }, quote, counts),
    },
    ratingContext(
      { ...loaded, aggregate: before },
      attempt,
      modification ??
        (order.operation === 'newBusiness' ? quoteParts(before, quote).modification : attempt.now),
    ),
  )
}

/** The plan of a quote: all that it charges, over its contract. Undefined as of `ownTransaction`. */
export async function ownNewBusiness(
  before: PolicyAggregate,
  quote: Quote,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  if (!plansItsBills(loaded)) return undefined
  const { modification } = quoteParts(before, quote)
  return await plannedByPlugin(
    before,
    {
      operation: 'newBusiness',
      charges: chargesOf(before, modification),
      open: [],
      scheduleName: quote.paymentScheduleName,
      coverage: { start: quote.contractStart, end: quote.contractEnd },
      quote,
    },
    loaded,
    attempt,
  )
}

export type OwnTransaction = Pick<OwnPlanOrder, 'operation'> & {
  /** The policy as it will be once the transaction is issued, where that is not as it is. */
  readonly policy?: Policy
  /** Whether it is billed separately from the existing plan, like another term. */
  readonly apart?: boolean
}

/**
 * The bills of a transaction of an issued policy, which `before` has: what it charges, and what is planned and not
 * invoiced of the policy. Undefined where the product does not plan bills itself, or there is nothing to bill.
 */
export async function ownTransaction(
  before: PolicyAggregate,
  modification: Modification,
  { operation, policy = before.policy, apart = false }: OwnTransaction,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  if (!plansItsBills(loaded)) return undefined
  return await plannedByPlugin(
    before,
    {
      operation,
      charges: chargesOf(before, modification),
      open: apart ? [] : openInstallments(before),
      ...schedules(before, policy),
      coverage: { start: modification.effectiveAt, end: modification.policyEnd },
      policy,
      modification,
    },
    loaded,
    attempt,
  )
}

/**
 * What is planned and not invoiced of an issued policy, planned anew by the schedule that `policy` has. Undefined as of
 * `ownTransaction`.
 */
export async function ownReschedule(
  before: PolicyAggregate,
  policy: Policy,
  coverage: Span,
  loaded: Loaded,
  attempt: Attempt,
): Promise<BillPlan | undefined> {
  if (!plansItsBills(loaded)) return undefined
  return await plannedByPlugin(
    before,
    {
      operation: 'endorsement',
      charges: [],
      open: openInstallments(before),
      ...schedules(before, policy),
      coverage,
      policy,
    },
    loaded,
    attempt,
  )
}

/** The schedule that the policy will have, and the one that it has if that is another. */
const schedules = (
  { policy: { paymentScheduleName: old } }: PolicyAggregate,
  { paymentScheduleName: scheduleName }: Policy,
): Pick<OwnPlanOrder, 'scheduleName' | 'oldScheduleName'> => ({
  scheduleName,
  ...(scheduleName !== old && { oldScheduleName: old }),
})

/** For transactions that bill in the step that carries them out. */
export const ownBills =
  (operation: OwnPlanOrder['operation'], loaded: Loaded, attempt: Attempt): OwnBills =>
  async (before, modification) => {
    const bills = await ownTransaction(before, modification, { operation }, loaded, attempt)
    return bills && { bills, supply: await attempt.digits(invoicedAtOnce(bills.plan, attempt.now)) }
  }
