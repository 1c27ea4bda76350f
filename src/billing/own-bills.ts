// The bills of a policy's transactions where its product plans them by a plugin (billing/own-plan.ts): what each
// transaction gives the plugin to plan.
import type { Span } from '../kernel/time.ts'
import { chargesOf } from '../policy/bills/amounts-due.ts'
import { withIssued } from '../policy/fold/line.ts'
import { policyResponse } from '../policy/projection/policy.ts'
import { quoteParts } from '../policy/quote-parts.ts'
import {
  type Modification,
  type Policy,
  type PolicyAggregate,
  type Quote,
  selectedQuote,
} from '../policy/records/aggregate.ts'
import type { Loaded } from '../policy/surroundings.ts'
import { hasPlugin } from '../product/plugins.ts'
import { type Attempt, ratingContext } from '../rating/attempt.ts'
import { openInstallments } from './balance.ts'
import { type OwnBills, type OwnPlanOrder, ownPlan } from './own-plan.ts'
import type { Replan } from './replan.ts'
import { invoicedAtOnce } from './schedule.ts'

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
): Promise<Replan | undefined> {
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
): Promise<Replan | undefined> {
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
  /** Whether it is billed apart from what is planned already: another term is. */
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
): Promise<Replan | undefined> {
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
): Promise<Replan | undefined> {
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

/** For transactions that bill in one step with what they do. */
export const ownBills =
  (operation: OwnPlanOrder['operation'], loaded: Loaded, attempt: Attempt): OwnBills =>
  async (before, modification) => {
    const bills = await ownTransaction(before, modification, { operation }, loaded, attempt)
    return bills && { bills, supply: await attempt.digits(invoicedAtOnce(bills.plan, attempt.now)) }
  }
