// Grace periods, legacy lapses and their reinstatements (contract 1, Legacy lapse and reinstatement; brief 1.5, 4.1).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  booleanOr,
  component,
  Locator,
  OptionalText,
  OptionalTimestamp,
  RequestTimestamp,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { PolicyDocumentResponse } from '../../policy/contract/documents.ts'

export const GracePeriodResponse = component('GracePeriodResponse', {
  locator: Text,
  policyholderLocator: Text,
  policyLocator: Text,
  productLocator: Text,
  policyId: Text.openapi({ deprecated: true, description: 'Same as policyLocator.' }),
  invoiceLocator: Text.describe(
    'The invoice that started it. The grace period is settled when no invoice of the policy is past due.',
  ),
  startTimestamp: Timestamp,
  endTimestamp: Timestamp,
  settledTimestamp: TimestampIfAny,
  cancelEffectiveTimestamp: TimestampIfAny,
  cancellationLocator: OptionalText,
  document: PolicyDocumentResponse.optional(),
})
export type GracePeriodResponse = z.infer<typeof GracePeriodResponse>

/** PATCH /gracePeriod/{locator}. Omitted values do not change. */
export const GracePeriodUpdateRequest = component('GracePeriodUpdateRequest', {
  endTimestamp: OptionalTimestamp.describe('If this is now or earlier, the policy lapses immediately.'),
  cancelEffectiveTimestamp: OptionalTimestamp.describe(
    'When the policy lapses, instead of at the end of the grace period.',
  ),
  resetCancelEffectiveTimestamp: booleanOr(false).describe(
    'If true, the policy lapses at the end of the grace period again.',
  ),
})

export const LapseResponse = component('LapseResponse', {
  locator: Text,
  createdTimestamp: Timestamp,
  lapseTimestamp: Timestamp,
  reinstatementPeriodEndTimestamp: Timestamp,
  document: PolicyDocumentResponse.optional(),
})
export type LapseResponse = z.infer<typeof LapseResponse>

const LapseReinstatementStatus = z.enum(['open', 'closed', 'invoiced', 'issued'])

const ReinstatementStatusAndTimeResponse = component('ReinstatementStatusAndTimeResponse', {
  timestamp: Timestamp,
  status: LapseReinstatementStatus,
})

export const LapseReinstatementResponse = component('LapseReinstatementResponse', {
  locator: Text,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  currentStatus: LapseReinstatementStatus,
  statuses: z.array(ReinstatementStatusAndTimeResponse),
  uploadedDocuments: z.array(PolicyDocumentResponse),
  issuedTimestamp: TimestampIfAny,
  invoicedTimestamp: TimestampIfAny,
  reinstatementTimestamp: TimestampIfAny,
  invoiceLocator: OptionalText,
  reinstatementDocument: PolicyDocumentResponse.optional().describe(
    'Present once it is issued, if the product has a template `reinstatement`.',
  ),
})
export type LapseReinstatementResponse = z.infer<typeof LapseReinstatementResponse>

export const GraceLapseReinstatementResponse = component('GraceLapseReinstatementResponse', {
  gracePeriod: GracePeriodResponse,
  lapse: LapseResponse.optional(),
  reinstatements: z.array(LapseReinstatementResponse),
})
export type GraceLapseReinstatementResponse = z.infer<typeof GraceLapseReinstatementResponse>

const when = { reinstatementTimestamp: RequestTimestamp }

export const ReinstatementAmountDueRequest = component('ReinstatementAmountDueRequest', when)
export const ReinstatementInvoiceRequest = component('ReinstatementInvoiceRequest', when)

export const ReinstatementAmountDueResponse = component('ReinstatementAmountDueResponse', {
  grossPremiumDue: Amount,
  grossTaxesDue: Amount,
  grossFeesDue: Amount,
  totalDue: Amount,
})
export type ReinstatementAmountDueResponse = z.infer<typeof ReinstatementAmountDueResponse>

export const ReinstatementDocumentRemoveRequest = component('ReinstatementDocumentRemoveRequest', {
  documentLocator: Locator,
})
