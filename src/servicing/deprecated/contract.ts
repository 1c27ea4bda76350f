// Paths that the contract lists as deprecated without their shapes (contract 2, Deprecated endpoints). They show records that
// other paths show too (resources brief 9.5), in lists like those of resources. Times are ISO 8601.
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  DateTime,
  Flag,
  Integer,
  OptionalText,
  optional,
  requestInteger,
  Text,
} from '../../platform/wire.ts'
import { PolicyCharacteristicsResponse, PolicyResponse } from '../../policy/contract/response.ts'
import { PolicyQuoteResponse } from '../../transactions/quotes/contract-quote.ts'

const listOf = <S extends z.ZodType>(items: S) =>
  z.object({
    listCompleted: Flag.openapi({ description: 'Whether nothing follows.' }),
    items: z.array(items),
  })

/** Whole policies are large: a page has at most so many. */
export const MOST_WHOLE = 25
/** Beyond it, `GET /policies` pages through any number by token. */
const LARGEST_OFFSET = 100_000

export const WholeListQuery = z.object({
  offset: optional(requestInteger(0, LARGEST_OFFSET)),
  count: optional(requestInteger(1).transform(count => Math.min(count, MOST_WHOLE))).openapi({
    description: `Entries of one page, at most ${MOST_WHOLE}.`,
  }),
})
export type WholeListQuery = z.output<typeof WholeListQuery>

export const PolicySnapshotListResponse = listOf(PolicyResponse).openapi('PolicySnapshotListResponse')
export type PolicySnapshotListResponse = z.output<typeof PolicySnapshotListResponse>

export const QuoteListResponse = listOf(PolicyQuoteResponse).openapi('QuoteListResponse')
export type QuoteListResponse = z.output<typeof QuoteListResponse>

export const InvoiceJobResponse = z
  .object({
    policyLocator: Text,
    transactionLocator: Text.openapi({ description: 'The modification whose plan it is of.' }),
    installmentNumber: Integer.openapi({ description: 'Its place in that plan, from 1.' }),
    state: z.enum(['queued', 'completed', 'cancelled']).openapi({
      description:
        'queued: the invoice is planned; completed: it was made; cancelled: it will not be made, for its quote was given up or something else takes it over.',
    }),
    generateTime: DateTime.openapi({ description: 'When the invoice was made, or is to be.' }),
    dueTime: DateTime,
    startTime: DateTime,
    endTime: DateTime,
    amount: Amount.openapi({ description: 'What it asks for.' }),
    amountCurrency: Currency,
    invoiceLocator: OptionalText,
  })
  .openapi('InvoiceJobResponse')
export type InvoiceJobResponse = z.output<typeof InvoiceJobResponse>

export const InvoiceJobListResponse = listOf(InvoiceJobResponse).openapi('InvoiceJobListResponse')
export type InvoiceJobListResponse = z.output<typeof InvoiceJobListResponse>

const BillingTrigger = z.enum(['accept', 'issue'])

export const BillingTriggerUpdateRequest = z
  .object({ billingTrigger: BillingTrigger })
  .openapi('BillingTriggerUpdateRequest')
export type BillingTriggerUpdateRequest = z.output<typeof BillingTriggerUpdateRequest>

export const BillingTriggerResponse = z
  .object({ policyLocator: Text, billingTrigger: BillingTrigger })
  .openapi('BillingTriggerResponse')
export type BillingTriggerResponse = z.output<typeof BillingTriggerResponse>

export const SegmentResponse = z
  .object({
    locator: Text,
    transactionLocator: Text,
    type: z.enum(['coverage', 'gap']).openapi({
      description: 'gap: the transaction ended the coverage of this span.',
    }),
    startTime: DateTime,
    endTime: DateTime,
    characteristics: PolicyCharacteristicsResponse.optional().openapi({
      description: 'Of coverage: the segment as the policy shows it.',
    }),
  })
  .openapi('SegmentResponse')
export type SegmentResponse = z.output<typeof SegmentResponse>

export const SegmentListResponse = listOf(SegmentResponse).openapi('SegmentListResponse')
export type SegmentListResponse = z.output<typeof SegmentListResponse>
