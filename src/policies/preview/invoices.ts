// The invoices that a transaction would make: one for each installment that it puts on the policy's plan.
import { amountsDue, billedCharges, invoicesOf, planOf } from '../../billing/bill.ts'
import type { FinancialTransactionResponse } from '../../billing/contract.ts'
import { financialTransactions, MOST_ITEMISED, summedItems } from '../../billing/financial-transactions.ts'
import { INVOICED_TRANSACTIONS } from '../../billing/invoice.ts'
import { type InstallmentItem, installmentItems } from '../../billing/items.ts'
import type { ProductDefinition } from '../../configuration/configuration.ts'
import type { Uuid } from '../../platform/locators.ts'
import { toNumber } from '../../platform/money.ts'
import type { Instant } from '../../platform/time.ts'
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
  const itemised = itemising(after, product)
  return those(after.installments, one => !before.installments.has(one.locator))
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start)
    .map(installment => {
      const modification = after.modifications.get(installment.modificationLocator)!
      const { number, issueAt } = installment
      const invoice = invoicesOf(after, modification).find(one => one.installmentNumber === number)
      const totalDue = amountsDue(after, modification)[number - 1]!
      return {
        issueTimestamp: String(issueAt),
        dueTimestamp: String((invoice ?? installment).dueAt),
        startTimestamp: String(installment.start),
        endTimestamp: String(installment.end),
        writeOff: false,
        invoiceType: number === 1 ? INVOICED_TRANSACTIONS[modification.kind] : 'installment',
        totalDue: toNumber(totalDue),
        totalDueCurrency: totalDue.currency,
        financialTransactions: itemised(installment, issueAt),
      }
    })
}

/** What an installment bills, posted at a time. The charges of each modification are laid on its plan once. */
function itemising(
  after: PolicyAggregate,
  product: ProductDefinition,
): (installment: PlannedInstallment, postedAt: Instant) => FinancialTransactionResponse[] {
  const pieces = allPieces(policyView(after, selectedQuote(after), product))
  const items = new Map<Uuid, (readonly InstallmentItem[])[]>()
  const segments = new Map<Uuid, Map<Uuid, Uuid>>()
  return ({ modificationLocator, number }, postedAt) => {
    const billed =
      items.get(modificationLocator) ?? itemsOf(after, after.modifications.get(modificationLocator)!)
    items.set(modificationLocator, billed)
    return financialTransactions(after, billed[number - 1]!, postedAt, (run, madeBy) => {
      const made = segments.get(madeBy) ?? segmentsOf(pieces, madeBy)
      segments.set(madeBy, made)
      return made.get(run)!
    })
  }
}

function itemsOf(after: PolicyAggregate, modification: Modification): (readonly InstallmentItem[])[] {
  const items = installmentItems(planOf(after, modification), billedCharges(after, modification))
  const count = items.reduce((sum, some) => sum + some.length, 0)
  return count > MOST_ITEMISED ? items.map(summedItems) : [...items]
}

/** Of each run, the segment that the modification made of it, else the one that it replaced. */
function segmentsOf(pieces: readonly RunPiece[], by: Uuid): Map<Uuid, Uuid> {
  const replaced = pieces.filter(({ piece }) => piece.replacedBy === by)
  const made = pieces.filter(({ piece }) => piece.madeBy === by)
  return new Map([...replaced, ...made].map(one => [one.run.locator, one.locator]))
}
