// Fees added to a policy and taken back, at any time (brief 3.3).
import { z } from '@hono/zod-openapi'
import { Locator, list, Name, optional, RequestDecimal, RequestTimestamp } from '../../platform/wire.ts'
import { FeeResponse } from './prices.ts'

/** `feeName` is one that the product declares; `amount` is in major units of the policy's currency. */
export const FeeCreateRequest = z
  .object({
    feeName: Name,
    amount: RequestDecimal,
    startTimestamp: RequestTimestamp,
    endTimestamp: RequestTimestamp,
    description: optional(z.string().max(1_024)),
  })
  .openapi('FeeCreateRequest')
export type FeeCreateRequest = z.infer<typeof FeeCreateRequest>

/** PATCH /policy/{policyLocator}/fees: `reverseFees` are locators of fees. */
export const FeeUpdateRequest = z
  .object({ newFees: list(FeeCreateRequest), reverseFees: list(Locator) })
  .openapi('FeeUpdateRequest')
export type FeeUpdateRequest = z.infer<typeof FeeUpdateRequest>

/** All fees of the policy after the update, the reversed ones too. */
export const PolicyFeeSummaryResponse = z
  .object({ fees: z.array(FeeResponse) })
  .openapi('PolicyFeeSummaryResponse')
export type PolicyFeeSummaryResponse = z.infer<typeof PolicyFeeSummaryResponse>
