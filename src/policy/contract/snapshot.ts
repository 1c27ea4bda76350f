// The policy as it was known at an earlier moment; the answer is a PolicyResponse (brief 3.5).
import { z } from '@hono/zod-openapi'
import { OptionalTimestamp } from '../../platform/wire.ts'

/** Body of POST /policies/{policyLocator}/snapshot; it may be left out. */
export const PolicySnapshotRequest = z
  .object({
    asOfTimestamp: OptionalTimestamp.openapi({
      description: 'Only what was known then: segments, modifications, documents, invoices. Left out: now.',
    }),
    effectiveTimestamp: OptionalTimestamp.openapi({
      description: 'Only segments in effect then. Left out: those of the whole term.',
    }),
  })
  .openapi('PolicySnapshotRequest')
export type PolicySnapshotRequest = z.infer<typeof PolicySnapshotRequest>
