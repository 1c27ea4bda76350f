// The legacy cancellation of a policy in one step, and what a cancellation would give back (brief 1.7, 3.4).
import { z } from '@hono/zod-openapi'
import { OptionalTimestamp, RequestTimestamp } from '../../platform/wire.ts'

/** POST /policy/{policyLocator}/cancel: coverage ends then; may lie in the past. */
export const PolicyCancellationIssueRequest = z
  .object({ coverageEndTimestamp: RequestTimestamp })
  .openapi('PolicyCancellationIssueRequest')
export type PolicyCancellationIssueRequest = z.infer<typeof PolicyCancellationIssueRequest>

/** Of GET /policy/{policyLocator}/cancellationValue: left out, coverage ends now. */
export const CancellationValueQuery = z.object({ coverageEndTimestamp: OptionalTimestamp })
export type CancellationValueQuery = z.infer<typeof CancellationValueQuery>
