import { z } from '@hono/zod-openapi'
import { Text } from '../../platform/wire.ts'

/**
 * What is pending on a policy and stands in the way: a transaction that is quoted or accepted (brief 2.4); of an
 * upgrade also a quote that is priced.
 */
export const ConflictResponse = z
  .object({
    kind: z.enum(['endorsement', 'renewal', 'reinstatement', 'quote']),
    locator: Text,
    state: z.enum(['quoted', 'accepted', 'declined']),
  })
  .openapi('ConflictResponse')
export type ConflictResponse = z.infer<typeof ConflictResponse>
