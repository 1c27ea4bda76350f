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
  closedUntilTimestamp: TimestampIfAny.describe(
    'Start of the first open day: nothing is booked before it. Absent if no period is closed.',
  ),
  isBroughtIn: z
    .boolean()
    .describe(
      'Whether the journal permanently contains policies from before it. Reports, balances and closing a period bring them in.',
    ),
  isSummarized: z.boolean().describe('Whether balances contain every row of the journal.'),
  rows: Integer.describe('Number of rows of the journal.'),
  summarizedRows: Integer.describe('Number of these rows that balances contain.'),
})
export type BooksResponse = z.output<typeof BooksResponse>

export const ClosePeriodRequest = component('ClosePeriodRequest', {
  until: z
    .union([z.string().min(1).max(40), z.number()])
    .openapi({ example: '2026-11-01' })
    .describe(
      "The first day that stays open (YYYY-MM-DD, in the tenant's time zone), or milliseconds. Everything before it is closed.",
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
  from: optional(z.string().max(40)).describe('Only this day and later days. Left out: from the first day.'),
  to: optional(z.string().max(40)).describe('Only days before this one. Left out: all days.'),
  by: Dimensions.describe(
    'Dimensions, repeated or separated by commas. Left out: account. Currencies are always separate.',
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
  balance: z.number().describe('Debit minus credit.'),
})

export const BalancesResponse = component('BalancesResponse', {
  isComplete: z
    .boolean()
    .describe(
      'False while the service is still summing rows of the journal, or policies from before it. Send the request again: each request does a part.',
    ),
  items: z.array(Balance).describe('At most 10,000. For fewer, use fewer dimensions or a shorter period.'),
})
export type BalancesResponse = z.output<typeof BalancesResponse>
