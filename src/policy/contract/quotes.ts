import { z } from '@hono/zod-openapi'
import { Text } from '../../platform/wire.ts'

export const QuoteState = z
  .enum(['draft', 'quoted', 'accepted', 'declined', 'discarded'])
  .openapi('QuoteState')
export type QuoteState = z.infer<typeof QuoteState>

export const QuoteSummaryResponseItem = z
  .object({ locator: Text, name: Text, state: QuoteState })
  .openapi('QuoteSummaryResponseItem')
export type QuoteSummaryResponseItem = z.infer<typeof QuoteSummaryResponseItem>

export const QuoteSummaryResponse = z
  .object({
    selected: Text.openapi({
      description: 'Locator of the selected quote; empty where the policy follows none.',
    }),
    notDiscarded: z.array(QuoteSummaryResponseItem),
  })
  .openapi('QuoteSummaryResponse')
export type QuoteSummaryResponse = z.infer<typeof QuoteSummaryResponse>
