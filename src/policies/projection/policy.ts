// A policy as answers show it. Segments, modification lists and sums are derived here, on read.
import { amountsDue } from '../../billing/bill.ts'
import type { PolicyInvoiceResponse } from '../../billing/contract.ts'
import { policyInvoiceResponse } from '../../billing/invoice-response.ts'
import type { ProductDefinition } from '../../configuration/configuration.ts'
import { documentsOf, documentsOfPolicy } from '../../documents/projection.ts'
import type { Uuid } from '../../platform/locators.ts'
import { type Money, toNumber } from '../../platform/money.ts'
import { type PolicyAggregate, type Quote, selectedQuote } from '../aggregate.ts'
import type { CancellationInfo, PolicyResponse } from '../contract/response.ts'
import { feesOf, feeTotal } from '../fold/fees.ts'
import { type Counting, isStanding } from '../fold/line.ts'
import { exposureResponses, policyCharacteristics } from './characteristics.ts'
import { modificationResponses } from './modifications.ts'
import { feeResponse, textIfAny } from './parts.ts'
import { policyView } from './view.ts'

export type ProjectionOptions = { summarizeQuotes: boolean }

/** The policy as PolicyResponse; with its selected quote, unless another is asked for. */
export function policyResponse(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  options: ProjectionOptions,
  quote: Quote = selectedQuote(aggregate),
  counts: Counting = isStanding,
): PolicyResponse {
  const { policy } = aggregate
  const view = policyView(aggregate, quote, product, counts)
  const fees = feesOf(aggregate, quote)
  return {
    locator: String(policy.locator),
    displayId: String(policy.locator),
    policyholderLocator: policy.policyholderLocator,
    productLocator: product.locator,
    productName: policy.productName,
    configVersion: policy.configVersion,
    createdTimestamp: String(policy.createdAt),
    updatedTimestamp: String(policy.updatedAt),
    issuedTimestamp: textIfAny(policy.issuedAt),
    originalContractStartTimestamp: String(policy.originalStart),
    originalContractEndTimestamp: String(policy.originalEnd),
    effectiveContractEndTimestamp: String(policy.effectiveEnd),
    cancellation: cancellationInfo(aggregate),
    paymentScheduleName: policy.paymentScheduleName,
    premiumReportName: policy.premiumReportName,
    characteristics: policyCharacteristics(view),
    modifications: modificationResponses(view),
    exposures: exposureResponses(view),
    grossFees: toNumber(feeTotal(fees, policy.currency)),
    grossFeesCurrency: policy.currency,
    fees: fees.map(feeResponse),
    documents: documentsOfPolicy(aggregate),
    invoices: invoiceResponses(aggregate),
    quoteSummary: options.summarizeQuotes ? quoteSummary(aggregate) : undefined,
  }
}

/** The policy's invoices; each total is the sum of the invoice's items, worked out here. */
function invoiceResponses(aggregate: PolicyAggregate): PolicyInvoiceResponse[] {
  const dueOf = new Map<Uuid, Money[]>()
  return [...aggregate.invoices.values()].map(invoice => {
    const modification = aggregate.modifications.get(invoice.policyModificationLocator)!
    const due = dueOf.get(modification.locator) ?? amountsDue(aggregate, modification)
    dueOf.set(modification.locator, due)
    return policyInvoiceResponse(invoice, {
      totalDue: due[invoice.installmentNumber - 1]!,
      transactionIssued: modification.issuedAt !== undefined,
      premiumReportName: aggregate.policy.premiumReportName,
      payments: [],
      documents: documentsOf(aggregate, 'invoice', invoice.locator),
    })
  })
}

/** The latest cancellation or withdrawal that is not reinstated (brief 1.1). */
function cancellationInfo({
  modifications,
  cancellations,
  reinstatements,
}: PolicyAggregate): CancellationInfo | undefined {
  const back = new Set(
    [...reinstatements.values()].filter(one => one.state === 'issued').map(one => one.cancellationLocator),
  )
  const undone = new Set(
    [...cancellations.values()].filter(one => back.has(one.locator)).map(one => one.modificationLocator),
  )
  const latest = [...modifications.values()]
    .filter(one => one.kind === 'cancellation' || one.kind === 'withdrawal')
    .filter(one => !undone.has(one.locator))
    .sort((a, b) => a.number - b.number)
    .at(-1)
  return (
    latest && {
      effectiveTimestamp: String(latest.effectiveAt),
      modificationLocator: latest.locator,
      modificationName: latest.name,
    }
  )
}

function quoteSummary(aggregate: PolicyAggregate): PolicyResponse['quoteSummary'] {
  return {
    selected: String(selectedQuote(aggregate).locator),
    notDiscarded: [...aggregate.quotes.values()]
      .filter(quote => quote.state !== 'discarded')
      .map(({ locator, name, state }) => ({ locator: String(locator), name, state })),
  }
}
