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
  value: Text.describe('Value that requests send.'),
  displayName: Text,
})

const FieldConditionResponse = component('FieldConditionResponse', {
  field: Text.describe('Name of another field of the same list.'),
  values: Texts.describe('That field must have one of these values.'),
})

const constraint = z.object({
  table: Text.describe('Static name of the constraint table.'),
  column: Text.describe('The column with the allowed values.'),
  timeBasis: z
    .enum(['policyStartTime', 'termStartTime', 'transactionEffectiveTime', 'currentTime'])
    .describe('The time that determines which contents of the table apply.'),
  where: z
    .array(
      z.object({
        column: Text.describe('Another column of the table.'),
        field: OptionalText.describe('The field with the required value of the column.'),
        of: z
          .enum(['policyholder', 'policy', 'exposure', 'peril', 'group'])
          .optional()
          .describe('The owner of that field: this list of fields, or one that contains it.'),
        values: Texts.describe(
          'Required values if there is no such field or it has no value. Empty: any value.',
        ),
      }),
    )
    .describe('Only rows that meet all of these conditions count.'),
})

const offset = z.object({
  unit: z.enum(['year', 'month', 'week', 'day', 'hour', 'minute', 'second']),
  amount: Integer.describe('Negative: before now.'),
})

export const FieldResponse = z
  .object({
    name: Text.describe('Name that requests use.'),
    title: Text.describe('Display name.'),
    type: z
      .enum(['string', 'number', 'date', 'select', 'lookup', 'email', 'phone', 'group', 'media'])
      .describe('Type of the values.'),
    isOptional: Flag.describe(
      'Whether the field can be left out. Requests may leave out any field of a policyholder; `policyholder.form.json` determines which of them forms require.',
    ),
    isRepeatable: Flag.describe('Whether the field can have several values.'),
    isConstrained: Flag.describe(
      'Whether a constraint table limits the values. `…/constraints/evaluate` returns the allowed ones.',
    ),
    constraint: constraint
      .optional()
      .describe(
        'The constraint. `GET /resource/{tenantLocator}/constraints/{name}/record` lists the values before a quote exists.',
      ),
    conditions: z
      .array(FieldConditionResponse)
      .describe('The field exists only if all conditions are met. Empty: always.'),
    regex: OptionalText.describe('Regular expression that the whole value must match.'),
    maximumCount: Integer.optional().describe('Maximum length of a text, or maximum number of groups.'),
    minimum: OptionalText.describe('Minimum of a number.'),
    maximum: OptionalText.describe('Maximum of a number.'),
    decimalPlaces: Integer.optional().describe('Maximum number of digits after the decimal point.'),
    precision: z.enum(['second', 'day', 'month', 'year']).optional().describe('Precision of a date.'),
    earliest: OptionalText.describe('Earliest date, as ISO 8601 or milliseconds.'),
    latest: OptionalText.describe('Latest date, as ISO 8601 or milliseconds.'),
    earliestOffset: offset.optional().describe('Earliest date, relative to now.'),
    latestOffset: offset.optional().describe('Latest date, relative to now.'),
    choices: z
      .array(ChoiceResponse)
      .optional()
      .describe(
        'All allowed values. Absent if any value is allowed, and for tables of more than 2,000 rows.',
      ),
    get fields() {
      return z.array(FieldResponse).optional().describe('Fields of a group.')
    },
  })
  .openapi('FieldResponse')
export type FieldResponse = z.infer<typeof FieldResponse>

const titled = { name: Text.describe('Name that requests use.'), displayName: Text }
const fields = z.array(FieldResponse).describe('Fields that can be filled in.')

export const ProductDetailQuery = z.object({
  configVersion: optional(requestInteger(1)).describe('Left out: the latest version of the configuration.'),
})

export const ProductDetailResponse = component('ProductDetailResponse', {
  locator: Text.describe('Locator of the product; the `productLocator` of its policies.'),
  ...titled,
  configVersion: Integer.describe('Version of the configuration that this was read from.'),
  fields: fields.describe('Fields of the policy.'),
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
              .describe('Amounts of the peril if a request gives none; indemnities also `unlimited`.'),
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
        reprice: z.enum(['never', 'always', 'all', 'input']).describe('What the endorsement reprices.'),
      }),
    )
    .describe('Kinds of endorsements.'),
  cancellations: z
    .array(
      z.object({
        ...titled,
        categories: Texts.describe('Empty: the cancellation has no categories.'),
        isReinstatable: Flag.describe('Whether cover can be reinstated. Always true.'),
      }),
    )
    .describe('Empty if the product uses legacy cancellation.'),
  fees: z.array(
    z.object({
      ...titled,
      proration: z.enum(['proratable', 'flat']).describe('Whether the fee is prorated for a part of a term.'),
    }),
  ),
  policyholderFields: fields.describe(
    'Fields of all policyholders of the tenant, in the order and with the titles of the form of the configuration.',
  ),
  paymentFields: fields.describe('Fields of all payments of the tenant.'),
})
export type ProductDetailResponse = z.infer<typeof ProductDetailResponse>
