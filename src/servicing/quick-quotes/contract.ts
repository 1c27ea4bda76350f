import { z } from '@hono/zod-openapi'
import { Currency, FieldGroupValues, FieldValueLists, Integer, Text, Timestamp } from '../../platform/wire.ts'
import { PolicyPriceResponse } from '../../policy/contract/prices.ts'

// Quick quotes: the price of a policy that does not exist (contract 2, Constraints, which names them without a shape).
const fields = { fieldValues: FieldValueLists, fieldGroupsByLocator: FieldGroupValues }

const Peril = z.object({ locator: Text, name: Text, ...fields }).openapi('QuickQuotePerilResponse')

const Exposure = z
  .object({ locator: Text, name: Text, ...fields, perils: z.array(Peril) })
  .openapi('QuickQuoteExposureResponse')

export const QuickQuoteResponse = z
  .object({
    locator: Text,
    policyholderLocator: Text,
    productName: Text,
    configVersion: Integer,
    createdTimestamp: Timestamp,
    expiresTimestamp: Timestamp.openapi({ description: 'From then on it is not kept any more.' }),
    policyStartTimestamp: Timestamp,
    policyEndTimestamp: Timestamp,
    currency: Currency,
    ...fields,
    exposures: z.array(Exposure),
    price: PolicyPriceResponse.optional().openapi({
      description: 'Left out where the values that there are do not give one; `problem` says why.',
    }),
    problem: z.object({ code: Text, message: Text }).optional(),
  })
  .openapi('QuickQuoteResponse')

export type QuickQuoteResponse = z.infer<typeof QuickQuoteResponse>
