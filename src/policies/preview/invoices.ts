// The invoices that a transaction would make: one for each installment that it puts on the policy's plan.
import { amountsDue, chargesOf, invoicesOf, planOf } from '../../billing/bill.ts'
import { financialTransactions, MOST_ITEMISED, summedItems } from '../../billing/financial-transactions.ts'
import { INVOICED_TRANSACTIONS } from '../../billing/invoice.ts'
import { type InstallmentItem, installmentItems } from '../../billing/items.ts'
import type { ProductDefinition } from '../../configuration/configuration.ts'
import type { Uuid } from '../../platform/locators.ts'
import { type Money, toNumber } from '../../platform/money.ts'
import {
  type Modification,
  type PlannedInstallment,
  type PolicyAggregate,
  selectedQuote,
  those,
} from '../aggregate.ts'
import { allPieces, policyView, type RunPiece } from '../projection/view.ts'
import type { PreviewedInvoiceResponse } from './contract.ts'

/** Of the installments that `after` has and `before` has not, by the time of their invoices. */
export function previewedInvoices(
  before: PolicyAggregate,
  after: PolicyAggregate,
  product: ProductDefinition,
): PreviewedInvoiceResponse[] {
  const billingOf = billing(after, product)
  return those(after.installments, one => !before.installments.has(one.locator))
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
    .map(installment => {
      const { modification, totals } = billingOf(installment)
      const { number, issueAt } = installment
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
        financialTransactions: billedWith(after, installment).flatMap(one => {
          const { modification, items, segments } = billingOf(one)
          const billed = items[one.number - 1]!
          return financialTransactions(after, modification, billed, issueAt, run => segments.get(run)!)
        }),
      }
    })
}

/** The installment, and those of other modifications that its invoice bills in their place. */
const billedWith = (after: PolicyAggregate, installment: PlannedInstallment): PlannedInstallment[] => [
  installment,
  ...(installment.number === 1
    ? those(after.installments, one => one.absorbedBy === installment.modificationLocator)
    : []),
]

/** How a modification is billed, by its installments. */
type Billing = {
  readonly modification: Modification
  readonly totals: readonly Money[]
  readonly items: readonly (readonly InstallmentItem[])[]
  readonly segments: ReadonlyMap<Uuid, Uuid>
}

/** The billing that an installment is part of; the charges of each modification are laid on its plan once. */
function billing(
  after: PolicyAggregate,
  product: ProductDefinition,
): (of: Pick<PlannedInstallment, 'modificationLocator'>) => Billing {
  const pieces = allPieces(policyView(after, selectedQuote(after), product))
  const known = new Map<Uuid, Billing>()
  return ({ modificationLocator }) => {
    const earlier = known.get(modificationLocator)
    if (earlier) return earlier
    const modification = after.modifications.get(modificationLocator)!
    const made: Billing = {
      modification,
      totals: amountsDue(after, modification),
      items: itemsOf(after, modification),
      segments: segmentsOf(pieces, modification),
    }
    known.set(modificationLocator, made)
    return made
  }
}

function itemsOf(after: PolicyAggregate, modification: Modification): (readonly InstallmentItem[])[] {
  const items = installmentItems(planOf(after, modification), chargesOf(after, modification))
  const count = items.reduce((sum, some) => sum + some.length, 0)
  return count > MOST_ITEMISED ? items.map(summedItems) : [...items]
}

/** Of each run, the segment that the modification made of it, else the one that it replaced. */
function segmentsOf(pieces: readonly RunPiece[], { locator }: Modification): Map<Uuid, Uuid> {
  const replaced = pieces.filter(({ piece }) => piece.replacedBy === locator)
  const made = pieces.filter(({ piece }) => piece.madeBy === locator)
  return new Map([...replaced, ...made].map(one => [one.run.locator, one.locator]))
}
