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
    .describe(
      'A locator, the `displayId` of an invoice, or up to five words. Each is the beginning of a value of a searchable field. More than five words are the beginning of one value. Letter case is ignored.',
    ),
  count: requestInteger(1, MOST_FOUND)
    .default(20)
    .describe('The maximum number of policyholders and of policies in the response.'),
})
export type SearchQuery = z.output<typeof SearchQuery>

export const SearchResponse = component('SearchResponse', {
  policyholders: z
    .array(PolicyholderResponse)
    .describe('Newest first. Empty if the caller may not list policyholders.'),
  policies: z
    .array(PolicySummaryResponse)
    .describe(
      'Policies found by their own fields or locators, then those of the policyholders; each newest first. Empty if the caller may not list policies.',
    ),
  hasMore: Flag.describe('Whether more records match the text. Send a longer text to narrow the search.'),
})
export type SearchResponse = z.output<typeof SearchResponse>
