// Previews a transaction: price, underwriting, bills and the resulting policy (brief 10.8).
import { z } from '@hono/zod-openapi'
import { Amount, Currency, component, optionalRecord, Text, Timestamp } from '../../platform/wire.ts'
import { reportProblem } from '../../platform/wire-problem.ts'
import {
  AutomatedUnderwritingResultResponse,
  FutureInvoiceResponse,
  InvoiceType,
} from '../../policy/contract/billing.ts'
import { ConflictResponse } from '../../policy/contract/requests.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { CancellationCreateRequest } from '../cancellations/contract.ts'
import { EndorsementCreateRequest } from '../endorsements/contract.ts'
import { ReinstatementPreviewRequest } from '../reinstatements/contract.ts'
import { RenewalCreateRequest } from '../renewals/contract.ts'

/** In the form of the request that would carry out the transaction. */
export type PolicyPreview =
  | { kind: 'issue'; request: object }
  | { kind: 'endorsement'; request: EndorsementCreateRequest }
  | { kind: 'renewal'; request: RenewalCreateRequest }
  | { kind: 'cancellation'; request: CancellationCreateRequest }
  | { kind: 'reinstatement'; request: ReinstatementPreviewRequest }

/** Issues the policy as it was finalized, so there is nothing to choose. */
const NOTHING = z.object({})

const KINDS = ['issue', 'endorsement', 'renewal', 'cancellation', 'reinstatement'] as const

/** Exactly one of the five. A final state in the request (`state`, `issue`) is ignored: a preview always shows the issue. */
export const PolicyPreviewRequest = z
  .object({
    issue: optionalRecord(NOTHING).describe(
      'Issues the finalized policy unchanged. Send an empty object. The price is that of the accepted quote.',
    ),
    endorsement: optionalRecord(EndorsementCreateRequest),
    renewal: optionalRecord(RenewalCreateRequest),
    cancellation: optionalRecord(CancellationCreateRequest),
    reinstatement: optionalRecord(ReinstatementPreviewRequest),
  })
  .transform((body, ctx): PolicyPreview => {
    const [kind, ...others] = KINDS.filter(one => body[one] !== undefined)
    if (kind !== undefined && others.length === 0) return { kind, request: body[kind] } as PolicyPreview
    reportProblem(ctx, `must have exactly one of ${KINDS.join(', ')}`)
    return z.NEVER
  })
  .openapi('PolicyPreviewRequest')
export type PolicyPreviewRequest = z.infer<typeof PolicyPreviewRequest>

export const PreviewedInvoiceResponse = component('PreviewedInvoiceResponse', {
  ...FutureInvoiceResponse.shape,
  invoiceType: InvoiceType,
  totalDue: Amount.describe('The sum of its transactions without commissions.'),
  totalDueCurrency: Currency,
})
export type PreviewedInvoiceResponse = z.infer<typeof PreviewedInvoiceResponse>

/** Locators of the transaction's records are transient: no stored record will ever have them. */
export const PolicyPreviewResponse = component('PolicyPreviewResponse', {
  price: PolicyPriceChangeResponse,
  policyWhenIssued: PolicyResponse,
  automatedUnderwritingResult: AutomatedUnderwritingResultResponse.optional().describe(
    'Absent for a cancellation, which is not underwritten. A transaction that underwriting does not accept is still shown as issued, as it would be if a person accepted it.',
  ),
  invoices: z.array(PreviewedInvoiceResponse),
  conflicts: z
    .array(ConflictResponse)
    .describe(
      'Pending transactions that conflict with this one. The rest of the answer assumes that they were invalidated first.',
    ),
  previewToken: Text.describe(
    'Send it as `If-Previewed` with the request that creates and issues the transaction, which then does exactly what this answer shows, or nothing. Only this account can use it, and only once.',
  ),
  previewTokenExpiresTimestamp: Timestamp.describe('15 minutes after the preview.'),
})
export type PolicyPreviewResponse = z.infer<typeof PolicyPreviewResponse>
