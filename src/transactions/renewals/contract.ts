// Renewals add a term to an issued policy, in steps or in one legacy request (contract 1, Renewals; brief 1.4).
import { z } from '@hono/zod-openapi'
import {
  component,
  OptionalTimestamp,
  optionalRecord,
  RequestTimestamp,
  Timestamp,
} from '../../platform/wire.ts'
import { OptionalConflictHandling } from '../cancellations/contract.ts'
import {
  EndorsementExposureUpdateRequest,
  EndorsementState,
  OptionalAction,
  OptionalFirstState,
  policyChanges,
  readAction,
  repeatedPolicyChanges,
  transaction,
} from '../endorsements/contract.ts'

const RenewalState = EndorsementState.openapi('RenewalState')

const RenewalExposureUpdateRequest = EndorsementExposureUpdateRequest.openapi('RenewalExposureUpdateRequest')

const changes = policyChanges(RenewalExposureUpdateRequest)

/** Starts at the policy's end. `renewalEndTimestamp` must be later. */
export const RenewalCreateRequest = z
  .object({ renewalEndTimestamp: RequestTimestamp, state: OptionalFirstState, ...changes })
  .openapi('RenewalCreateRequest')
export type RenewalCreateRequest = z.infer<typeof RenewalCreateRequest>

export const RenewalUpdateRequest = z
  .object({ renewalEndTimestamp: OptionalTimestamp, ...changes })
  .openapi('RenewalUpdateRequest')
export type RenewalUpdateRequest = z.infer<typeof RenewalUpdateRequest>

export const RenewalActionRequest = z
  .object({
    action: OptionalAction,
    renewalUpdate: optionalRecord(RenewalUpdateRequest),
    conflictHandling: OptionalConflictHandling,
  })
  .transform(({ renewalUpdate: update, ...request }, ctx) =>
    readAction({ ...request, update }, 'renewalUpdate', ctx),
  )
  .openapi('RenewalActionRequest')
export type RenewalActionRequest = z.infer<typeof RenewalActionRequest>

const RenewalPolicyUpdateRequest = component('RenewalPolicyUpdateRequest', changes)

const NO_CHANGES = RenewalPolicyUpdateRequest.parse({})

/** Legacy: POST issueRenewal and previewRenewalPrice. */
export const RenewalIssueRequest = z
  .object({
    renewalEndTimestamp: RequestTimestamp,
    policyUpdateRequest: optionalRecord(RenewalPolicyUpdateRequest),
  })
  .transform(
    ({ renewalEndTimestamp, policyUpdateRequest }): RenewalCreateRequest => ({
      ...(policyUpdateRequest ?? NO_CHANGES),
      renewalEndTimestamp,
    }),
  )
  .openapi('RenewalIssueRequest')
export type RenewalIssueRequest = z.infer<typeof RenewalIssueRequest>

export const RenewalResponse = component('RenewalResponse', {
  ...transaction,
  state: RenewalState,
  renewalStartTimestamp: Timestamp,
  renewalEndTimestamp: Timestamp,
  ...repeatedPolicyChanges('RenewalExposureUpdateRequest'),
})
export type RenewalResponse = z.infer<typeof RenewalResponse>
