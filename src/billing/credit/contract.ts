// Payments out of a policyholder's credit. The contracts define no shape for them; amounts and times follow those of payments.
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  component,
  Flag,
  OptionalText,
  PageSize,
  PagingToken,
  Text,
  Timestamp,
} from '../../platform/wire.ts'

export const DisbursementsQuery = z.object({ pageSize: PageSize, pagingToken: PagingToken })
export type DisbursementsQuery = z.output<typeof DisbursementsQuery>

export const DisbursementResponse = component('DisbursementResponse', {
  locator: Text,
  policyholderLocator: Text,
  disbursementType: Text,
  amount: Amount,
  currency: Currency,
  data: z.record(Text, z.unknown()),
  disbursementTimestamp: Timestamp,
  createdTimestamp: Timestamp,
})
export type DisbursementResponse = z.output<typeof DisbursementResponse>

export const DisbursementListResponse = component('DisbursementListResponse', {
  listCompleted: Flag,
  items: z.array(DisbursementResponse),
  pagingToken: OptionalText,
})
export type DisbursementListResponse = z.output<typeof DisbursementListResponse>
