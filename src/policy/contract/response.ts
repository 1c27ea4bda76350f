// The policy as answers carry it, with its exposures and perils.
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  DeprecatedText,
  Integer,
  OptionalText,
  OptionalTimestamp,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { PolicyInvoiceResponse } from './billing.ts'
import {
  ExposureCharacteristicsResponse,
  PerilCharacteristicsResponse,
  PolicyCharacteristicsResponse,
} from './characteristics.ts'
import { PolicyDocumentResponse } from './documents.ts'
import { PolicyModificationResponse } from './modification.ts'
import { FeeResponse } from './prices.ts'

export const QuoteState = z
  .enum(['draft', 'quoted', 'accepted', 'declined', 'discarded'])
  .openapi('QuoteState')
export type QuoteState = z.infer<typeof QuoteState>

export const QuoteSummaryResponseItem = z
  .object({ locator: Text, name: Text, state: QuoteState })
  .openapi('QuoteSummaryResponseItem')
export type QuoteSummaryResponseItem = z.infer<typeof QuoteSummaryResponseItem>

export const QuoteSummaryResponse = z
  .object({
    selected: Text.openapi({
      description: 'Locator of the selected quote; empty where the policy follows none.',
    }),
    notDiscarded: z.array(QuoteSummaryResponseItem),
  })
  .openapi('QuoteSummaryResponse')
export type QuoteSummaryResponse = z.infer<typeof QuoteSummaryResponse>

const part = {
  locator: Text,
  name: Text,
  displayId: Text,
  policyholderLocator: Text,
  policyLocator: Text,
  productLocator: Text,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
}

export const PerilResponse = z
  .object({
    ...part,
    exposureLocator: Text,
    renewalGroup: Text.openapi({
      description: 'The same for the perils of all terms that renew one another.',
    }),
    parentLocator: Text.optional().openapi({
      description:
        'Of a coverage within a coverage of a migrated policy: the peril of this exposure that it lies in.',
    }),
    characteristics: z.array(PerilCharacteristicsResponse),
  })
  .openapi('PerilResponse')
export type PerilResponse = z.infer<typeof PerilResponse>

export const ExposureResponse = z
  .object({
    ...part,
    characteristics: z.array(ExposureCharacteristicsResponse),
    perils: z.array(PerilResponse),
  })
  .openapi('ExposureResponse')
export type ExposureResponse = z.infer<typeof ExposureResponse>

/** The latest cancellation that is issued and not reinstated (brief 1.1, 3.4). */
export const CancellationInfo = z
  .object({ effectiveTimestamp: Timestamp, modificationLocator: Text, modificationName: Text })
  .openapi('CancellationInfo')
export type CancellationInfo = z.infer<typeof CancellationInfo>

/** `quoteSummary` only with `summarizeQuotes=true`; `billingTrigger` never. */
export const PolicyResponse = z
  .object({
    locator: Text,
    displayId: DeprecatedText,
    policyholderLocator: Text,
    productLocator: Text,
    productName: Text,
    configVersion: Integer,
    createdTimestamp: Timestamp,
    updatedTimestamp: Timestamp,
    issuedTimestamp: TimestampIfAny,
    originalContractStartTimestamp: Timestamp,
    originalContractEndTimestamp: Timestamp,
    effectiveContractEndTimestamp: Timestamp,
    cancellation: CancellationInfo.optional(),
    paymentScheduleName: OptionalText,
    premiumReportName: OptionalText,
    characteristics: z.array(PolicyCharacteristicsResponse),
    modifications: z.array(PolicyModificationResponse),
    exposures: z.array(ExposureResponse),
    grossFees: Amount,
    grossFeesCurrency: Currency,
    fees: z.array(FeeResponse),
    documents: z.array(PolicyDocumentResponse),
    invoices: z.array(PolicyInvoiceResponse),
    quoteSummary: QuoteSummaryResponse.optional(),
    billingTrigger: z.unknown().optional().openapi({ deprecated: true, description: 'Never sent.' }),
  })
  .openapi('PolicyResponse')
export type PolicyResponse = z.infer<typeof PolicyResponse>

// The policy as it was known at an earlier moment; the answer is a PolicyResponse (brief 3.5).
/** Body of POST /policies/{policyLocator}/snapshot; it may be left out. */
export const PolicySnapshotRequest = z
  .object({
    asOfTimestamp: OptionalTimestamp.openapi({
      description: 'Only what was known then: segments, modifications, documents, invoices. Left out: now.',
    }),
    effectiveTimestamp: OptionalTimestamp.openapi({
      description: 'Only segments in effect then. Left out: those of the whole term.',
    }),
  })
  .openapi('PolicySnapshotRequest')
export type PolicySnapshotRequest = z.infer<typeof PolicySnapshotRequest>
