// Reinstatements restore the cover of a cancelled policy (contract 1, Reinstatements; brief 1.6).
import { z } from '@hono/zod-openapi'
import {
  booleanOr,
  Currency,
  component,
  Locator,
  OptionalAmount,
  OptionalText,
  OptionalTimestamp,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { PolicyDocumentResponse } from '../../policy/contract/documents.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'

export const ReinstatementState = z
  .enum(['draft', 'accepted', 'issued', 'expired'])
  .openapi('ReinstatementState')
export type ReinstatementState = z.infer<typeof ReinstatementState>

const times = {
  effectiveTimestamp: OptionalTimestamp,
  reinstatementDeadlineTimestamp: OptionalTimestamp,
}

/**
 * PATCH /cancellations/{locator}/reinstate. By default coverage comes back at the cancellation's time, and the deadline follows
 * from the cancellation's type.
 */
export const ReinstatementCreateRequest = component('ReinstatementCreateRequest', {
  ...times,
  issue: booleanOr(false).describe('Whether to accept and issue the reinstatement immediately.'),
})
export type ReinstatementCreateRequest = z.infer<typeof ReinstatementCreateRequest>

/** Omitted values do not change. */
export const ReinstatementUpdateRequest = component('ReinstatementUpdateRequest', times)
export type ReinstatementUpdateRequest = z.infer<typeof ReinstatementUpdateRequest>

/** `price`, `reinstatementPaymentAmount` and `invoiceLocator` appear on acceptance. */
export const ReinstatementResponse = component('ReinstatementResponse', {
  locator: Text,
  cancellationLocator: Text,
  state: ReinstatementState,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  issuedTimestamp: TimestampIfAny,
  effectiveTimestamp: Timestamp,
  reinstatementDeadlineTimestamp: TimestampIfAny,
  reinstatementPaymentAmount: OptionalAmount,
  reinstatementPaymentAmountCurrency: Currency.optional(),
  invoiceLocator: OptionalText,
  price: PolicyPriceChangeResponse.optional(),
  documents: z.array(PolicyDocumentResponse),
})
export type ReinstatementResponse = z.infer<typeof ReinstatementResponse>

/** The request of PATCH /cancellations/{locator}/reinstate, with the cancellation from its path. */
export const ReinstatementPreviewRequest = z
  .object({ cancellationLocator: Locator, ...ReinstatementCreateRequest.shape })
  .openapi('ReinstatementPreviewRequest')

export type ReinstatementPreviewRequest = z.infer<typeof ReinstatementPreviewRequest>
