import { invoiceTypeOf } from '../../billing/billing.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, toNumber } from '../../kernel/money.ts'
import { amountsDue, futureInstallments, installmentOf, invoicesOf } from '../../policy/bills/amounts-due.ts'
import { billedItemsOf, shownItems } from '../../policy/projection/billed-items.ts'
import { underwritingResponse } from '../../policy/projection/characteristics.ts'
import { type PerilDetail, type PolicyAnswer, policyAnswer } from '../../policy/projection/policy.ts'
import { type PolicyAggregate, recordsWhere } from '../../policy/records/aggregate.ts'
import { type Invoice, invoiceStatus } from '../../policy/records/invoice.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/rate.ts'
import { conflictsOf } from '../mechanism/conflicts.ts'
import { allKinds, type PreviewOf } from '../mechanism/kind.ts'
import { previewedPriceChange } from '../mechanism/price-change.ts'
import { withCredit } from '../payments/credit.ts'
import type { PolicyPreview, PolicyPreviewResponse, PreviewedInvoiceResponse } from './contract.ts'

/** The answer before its token is signed. */
export type PreviewedTransaction = Omit<
  PolicyPreviewResponse,
  'policyWhenIssued' | 'previewToken' | 'previewTokenExpiresTimestamp'
> & { readonly policyWhenIssued: PolicyAnswer }

/** Throws whatever the transaction itself would throw, except for underwriting's decision and for conflicts. */
export async function decidePreview(
  loaded: Loaded,
  preview: PolicyPreview,
  attempt: Attempt,
  detail: PerilDetail = {},
): Promise<PreviewedTransaction> {
  const { product } = loaded
  const { planned, modificationLocator } = await findPreview(preview).carryOut(
    loaded,
    preview.request,
    attempt,
  )
  const { aggregate } = (await withCredit(loaded.aggregate, loaded, planned, attempt)).planned
  const modification = aggregate.modifications.get(modificationLocator)!
  const { underwriting } = modification
  return {
    price: await previewedPriceChange(aggregate, modification, product, attempt.explaining),
    policyWhenIssued: policyAnswer(aggregate, product, { summarizeQuotes: false, ...detail }),
    automatedUnderwritingResult: underwriting && underwritingResponse(underwriting),
    invoices: previewedInvoices(loaded.aggregate, aggregate),
    conflicts: conflictsOf(loaded.aggregate),
  }
}

/** Returns how the operation is previewed, as its kind defines it. */
export function findPreview({ kind }: PolicyPreview): PreviewOf<PolicyPreview['request']> {
  const found = allKinds().find(one => one.previews?.[kind])
  if (!found) throw new Error(`No kind of operation has a preview of '${kind}'.`)
  return found.previews![kind] as unknown as PreviewOf<PolicyPreview['request']>
}

/**
 * Returns the invoices of the transaction, and all bills that would be planned after it, in the order in which they are invoiced.
 * Leaves out an invoice that is carried forward, because the next bill has its amount.
 */
function previewedInvoices(before: PolicyAggregate, after: PolicyAggregate): PreviewedInvoiceResponse[] {
  const itemsOf = billedItemsOf(after)
  const known = new Map<Uuid, Money[]>()
  // If the product invoices on acceptance, the invoices of new business exist before the issue.
  const isIssuedBefore = ({ policyModificationLocator: by }: Invoice): boolean =>
    before.modifications.get(by)?.issuedAt !== undefined
  const isMade = (one: Invoice): boolean => !before.invoices.has(one.locator) || !isIssuedBefore(one)
  const made = recordsWhere(after.invoices, one => isMade(one) && countsAsBill(one))
  return [...made.map(invoice => installmentOf(after, invoice)), ...futureInstallments(after)]
    .sort((a, b) => a.issueAt - b.issueAt || a.start - b.start || a.number - b.number)
    .map(installment => {
      const { number, issueAt, modificationLocator } = installment
      const modification = after.modifications.get(modificationLocator)!
      const totals = known.get(modificationLocator) ?? amountsDue(after, modification)
      known.set(modificationLocator, totals)
      const invoice = invoicesOf(after, modification).find(one => one.installmentNumber === number)
      const totalDue = totals[number - 1]!
      return {
        issueTimestamp: String(issueAt),
        dueTimestamp: String((invoice ?? installment).dueAt),
        startTimestamp: String(installment.start),
        endTimestamp: String(installment.end),
        writeOff: installment.writeOff ?? false,
        invoiceType: invoiceTypeOf(installment, modification),
        totalDue: toNumber(totalDue),
        totalDueCurrency: totalDue.currency,
        financialTransactions: shownItems(after, itemsOf(installment), issueAt),
      }
    })
}

const countsAsBill = (invoice: Invoice): boolean =>
  !['invalidated', 'carriedForward'].includes(invoiceStatus(invoice))
