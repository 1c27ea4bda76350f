import { z } from '@hono/zod-openapi'
import {
  Currency,
  component,
  FieldGroupValues,
  FieldValueLists,
  Integer,
  Text,
  Timestamp,
} from '../../platform/wire.ts'
import { PolicyPriceResponse } from '../../policy/contract/billing.ts'

// The price of a policy that does not exist (contract 2, Constraints, which names quick quotes without a shape).
const fields = { fieldValues: FieldValueLists, fieldGroupsByLocator: FieldGroupValues }

const Peril = component('QuickQuotePerilResponse', { locator: Text, name: Text, ...fields })

const Exposure = component('QuickQuoteExposureResponse', {
  locator: Text,
  name: Text,
  ...fields,
  perils: z.array(Peril),
})

export const QuickQuoteResponse = component('QuickQuoteResponse', {
  locator: Text,
  policyholderLocator: Text,
  productName: Text,
  configVersion: Integer,
  createdTimestamp: Timestamp,
  expiresTimestamp: Timestamp.describe('It is deleted after this time.'),
  policyStartTimestamp: Timestamp,
  policyEndTimestamp: Timestamp,
  currency: Currency,
  ...fields,
  exposures: z.array(Exposure),
  price: PolicyPriceResponse.optional().describe('Absent if the values yield no price; `problem` says why.'),
  problem: z.object({ code: Text, message: Text }).optional(),
})

export type QuickQuoteResponse = z.infer<typeof QuickQuoteResponse>
