// The books of a tenant: the closed periods, and balances of accounts by day, product and account.
import { z } from '@hono/zod-openapi'
import {
  Currency,
  component,
  Integer,
  Name,
  optional,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'

export const BooksResponse = component('BooksResponse', {
  closedUntilTimestamp: TimestampIfAny.describe('Nothing is booked before it; absent if nothing is closed.'),
  isBroughtIn: z
    .boolean()
    .describe(
      'Whether policies from before the journal are in it for good. Reports, balances and the close of a period bring them in.',
    ),
  isSummarized: z.boolean().describe('Whether balances have every row of the journal.'),
  rows: Integer.describe('Rows of the journal.'),
  summarizedRows: Integer.describe('Of them, those that balances have.'),
})
export type BooksResponse = z.output<typeof BooksResponse>

export const ClosePeriodRequest = component('ClosePeriodRequest', {
  until: z
    .union([z.string().min(1).max(40), z.number()])
    .openapi({ example: '2026-11-01' })
    .describe(
      "The first day that stays open (YYYY-MM-DD, in the tenant's time zone), or milliseconds. All before it is closed.",
    ),
})
export type ClosePeriodRequest = z.output<typeof ClosePeriodRequest>

export const PeriodResponse = component('PeriodResponse', {
  untilTimestamp: Timestamp,
  closedTimestamp: Timestamp,
  closedBy: Text,
})
export type PeriodResponse = z.output<typeof PeriodResponse>

const BALANCES_BY = ['day', 'month', 'product', 'account', 'currency'] as const
export type BalanceDimension = (typeof BALANCES_BY)[number]

/** A query may contain a single value: `by=day` is a list too. */
const Dimensions = optional(
  z.preprocess<unknown, z.ZodArray<z.ZodEnum<{ [D in BalanceDimension]: D }>>, unknown>(
    wire => (typeof wire === 'string' ? wire.split(',') : wire),
    z.array(z.enum(BALANCES_BY)).max(20),
  ),
)

export const BalancesQuery = z.object({
  from: optional(z.string().max(40)).describe('Only days from this one on. Left out: from the first.'),
  to: optional(z.string().max(40)).describe('Only days before this one. Left out: all.'),
  by: Dimensions.describe(
    'Left out: account. Several are repeated or separated by commas. Currencies are always apart.',
  ),
  account: optional(Name).describe('Only this account.'),
})
export type BalancesQuery = z.output<typeof BalancesQuery>

const Balance = z.object({
  day: Text.optional(),
  month: Text.optional(),
  product: Text.optional(),
  account: Text.optional(),
  accountCode: Text.optional(),
  currency: Currency,
  debit: z.number(),
  credit: z.number(),
  balance: z.number().describe('Debit less credit.'),
})

export const BalancesResponse = component('BalancesResponse', {
  isComplete: z
    .boolean()
    .describe(
      'False while policies from before the journal, or rows of it, are still to be summed: ask again, each request does a part.',
    ),
  items: z.array(Balance).describe('At most 10,000; fewer dimensions or a shorter period make fewer.'),
})
export type BalancesResponse = z.output<typeof BalancesResponse>
