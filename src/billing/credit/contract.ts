// Money that was paid out of a policyholder's credit. The contracts name no shape of it: amounts and times are as payments
// have them.
import { z } from '@hono/zod-openapi'
import {
  Amount,
  Currency,
  Flag,
  OptionalText,
  PageSize,
  PagingToken,
  Text,
  Timestamp,
} from '../../platform/wire.ts'

export const DisbursementsQuery = z.object({ pageSize: PageSize, pagingToken: PagingToken })
export type DisbursementsQuery = z.output<typeof DisbursementsQuery>

export const DisbursementResponse = z
  .object({
    locator: Text,
    policyholderLocator: Text,
    disbursementType: Text,
    amount: Amount,
    currency: Currency,
    data: z.record(Text, z.unknown()),
    disbursementTimestamp: Timestamp,
    createdTimestamp: Timestamp,
  })
  .openapi('DisbursementResponse')
export type DisbursementResponse = z.output<typeof DisbursementResponse>

export const DisbursementListResponse = z
  .object({ listCompleted: Flag, items: z.array(DisbursementResponse), pagingToken: OptionalText })
  .openapi('DisbursementListResponse')
export type DisbursementListResponse = z.output<typeof DisbursementListResponse>
