// A search over both policyholders and policies. Bindery only.
import { z } from '@hono/zod-openapi'
import { component, Flag, requestInteger } from '../../platform/wire.ts'
import { PolicySummaryResponse } from '../../policy/list/contract.ts'
import { PolicyholderResponse } from '../../policyholders/contract.ts'

/** The limit for each kind of record. */
const MOST_FOUND = 100

export const SearchQuery = z.object({
  text: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('A locator, or up to five words that values of searchable fields begin with, in any case.'),
  count: requestInteger(1, MOST_FOUND)
    .default(20)
    .describe('Policyholders, and policies, that the answer has at most.'),
})
export type SearchQuery = z.output<typeof SearchQuery>

export const SearchResponse = component('SearchResponse', {
  policyholders: z
    .array(PolicyholderResponse)
    .describe('Newest first; empty for a caller who may not list policyholders.'),
  policies: z
    .array(PolicySummaryResponse)
    .describe(
      'Found by their own fields or locators, then those of the policyholders; each newest first. Empty for a caller who may not list policies.',
    ),
  hasMore: Flag.describe('Whether more fit the text; ask with more of it.'),
})
export type SearchResponse = z.output<typeof SearchResponse>
