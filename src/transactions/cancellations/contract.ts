// Cancellations in steps: created, changed, issued or rescinded (brief 1.5).
import { z } from '@hono/zod-openapi'
import {
  booleanOr,
  component,
  Name,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  optional,
  RequestTimestamp,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { PolicyDocumentResponse } from '../../policy/contract/documents.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { ReinstatementResponse } from '../reinstatements/contract.ts'

export const CancellationState = z.enum(['draft', 'issued', 'rescinded']).openapi('CancellationState')
export type CancellationState = z.infer<typeof CancellationState>

/** Whether pending transactions of the policy block this one or are invalidated (brief 2.4). */
export const ConflictHandling = z.enum(['block', 'invalidate']).openapi('ConflictHandling')
export type ConflictHandling = z.infer<typeof ConflictHandling>

// Does not use the named component, which would accept the request's null, in answers too.
/** Default on creation: `block`. */
export const OptionalConflictHandling = optional(z.enum(ConflictHandling.options))

/** `name` is a cancellation type of the configuration, or `lapse`. */
export const CancellationCreateRequest = component('CancellationCreateRequest', {
  effectiveTimestamp: RequestTimestamp,
  name: Name,
  conflictHandling: OptionalConflictHandling,
  issue: booleanOr(false).describe('Whether to issue the cancellation immediately.'),
  cancellationCategory: OptionalName,
})
export type CancellationCreateRequest = z.infer<typeof CancellationCreateRequest>

/** Changes of a draft. Omitted values do not change, including the category, without which some types cannot be issued. */
export const CancellationUpdateRequest = component('CancellationUpdateRequest', {
  effectiveTimestamp: OptionalTimestamp,
  name: OptionalName,
  conflictHandling: OptionalConflictHandling,
  cancellationCategory: OptionalName,
})
export type CancellationUpdateRequest = z.infer<typeof CancellationUpdateRequest>

export const CancellationResponse = component('CancellationResponse', {
  locator: Text,
  name: Text,
  state: CancellationState,
  effectiveTimestamp: Timestamp,
  conflictHandling: ConflictHandling,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  issuedTimestamp: TimestampIfAny,
  cancellationCategory: OptionalText,
  policyLocator: OptionalText,
  invoiceLocator: OptionalText,
  price: PolicyPriceChangeResponse.optional(),
  reinstatements: z.array(ReinstatementResponse).optional(),
  documents: z.array(PolicyDocumentResponse),
})
export type CancellationResponse = z.infer<typeof CancellationResponse>
