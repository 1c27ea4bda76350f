// The list of policies: its query, and a summary of each policy.
import { z } from '@hono/zod-openapi'
import { checkSearch, SEARCH_PARAMETERS } from '../../platform/search.ts'
import {
  component,
  Flag,
  Integer,
  OptionalAmount,
  OptionalLocator,
  OptionalName,
  OptionalText,
  OptionalTimestamp,
  optional,
  PageSize,
  PagingToken,
  Text,
  Timestamp,
  TimestampIfAny,
  withCurrency,
} from '../../platform/wire.ts'

/**
 * Each policy is in exactly one state, as of now (brief 1.1). An issued policy is in the first of these that applies: `lapsed`
 * (legacy, neither reinstated nor renewed), `inGrace`, `withdrawn`, `cancelled` (issued, even if it takes effect later), `pending`
 * before the start, `expired` from the end on, `issued`.
 */
export const ListedState = z.enum([
  'created',
  'quoted',
  'declined',
  'finalized',
  'discarded',
  'lapsed',
  'inGrace',
  'pending',
  'issued',
  'expired',
  'cancelled',
  'withdrawn',
])
export type ListedState = z.infer<typeof ListedState>

/** A query for the policies that match all parameters. Times after and before are exclusive. */
export const PolicyListQuery = z
  .object({
    policyholderLocator: OptionalLocator,
    productName: OptionalName,
    state: optional(ListedState).describe(
      'The current state. `issued` means in force by its dates. For all policies that were ever issued, use `issuedAfterTimestamp=0`.',
    ),
    createdAfterTimestamp: OptionalTimestamp,
    createdBeforeTimestamp: OptionalTimestamp,
    issuedAfterTimestamp: OptionalTimestamp,
    issuedBeforeTimestamp: OptionalTimestamp,
    effectiveAfterTimestamp: OptionalTimestamp.describe(
      'Returns issued policies that are in force at some time after this.',
    ),
    effectiveBeforeTimestamp: OptionalTimestamp.describe(
      'Returns issued policies that are in force at some time before this. Together with effectiveAfterTimestamp: at some time between the two.',
    ),
    ...SEARCH_PARAMETERS,
    pageSize: PageSize,
    pagingToken: PagingToken,
  })
  .check(checkSearch)
export type PolicyListQuery = z.infer<typeof PolicyListQuery>

/** `grossPremium` is for the whole term, without taxes and fees. Absent until priced. */
export const PolicySummaryResponse = component('PolicySummaryResponse', {
  locator: Text,
  policyholderLocator: Text,
  productName: Text,
  state: ListedState,
  configVersion: Integer,
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  issuedTimestamp: TimestampIfAny,
  originalContractStartTimestamp: Timestamp,
  originalContractEndTimestamp: Timestamp,
  effectiveContractEndTimestamp: Timestamp,
  ...withCurrency(OptionalAmount, 'grossPremium'),
})
export type PolicySummaryResponse = z.infer<typeof PolicySummaryResponse>

export const PolicyListResponse = component('PolicyListResponse', {
  policies: z
    .array(PolicySummaryResponse)
    .describe(
      'If few policies match, a page may be shorter than `pageSize`, or even empty, although more pages follow. `listCompleted` shows whether the list has ended.',
    ),
  pagingToken: OptionalText.describe('Absent on the last page.'),
  listCompleted: Flag.describe('Whether this is the last page.'),
})
export type PolicyListResponse = z.infer<typeof PolicyListResponse>
