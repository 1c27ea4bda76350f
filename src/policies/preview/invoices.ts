// The invoices that a transaction would make: one for each installment that it puts on the policy's plan.
import { amountsDue, billedCharges, invoicesOf, planOf } from '../../billing/bill.ts'
import {
  financialTransactions,
  MOST_ITEMISED,
  type SegmentLocatorOf,
  summedItems,
} from '../../billing/financial-transactions.ts'
import { INVOICED_TRANSACTIONS } from '../../billing/invoice.ts'
import { type InstallmentItem, installmentItems } from '../../billing/items.ts'
import type { ProductDefinition } from '../../configuration/configuration.ts'
import type { Uuid } from '../../platform/locators.ts'
import { type Money, toNumber } from '../../platform/money.ts'
import { type Modification, type PolicyAggregate, selectedQuote, those } from '../aggregate.ts'
import { allPieces, policyView } from '../projection/view.ts'
import type { PreviewedInvoiceResponse } from './contract.ts'

/** Of the installments that `after` has and `before` has not, by the time of their invoices. */
export function previewedInvoices(
  before: PolicyAggregate,
  after: PolicyAggregate,
  product: ProductDefinition,
): PreviewedInvoiceResponse[] {
  const billingOf = billing(after)
  const segmentOf = segments(after, product)
  return those(after.installments, one => !before.installments.has(one.locator))
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
    .map(installment => {
      const { number, issueAt } = installment
      const { modification, totals, items } = billingOf(installment.modificationLocator)
      const invoice = invoicesOf(after, modification).find(one => one.installmentNumber === number)
      const totalDue = totals[number - 1]!
      return {
        issueTimestamp: String(issueAt),
        dueTimestamp: String((invoice ?? installment).dueAt),
        startTimestamp: String(installment.start),
        endTimestamp: String(installment.end),
        writeOff: false,
        invoiceType: number === 1 ? INVOICED_TRANSACTIONS[modification.kind] : 'installment',
        totalDue: toNumber(totalDue),
        totalDueCurrency: totalDue.currency,
        financialTransactions: financialTransactions(after, items[number - 1]!, issueAt, segmentOf),
      }
    })
}

/** How a modification is billed, by its installments. */
type Billing = {
  readonly modification: Modification
  readonly totals: readonly Money[]
  readonly items: readonly (readonly InstallmentItem[])[]
}

/** The billing of a modification; its charges are laid on its plan once. */
function billing(after: PolicyAggregate): (of: Uuid) => Billing {
  const known = new Map<Uuid, Billing>()
  return of => {
    const earlier = known.get(of)
    if (earlier) return earlier
    const modification = after.modifications.get(of)!
    const made: Billing = {
      modification,
      totals: amountsDue(after, modification),
      items: itemsOf(after, modification),
    }
    known.set(of, made)
    return made
  }
}

function itemsOf(after: PolicyAggregate, modification: Modification): (readonly InstallmentItem[])[] {
  const items = installmentItems(planOf(after, modification), billedCharges(after, modification))
  const count = items.reduce((sum, some) => sum + some.length, 0)
  return count > MOST_ITEMISED ? items.map(summedItems) : [...items]
}

/** Of a run, the segment that the modification made of it, else the one that it replaced. */
function segments(after: PolicyAggregate, product: ProductDefinition): SegmentLocatorOf {
  const pieces = allPieces(policyView(after, selectedQuote(after), product))
  const known = new Map<Uuid, Map<Uuid, Uuid>>()
  return (run, by) => {
    const of =
      known.get(by) ??
      new Map(
        [
          ...pieces.filter(({ piece }) => piece.replacedBy === by),
          ...pieces.filter(({ piece }) => piece.madeBy === by),
        ].map(one => [one.run.locator, one.locator]),
      )
    known.set(by, of)
    return of.get(run)!
  }
}
