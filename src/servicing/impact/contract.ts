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
    'The archive of the other configuration. It is checked, but not deployed.',
  ),
  name: optional(LongName).describe('Name of the impact. Default: the name of the file.'),
  occasion: z
    .enum(OCCASIONS)
    .default('renewal')
    .describe(
      'renewal: each policy for the term after its current one. day: for a term that begins on the day.',
    ),
  day: OptionalTimestamp.describe('Policies with cover at this time are compared. Default: now.'),
  against: z
    .enum(AGAINST)
    .default('recorded')
    .describe(
      "recorded: the price that was recorded when the policy was priced. version: the price of the policy's own configuration version for the same term.",
    ),
  by: optional(LongName).describe(
    'Fields to group policies by, separated by commas, such as `region_class,vehicle.usage`. Default: all fields of the types select and number.',
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
  losers: Count.describe('Number of policies that pay more.'),
  winners: Count.describe('Number of policies that pay less.'),
}

const Counted = z.array(z.object({ what: Text, policies: Count })).describe('The most policies first.')

export const ImpactTotals = component('ImpactTotals', {
  policies: Count.describe('Number of policies processed.'),
  notInForce: Count.describe('Number of policies without cover on the day.'),
  cancelled: Count.describe('Number of policies that end by a cancellation and are not renewed.'),
  unpriced: Count.describe('Number of policies without one of the prices; `reasons` says why.'),
  compared: z.object(sums).describe('Policies with both prices.'),
  old: Parts,
  new: Parts,
  medianPercent: z.number().optional(),
  decisions: z
    .object({ accept: Count, none: Count, reject: Count })
    .describe('Decisions of underwriting with the other configuration.'),
  reasons: Counted,
  leftOut: Counted.describe('Data that the other configuration does not know. It was left out when pricing.'),
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
  policies: Count.describe('Number of policies processed so far.'),
  expectedPolicies: Count.describe('Number of policies when the impact was created.'),
  createdTimestamp: Timestamp,
  updatedTimestamp: Timestamp,
  createdBy: Text,
}

export const ImpactResponse = component('ImpactResponse', {
  ...run,
  currency: Text.describe('Currency of all amounts in the totals.'),
  totals: ImpactTotals.describe('Totals of the policies processed so far.'),
})
export type ImpactResponse = z.output<typeof ImpactResponse>

export const ImpactSummaryResponse = component('ImpactSummaryResponse', run)
export type ImpactSummaryResponse = z.output<typeof ImpactSummaryResponse>

/** As with a deploy, mistakes in the archive are part of the answer and not an error. */
export const ImpactCreateResponse = component('ImpactCreateResponse', {
  success: Flag,
  impact: ImpactResponse.optional().describe('Absent if the archive has errors.'),
  logfile: OptionalText.describe('Findings in the archive, in the format of a deploy log.'),
})
export type ImpactCreateResponse = z.output<typeof ImpactCreateResponse>
