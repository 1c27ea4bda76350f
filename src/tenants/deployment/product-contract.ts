// A product with its fields: everything that a form for it needs. Bindery only.
import { z } from '@hono/zod-openapi'
import {
  component,
  Flag,
  Integer,
  OptionalText,
  optional,
  requestInteger,
  Text,
  Texts,
} from '../../platform/wire.ts'

const ChoiceResponse = component('FieldChoiceResponse', {
  value: Text.describe('What requests send.'),
  displayName: Text,
})

const FieldConditionResponse = component('FieldConditionResponse', {
  field: Text.describe('Name of the field beside it.'),
  values: Texts.describe('It must have one of these.'),
})

const constraint = z.object({
  table: Text.describe('Static name of the constraint table.'),
  column: Text.describe('The column that has what the field may be.'),
  timeBasis: z
    .enum(['policyStartTime', 'termStartTime', 'transactionEffectiveTime', 'currentTime'])
    .describe('Which time decides which contents of the table are in force.'),
  where: z
    .array(
      z.object({
        column: Text.describe('Another column of the table.'),
        field: OptionalText.describe('The field whose value it must have.'),
        of: z
          .enum(['policyholder', 'policy', 'exposure', 'peril', 'group'])
          .optional()
          .describe('What that field belongs to: this list of fields, or one around it.'),
        values: Texts.describe('What it must be where there is no such field or no value. Empty: anything.'),
      }),
    )
    .describe('Rows count in which all of these hold.'),
})

const offset = z.object({
  unit: z.enum(['year', 'month', 'week', 'day', 'hour', 'minute', 'second']),
  amount: Integer.describe('Negative: before now.'),
})

export const FieldResponse = z
  .object({
    name: Text.describe('Name that requests use.'),
    title: Text.describe('What people read.'),
    type: z
      .enum(['string', 'number', 'date', 'select', 'lookup', 'email', 'phone', 'group', 'media'])
      .describe('What its values are.'),
    isOptional: Flag.describe('Whether it may be left out.'),
    isRepeatable: Flag.describe('Whether it may have several values.'),
    isConstrained: Flag.describe(
      'Whether a constraint table limits its values; `…/constraints/evaluate` says to which.',
    ),
    constraint: constraint
      .optional()
      .describe(
        'What limits it; `GET /resource/{tenantLocator}/constraints/{name}/record` lists the values before there is a quote.',
      ),
    conditions: z
      .array(FieldConditionResponse)
      .describe('The field is there where all of them hold. Empty: always.'),
    regex: OptionalText.describe('Pattern that the whole value must fit.'),
    maximumCount: Integer.optional().describe('Greatest length of a text; greatest number of groups.'),
    minimum: OptionalText.describe('Smallest number.'),
    maximum: OptionalText.describe('Largest number.'),
    decimalPlaces: Integer.optional().describe('Of a number: so many digits after the point at most.'),
    precision: z.enum(['second', 'day', 'month', 'year']).optional().describe('Of a date.'),
    earliest: OptionalText.describe('First date, as ISO 8601 or milliseconds.'),
    latest: OptionalText.describe('Last date, as ISO 8601 or milliseconds.'),
    earliestOffset: offset.optional().describe('How far from now the first date is.'),
    latestOffset: offset.optional().describe('Last date, counted from now.'),
    choices: z
      .array(ChoiceResponse)
      .optional()
      .describe(
        'All values that it may have. Absent where any is allowed, and for tables of more than 2,000 rows.',
      ),
    get fields() {
      return z.array(FieldResponse).optional().describe('Of a group.')
    },
  })
  .openapi('FieldResponse')
export type FieldResponse = z.infer<typeof FieldResponse>

const titled = { name: Text.describe('Name that requests use.'), displayName: Text }
const fields = z.array(FieldResponse).describe('What can be filled in.')

export const ProductDetailQuery = z.object({
  configVersion: optional(requestInteger(1)).describe('Left out: the latest version of the configuration.'),
})

export const ProductDetailResponse = component('ProductDetailResponse', {
  locator: Text.describe('The product; the `productLocator` of its policies.'),
  ...titled,
  configVersion: Integer.describe('Version of the configuration that this is read from.'),
  fields: fields.describe('Of the policy.'),
  exposures: z
    .array(
      z.object({
        ...titled,
        fields,
        perils: z.array(
          z.object({
            ...titled,
            fields,
            defaults: z
              .object({
                indemnityPerItem: OptionalText,
                indemnityPerEvent: OptionalText,
                indemnityInAggregate: OptionalText,
                deductible: OptionalText,
                lumpSumPayment: OptionalText,
              })
              .describe(
                'Amounts that the peril has where a request gives none; indemnities also `unlimited`.',
              ),
          }),
        ),
      }),
    )
    .describe('What can be insured, each with its perils.'),
  jurisdictionField: OptionalText.describe('The field of the policy that selects resources by jurisdiction.'),
  paymentSchedules: z.array(z.object({ ...titled, type: Text })).describe('The first is the default.'),
  endorsements: z
    .array(
      z.object({
        ...titled,
        reprice: z.enum(['never', 'always', 'all', 'input']).describe('What it rates again.'),
      }),
    )
    .describe('Kinds of endorsements.'),
  cancellations: z
    .array(
      z.object({
        ...titled,
        categories: Texts.describe('Empty: it takes none.'),
        isReinstatable: Flag.describe('Whether cover can come back: always true.'),
      }),
    )
    .describe('Empty where the product cancels the legacy way.'),
  fees: z.array(
    z.object({
      ...titled,
      proration: z.enum(['proratable', 'flat']).describe('Whether a part of a term costs a part.'),
    }),
  ),
  policyholderFields: fields.describe('Of policyholders of the tenant.'),
  paymentFields: fields.describe('Of payments of the tenant.'),
})
export type ProductDetailResponse = z.infer<typeof ProductDetailResponse>
