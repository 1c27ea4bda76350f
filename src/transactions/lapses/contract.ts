// Grace periods, legacy lapses and their reinstatements (contract 1, Legacy lapse and reinstatement; brief 1.5, 4.1).
import { z } from '@hono/zod-openapi'
import {
  Amount,
  booleanOr,
  Locator,
  OptionalText,
  OptionalTimestamp,
  RequestTimestamp,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { PolicyDocumentResponse } from '../../policy/contract/documents.ts'

export const GracePeriodResponse = z
  .object({
    locator: Text,
    policyholderLocator: Text,
    policyLocator: Text,
    productLocator: Text,
    policyId: Text.openapi({ deprecated: true, description: 'As policyLocator.' }),
    invoiceLocator: Text.openapi({
      description: 'The invoice that began it. It is settled when no invoice of the policy is past due.',
    }),
    startTimestamp: Timestamp,
    endTimestamp: Timestamp,
    settledTimestamp: TimestampIfAny,
    cancelEffectiveTimestamp: TimestampIfAny,
    cancellationLocator: OptionalText,
    document: PolicyDocumentResponse.optional(),
  })
  .openapi('GracePeriodResponse')
export type GracePeriodResponse = z.infer<typeof GracePeriodResponse>

/** PATCH /gracePeriod/{locator}; what is left out stays. */
export const GracePeriodUpdateRequest = z
  .object({
    endTimestamp: OptionalTimestamp.openapi({
      description: 'Now or earlier: the policy lapses at once.',
    }),
    cancelEffectiveTimestamp: OptionalTimestamp.openapi({
      description: 'When the policy lapses, instead of at the end.',
    }),
    resetCancelEffectiveTimestamp: booleanOr(false).openapi({
      description: 'The policy lapses at the end again.',
    }),
  })
  .openapi('GracePeriodUpdateRequest')
export type GracePeriodUpdateRequest = z.infer<typeof GracePeriodUpdateRequest>

export const LapseResponse = z
  .object({
    locator: Text,
    createdTimestamp: Timestamp,
    lapseTimestamp: Timestamp,
    reinstatementPeriodEndTimestamp: Timestamp,
    document: PolicyDocumentResponse.optional(),
  })
  .openapi('LapseResponse')
export type LapseResponse = z.infer<typeof LapseResponse>

const LapseReinstatementStatus = z.enum(['open', 'closed', 'invoiced', 'issued'])

export const ReinstatementStatusAndTimeResponse = z
  .object({ timestamp: Timestamp, status: LapseReinstatementStatus })
  .openapi('ReinstatementStatusAndTimeResponse')

export const LapseReinstatementResponse = z
  .object({
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
    reinstatementDocument: PolicyDocumentResponse.optional().openapi({
      description: 'Once it is issued, where the product has a template `reinstatement`.',
    }),
  })
  .openapi('LapseReinstatementResponse')
export type LapseReinstatementResponse = z.infer<typeof LapseReinstatementResponse>

export const GraceLapseReinstatementResponse = z
  .object({
    gracePeriod: GracePeriodResponse,
    lapse: LapseResponse.optional(),
    reinstatements: z.array(LapseReinstatementResponse),
  })
  .openapi('GraceLapseReinstatementResponse')
export type GraceLapseReinstatementResponse = z.infer<typeof GraceLapseReinstatementResponse>

const when = { reinstatementTimestamp: RequestTimestamp }

export const ReinstatementAmountDueRequest = z.object(when).openapi('ReinstatementAmountDueRequest')
export const ReinstatementInvoiceRequest = z.object(when).openapi('ReinstatementInvoiceRequest')

export const ReinstatementAmountDueResponse = z
  .object({ grossPremiumDue: Amount, grossTaxesDue: Amount, grossFeesDue: Amount, totalDue: Amount })
  .openapi('ReinstatementAmountDueResponse')
export type ReinstatementAmountDueResponse = z.infer<typeof ReinstatementAmountDueResponse>

export const ReinstatementDocumentRemoveRequest = z
  .object({ documentLocator: Locator })
  .openapi('ReinstatementDocumentRemoveRequest')
