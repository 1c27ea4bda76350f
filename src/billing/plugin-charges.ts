// What createInstallments is given to plan: the charges, and the planned invoices that its answer takes the place of, in
// the words of answers with numbers as text (brief 4.1, 4.3, 5.6). Pure.
import type { PluginCharge, Textual } from '../extension/plugins/contract.ts'
import { asPluginInput } from '../extension/plugins/input.ts'
import { shardOfDigits } from '../kernel/locators.ts'
import { minus, toText } from '../kernel/money.ts'
import { chargesOf, planOf } from '../policy/bills/amounts-due.ts'
import { type Charge, installmentFeeCharges } from '../policy/bills/charge.ts'
import type { FutureInvoiceResponse } from '../policy/contract/billing.ts'
import { billedItemsOf, segmentLocators, shownItems, sourceOf } from '../policy/projection/billed-items.ts'
import type { PolicyAggregate } from '../policy/records/aggregate.ts'
import type { PlannedInstallment } from '../policy/records/installment.ts'

/** The transaction's own charges, which are new, and the rests of others that were invoiced in part or not at all. */
export function pluginCharges(
  aggregate: PolicyAggregate,
  own: readonly Charge[],
  rests: readonly Charge[],
): PluginCharge[] {
  const originals = originalsOf(aggregate, rests)
  const segmentLocatorOf = segmentLocators(aggregate)
  const shard = shardOfDigits(aggregate.policy.locator)
  const shown = (charge: Charge, original: Charge): PluginCharge => {
    const { start, end } = charge.rest ?? charge
    const isNew = charge === original
    return {
      chargeId: charge.id,
      type: charge.type,
      category: isNew ? 'new' : 'previously_invoiced',
      isNew,
      amount: toText(charge.amount),
      originalAmount: toText(original.amount),
      previouslyInvoicedAmount: toText(minus(original.amount, charge.amount)),
      amountCurrency: charge.amount.currency,
      coverageStartTimestamp: String(start),
      coverageEndTimestamp: String(end),
      policyModificationLocator: charge.policyModificationLocator,
      ...('perilLocator' in charge && { perilLocator: charge.perilLocator }),
      ...sourceOf(charge, shard, segmentLocatorOf),
    }
  }
  return [
    ...own.map(charge => shown(charge, charge)),
    ...rests.map(rest => shown(rest, originals.get(rest.id)!)),
  ]
}

/** The charges that rests are of, as their transactions made them. */
function originalsOf(aggregate: PolicyAggregate, rests: readonly Charge[]): ReadonlyMap<string, Charge> {
  const makers = new Set(rests.map(rest => rest.policyModificationLocator))
  return new Map(
    [...makers]
      .map(locator => aggregate.modifications.get(locator)!)
      .flatMap(maker => [...chargesOf(aggregate, maker), ...installmentFeeCharges(planOf(aggregate, maker))])
      .map(charge => [charge.id, charge]),
  )
}

/** Most items of planned invoices that a plugin is given one by one: reading them is work for the sandbox. */
const MOST_GIVEN = 1_000

/** The planned invoices. Above 1,000 items in all, those of the same type and name are one; the charges have each. */
export function pluginPlannedInvoices(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
): Textual<FutureInvoiceResponse>[] {
  const planned = installments.map(billedItemsOf(aggregate))
  const itemised = planned.reduce((count, items) => count + items.length, 0) <= MOST_GIVEN
  const responses = installments.map(
    ({ issueAt, dueAt, start, end, writeOff = false }, at): FutureInvoiceResponse => ({
      issueTimestamp: String(issueAt),
      dueTimestamp: String(dueAt),
      startTimestamp: String(start),
      endTimestamp: String(end),
      writeOff,
      financialTransactions: shownItems(aggregate, planned[at]!, issueAt, itemised),
    }),
  )
  return asPluginInput(responses) as Textual<FutureInvoiceResponse>[]
}
