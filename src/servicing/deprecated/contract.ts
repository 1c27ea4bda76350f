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
    `Entries of one page, at most ${MOST_WHOLE}.`,
  ),
})
export type WholeListQuery = z.output<typeof WholeListQuery>

export const PolicySnapshotListResponse = listOf('PolicySnapshotListResponse', PolicyResponse)
export type PolicySnapshotListResponse = z.output<typeof PolicySnapshotListResponse>

export const QuoteListResponse = listOf('QuoteListResponse', PolicyQuoteResponse)
export type QuoteListResponse = z.output<typeof QuoteListResponse>

export const InvoiceJobResponse = component('InvoiceJobResponse', {
  policyLocator: Text,
  transactionLocator: Text.describe('The modification whose plan it is of.'),
  installmentNumber: Integer.describe('Its place in that plan, from 1.'),
  state: z
    .enum(['queued', 'completed', 'cancelled'])
    .describe(
      'queued: the invoice is planned; completed: it was made; cancelled: it will not be made, for its quote was given up or something else takes it over.',
    ),
  generateTime: DateTime.describe('When the invoice was made, or is to be.'),
  dueTime: DateTime,
  startTime: DateTime,
  endTime: DateTime,
  amount: Amount.describe('What it asks for.'),
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
  type: z.enum(['coverage', 'gap']).describe('gap: the transaction ended the coverage of this span.'),
  startTime: DateTime,
  endTime: DateTime,
  characteristics: PolicyCharacteristicsResponse.optional().describe(
    'Of coverage: the segment as the policy shows it.',
  ),
})
export type SegmentResponse = z.output<typeof SegmentResponse>

export const SegmentListResponse = listOf('SegmentListResponse', SegmentResponse)
export type SegmentListResponse = z.output<typeof SegmentListResponse>
