// Bills that a product plans by its own code (brief 4.3, 5.6): createInstallments is given what a transaction charges,
// together with what is left of charges whose invoices are planned and not made, and its answer takes the place of the
// built-in schedule and of those planned invoices.
//
// What a legacy lapse settles, and the way back from it, is arithmetic of its own (transactions/lapses/billing.ts): the installments
// that go on after it are those that the plugin planned. Fees added and taken back by hand are billed at once, and a
// transaction that charges nothing, with nothing open, has nothing to be planned: the plugin is not called.

import { readAnswer } from '../extension/plugins/answers.ts'
import type { InstallmentsInput, PluginPolicy } from '../extension/plugins/contract.ts'
import { asPluginInput } from '../extension/plugins/input.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply } from '../kernel/locators.ts'
import { type Instant, later, type Span } from '../kernel/time.ts'
import { restsOf } from '../policy/bills/amounts-due.ts'
import type { Charge } from '../policy/bills/charge.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import { NeedsWholePolicy } from '../policy/part.ts'
import type { Modification, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { Installment, PlannedInstallment } from '../policy/records/installment.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { PluginCaller } from '../product/plugins.ts'
import { carryingForward } from './bill.ts'
import { answeredPlan } from './plan-answer.ts'
import { pluginCharges, pluginPlannedInvoices } from './plugin-charges.ts'
import type { Replan } from './replan.ts'

export type OwnPlanOrder = {
  readonly operation: InstallmentsInput['operation']
  /** What the transaction charges. */
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
) => Promise<{ bills: Replan; supply: LocatorSupply } | undefined>

/** Bills as the built-in schedules plan them: nobody else is asked. */
export const BUILT_IN_BILLS: OwnBills = async () => undefined

/**
 * The bills as the product's plugin plans them; undefined where nothing is to be billed. Small invoices are carried forward
 * as those of a built-in plan are. Refuses (422) an answer that does not hold.
 */
export async function ownPlan(
  before: PolicyAggregate,
  order: OwnPlanOrder,
  { product, now, supply, unread, callPlugin }: OwnPlanContext,
): Promise<Replan | undefined> {
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
