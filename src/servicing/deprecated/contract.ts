// Paths that the contract lists without shapes (contract 2, Deprecated endpoints; resources brief 9.5). Times are ISO 8601.
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  component,
  DateTime,
  Integer,
  listOf,
  OptionalText,
  optional,
  requestInteger,
  Text,
} from '../../platform/wire.ts'
import { PolicyCharacteristicsResponse, PolicyResponse } from '../../policy/contract/response.ts'
import { PolicyQuoteResponse } from '../../transactions/quotes/contract-quote.ts'

/** The largest page size. It is small because whole policies are large. */
export const MOST_WHOLE = 25
/** For entries beyond it, callers use `GET /policies` and its token. */
const LARGEST_OFFSET = 100_000

export const WholeListQuery = z.object({
  offset: optional(requestInteger(0, LARGEST_OFFSET)),
  count: optional(requestInteger(1).transform(count => Math.min(count, MOST_WHOLE))).describe(
    `Entries per page, at most ${MOST_WHOLE}.`,
  ),
})
export type WholeListQuery = z.output<typeof WholeListQuery>

export const PolicySnapshotListResponse = listOf('PolicySnapshotListResponse', PolicyResponse)
export type PolicySnapshotListResponse = z.output<typeof PolicySnapshotListResponse>

export const QuoteListResponse = listOf('QuoteListResponse', PolicyQuoteResponse)
export type QuoteListResponse = z.output<typeof QuoteListResponse>

export const InvoiceJobResponse = component('InvoiceJobResponse', {
  policyLocator: Text,
  transactionLocator: Text.describe('Modification whose plan contains the invoice.'),
  installmentNumber: Integer.describe('Position in that plan, from 1.'),
  state: z
    .enum(['queued', 'completed', 'cancelled'])
    .describe(
      'queued: the invoice is planned; completed: it was generated; cancelled: it will not be generated, because its quote was discarded or other invoices replace it.',
    ),
  generateTime: DateTime.describe('When the invoice was or will be generated.'),
  dueTime: DateTime,
  startTime: DateTime,
  endTime: DateTime,
  amount: Amount.describe('The amount due.'),
  amountCurrency: Currency,
  invoiceLocator: OptionalText,
})
export type InvoiceJobResponse = z.output<typeof InvoiceJobResponse>

export const InvoiceJobListResponse = listOf('InvoiceJobListResponse', InvoiceJobResponse)
export type InvoiceJobListResponse = z.output<typeof InvoiceJobListResponse>

const BillingTrigger = z.enum(['accept', 'issue'])

export const BillingTriggerUpdateRequest = component('BillingTriggerUpdateRequest', {
  billingTrigger: BillingTrigger,
})
export type BillingTriggerUpdateRequest = z.output<typeof BillingTriggerUpdateRequest>

export const BillingTriggerResponse = component('BillingTriggerResponse', {
  policyLocator: Text,
  billingTrigger: BillingTrigger,
})
export type BillingTriggerResponse = z.output<typeof BillingTriggerResponse>

export const SegmentResponse = component('SegmentResponse', {
  locator: Text,
  transactionLocator: Text,
  type: z.enum(['coverage', 'gap']).describe('gap: the transaction ended the coverage of this period.'),
  startTime: DateTime,
  endTime: DateTime,
  characteristics: PolicyCharacteristicsResponse.optional().describe(
    'For coverage: the segment, as in the policy.',
  ),
})
export type SegmentResponse = z.output<typeof SegmentResponse>

export const SegmentListResponse = listOf('SegmentListResponse', SegmentResponse)
export type SegmentListResponse = z.output<typeof SegmentListResponse>
