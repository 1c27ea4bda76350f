// A policy as answers show it. Segments, modification lists and sums are derived here, on read.
import { toNumber } from '../../kernel/money.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { CancellationInfo, PolicyResponse } from '../contract/response.ts'
import { type FeeInForce, feesOf, feeTotal } from '../fold/fees.ts'
import { type Counting, isIssued, isStanding, lineOf, standingCancellations } from '../fold/line.ts'
import { type PolicyAggregate, type Quote, selectedQuoteIfAny } from '../records/aggregate.ts'
import { characteristicsToRead, exposureResponses, policyCharacteristics } from './characteristics.ts'
import { documentsOfPolicy } from './documents.ts'
import { invoiceResponses } from './invoices.ts'
import { withLazy } from './lazy.ts'
import { modificationResponses } from './modifications.ts'
import { feeResponse, textIfAny } from './parts.ts'
import { policyView } from './view.ts'

export type ProjectionOptions = { summarizeQuotes: boolean }

/**
 * The policy as PolicyResponse; with its selected quote, unless another is asked for. Segments of accepted
 * transactions show, and their fees do not, unless it is told what counts. A policy that follows no quote shows what is
 * its own: no quote's segments, modifications, exposures and fees.
 */
export function policyResponse(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  options: ProjectionOptions,
  quote: Quote | undefined = selectedQuoteIfAny(aggregate),
  counts?: Counting,
): PolicyResponse {
  const { policy } = aggregate
  const view = quote && policyView(aggregate, quote, product, counts ?? isStanding)
  const fees = quote ? feesInForce(aggregate, quote, counts) : []
  return {
    ...ownProperties(aggregate, product),
    characteristics: view ? policyCharacteristics(view) : [],
    modifications: view ? modificationResponses(view) : [],
    exposures: view ? exposureResponses(view) : [],
    grossFees: toNumber(feeTotal(fees, policy.currency)),
    grossFeesCurrency: policy.currency,
    fees: fees.map(feeResponse),
    documents: documentsOfPolicy(aggregate),
    invoices: invoiceResponses(aggregate),
    quoteSummary: options.summarizeQuotes ? quoteSummary(aggregate) : undefined,
  }
}

/** As `policyResponse`, for who reads some of it: each part that is work is made when it is first read. */
export function policyToRead(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  quote: Quote,
  counts?: Counting,
): PolicyResponse {
  const { policy } = aggregate
  const view = policyView(aggregate, quote, product, counts ?? isStanding)
  const fees = (): FeeInForce[] => feesInForce(aggregate, quote, counts)
  const own = { ...ownProperties(aggregate, product), grossFeesCurrency: policy.currency }
  const making: Partial<{ [Name in keyof PolicyResponse]: () => PolicyResponse[Name] }> = {
    characteristics: () => characteristicsToRead(view),
    modifications: () => modificationResponses(view),
    exposures: () => exposureResponses(view),
    grossFees: () => toNumber(feeTotal(fees(), policy.currency)),
    fees: () => fees().map(feeResponse),
    documents: () => documentsOfPolicy(aggregate),
    invoices: () => invoiceResponses(aggregate),
  }
  for (const [name, make] of Object.entries(making)) withLazy(own, name, make)
  return own as unknown as PolicyResponse
}

const feesInForce = (aggregate: PolicyAggregate, quote: Quote, counts: Counting | undefined): FeeInForce[] =>
  feesOf(aggregate, quote, lineOf(aggregate, quote, counts ?? isIssued))

/** What the policy's own row says, and its cancellation. */
function ownProperties(aggregate: PolicyAggregate, product: ProductDefinition) {
  const { policy } = aggregate
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
  }
}

/** The latest cancellation or withdrawal that is not reinstated (brief 1.1). */
function cancellationInfo(aggregate: PolicyAggregate): CancellationInfo | undefined {
  const latest = standingCancellations(aggregate).at(-1)
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
    selected: String(selectedQuoteIfAny(aggregate)?.locator ?? ''),
    notDiscarded: [...aggregate.quotes.values()]
      .filter(quote => quote.state !== 'discarded')
      .map(({ locator, name, state }) => ({ locator: String(locator), name, state })),
  }
}
