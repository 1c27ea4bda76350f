// The impact of another configuration on the policies of a tenant: requests, progress and totals.
import { z } from '@hono/zod-openapi'
import {
  component,
  Flag,
  filePart,
  Integer,
  LongName,
  OptionalText,
  OptionalTimestamp,
  optional,
  Text,
  Texts,
  Timestamp,
} from '../../platform/wire.ts'
import { AGAINST, IMPACT_STATES } from './tables.ts'

const OCCASIONS = ['renewal', 'day'] as const

export const ImpactForm = z.object({
  zipFile: filePart('zipFile').describe(
    'The archive of the other configuration. It is checked, and not deployed.',
  ),
  name: optional(LongName).describe('What its author calls it. Left out: the name of the file.'),
  occasion: z
    .enum(OCCASIONS)
    .default('renewal')
    .describe(
      'renewal: each policy for the term after its present one. day: for a term that begins on the day.',
    ),
  day: OptionalTimestamp.describe('Policies with cover at this time are in force. Left out: now.'),
  against: z
    .enum(AGAINST)
    .default('recorded')
    .describe(
      'recorded: what was recorded when the policy was priced. version: what its own version of the configuration gives for the same term.',
    ),
  by: optional(LongName).describe(
    'Fields that policies are grouped by, with commas, as `region_class,vehicle.usage`. Left out: those of the types select and number.',
  ),
})
export type ImpactForm = z.output<typeof ImpactForm>

const Count = Integer
const Money = z.number()

const Parts = z.object({ premium: Money, taxes: Money, fees: Money, total: Money })

const sums = {
  policies: Count,
  old: Money,
  new: Money,
  losers: Count.describe('Policies that pay more.'),
  winners: Count.describe('Policies that pay less.'),
}

const Counted = z.array(z.object({ what: Text, policies: Count })).describe('Most first.')

export const ImpactTotals = component('ImpactTotals', {
  policies: Count.describe('All that were looked at.'),
  notInForce: Count.describe('Without cover on the day.'),
  cancelled: Count.describe('That end by a cancellation, so that they are not renewed.'),
  unpriced: Count.describe('Without one of the prices; `reasons` say why.'),
  compared: z.object(sums).describe('Policies with both prices.'),
  old: Parts,
  new: Parts,
  medianPercent: z.number().optional(),
  decisions: z
    .object({ accept: Count, none: Count, reject: Count })
    .describe('Of the underwriting of the other configuration.'),
  reasons: Counted,
  leftOut: Counted.describe('What the other configuration does not know; it was left out when pricing.'),
  covers: z
    .array(z.object({ name: Text, policies: Count, old: Money, new: Money }))
    .describe('Premium by cover.'),
  groups: z.array(z.object({ field: Text, group: Text, ...sums })),
})
export type ImpactTotals = z.output<typeof ImpactTotals>

const run = {
  locator: Text,
  state: z.enum(IMPACT_STATES),
  name: Text,
  occasion: z.enum(OCCASIONS),
  dayTimestamp: Timestamp,
  against: z.enum(AGAINST),
  fields: Texts.describe('Ids of the fields that policies are grouped by.'),
  policies: Count.describe('How many policies were looked at so far.'),
  expectedPolicies: Count.describe('How many there were when it was made.'),
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  createdBy: Text,
}

export const ImpactResponse = component('ImpactResponse', {
  ...run,
  currency: Text.describe('Of all amounts in the totals.'),
  totals: ImpactTotals.describe('Of the policies so far.'),
})
export type ImpactResponse = z.output<typeof ImpactResponse>

export const ImpactSummaryResponse = component('ImpactSummaryResponse', run)
export type ImpactSummaryResponse = z.output<typeof ImpactSummaryResponse>

/** As with a deploy, mistakes in the archive are part of the answer and not an error. */
export const ImpactCreateResponse = component('ImpactCreateResponse', {
  success: Flag,
  impact: ImpactResponse.optional().describe('Absent where the archive has mistakes.'),
  logfile: OptionalText.describe('What was found in the archive, as a deploy logs it.'),
})
export type ImpactCreateResponse = z.output<typeof ImpactCreateResponse>
