import { type Refusal, wrongState } from '../../kernel/errors.ts'
import { type QuoteLocator, shardOfDigits } from '../../kernel/locators.ts'
import { toNumber } from '../../kernel/money.ts'
import { billedCharges, planOf } from '../../policy/bills/amounts-due.ts'
import { installmentItems } from '../../policy/bills/items.ts'
import type { PolicyPriceResponse } from '../../policy/contract/billing.ts'
import { feesOf, feeTotal } from '../../policy/fold/line.ts'
import { financialTransactions, MOST_ITEMISED, summedItems } from '../../policy/projection/billed-items.ts'
import {
  exposureResponses,
  feeResponse,
  policyCharacteristics,
  textIfAny,
  underwritingResponse,
} from '../../policy/projection/characteristics.ts'
import { perilSegmentLocator, policyView } from '../../policy/projection/policy.ts'
import { documentsOf } from '../../policy/projection/records.ts'
import {
  type Modification,
  type PolicyAggregate,
  type PolicySegment,
  type Quote,
  quoteParts,
} from '../../policy/records/aggregate.ts'
import { quoteOf } from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { policyPriceResponse } from '../../rating/price.ts'
import type { RecordKind } from '../mechanism/kind.ts'
import type { PolicyQuoteInvoiceResponse, PolicyQuoteResponse } from './contract-quote.ts'

export const QUOTES: RecordKind<QuoteLocator, Quote, PolicyQuoteResponse> = {
  name: 'quote',
  form: 'digits',
  select: quoteLocator => ({ quoteLocator }),
  all: ({ quotes }) => quotes.values(),
  find: quoteOf,
  show: quoteResponse,
}

export function quoteResponse(
  aggregate: PolicyAggregate,
  quote: Quote,
  product: ProductDefinition,
): PolicyQuoteResponse {
  const { policy } = aggregate
  const view = policyView(aggregate, quote, product, () => false)
  const { modification, segment } = quoteParts(aggregate, quote)
  const fees = feesOf(aggregate, quote, view.line)
  return {
    locator: String(quote.locator),
    name: quote.name,
    policyholderLocator: policy.policyholderLocator,
    policyLocator: String(policy.locator),
    productLocator: product.locator,
    productName: policy.productName,
    state: quote.state,
    selected: quote.selected,
    createdTimestamp: String(quote.createdAt),
    updatedTimestamp: String(quote.updatedAt),
    issuedTimestamp: textIfAny(quote.issuedAt),
    contractStartTimestamp: String(quote.contractStart),
    contractEndTimestamp: String(quote.contractEnd),
    paymentScheduleName: quote.paymentScheduleName,
    characteristics: policyCharacteristics(view)[0]!,
    exposures: exposureResponses(view, view.exposures),
    documents: documentsOf(aggregate, 'quote', quote.locator),
    invoices: plannedInvoices(aggregate, modification, segment),
    grossFees: isPriced(aggregate, quote) ? toNumber(feeTotal(fees, policy.currency)) : undefined,
    grossFeesCurrency: policy.currency,
    fees: fees.map(feeResponse),
    automatedUnderwritingResult: quote.underwriting && underwritingResponse(quote.underwriting),
  }
}

function plannedInvoices(
  aggregate: PolicyAggregate,
  modification: Modification,
  segment: PolicySegment,
): PolicyQuoteInvoiceResponse[] {
  const plan = planOf(aggregate, modification)
  if (plan.length === 0) return []
  const all = installmentItems(plan, billedCharges(aggregate, modification))
  const itemised = all.reduce((count, items) => count + items.length, 0) <= MOST_ITEMISED
  const shard = shardOfDigits(aggregate.policy.locator)
  return plan.map((installment, at) => ({
    issueTimestamp: String(installment.issueAt),
    dueTimestamp: String(installment.dueAt),
    startTimestamp: String(installment.start),
    endTimestamp: String(installment.end),
    financialTransactions: financialTransactions(
      aggregate,
      itemised ? all[at]! : summedItems(all[at]!),
      installment.issueAt,
      ({ perilRunLocator }) => perilSegmentLocator(perilRunLocator, segment, shard),
    ),
  }))
}

/** Whether the quote has a price. A quote that was quoted keeps it even after it is discarded. */
export const isPriced = (aggregate: PolicyAggregate, quote: Quote): boolean =>
  quoteParts(aggregate, quote).modification.premiumChange !== undefined

/**
 * Returns the 409 for showing the price of a quote that has none. A quote that was quoted or declined keeps its price, even after
 * it is discarded: the contract only requires that it was quoted, and underwriting decided on that price.
 */
export const notPriced = ({ locator, state }: Quote): Refusal =>
  wrongState(
    state === 'discarded'
      ? `Quote ${locator} is discarded and was never priced.`
      : `Quote ${locator} is ${state} and has no price yet; price it with PATCH /quotes/${locator}/quote.`,
  )

export const quotePrice = (
  aggregate: PolicyAggregate,
  quote: Quote,
  product: ProductDefinition,
): PolicyPriceResponse => policyPriceResponse(policyView(aggregate, quote, product, () => false))
