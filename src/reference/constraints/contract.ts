// Constraint tables, and the values that they permit, on the wire (contract 2, Tables; resources brief 1.4 and 3).
import { z } from '@hono/zod-openapi'
import { booleanOr, component, Text, Texts } from '../../platform/wire.ts'
import { SelectionQuery } from '../contract.ts'
import { KeyTexts } from '../data-tables/contract.ts'

/** Any other parameter with the name of a column filters that column: `make=VW`. */
export const ConstraintRecordQuery = SelectionQuery.extend({
  byStaticName: booleanOr(true),
  key: KeyTexts.optional()
    .transform(keys => keys ?? [])
    .openapi({
      type: 'array',
      items: { type: 'string' },
      description:
        'Values of the leading columns, in the order of the header, or `column=value` for any column.',
    }),
}).catchall(z.unknown())
export type ConstraintRecordQuery = z.output<typeof ConstraintRecordQuery>

const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const ConstraintRecordResponse = z
  .record(Text, z.array(Cell))
  .openapi('ConstraintRecordResponse', { description: 'The typed values of each column.' })
export type ConstraintRecordResponse = z.output<typeof ConstraintRecordResponse>

const MOST_ENTRIES = 10_000

/** A value to assume: text, or a number or boolean that is converted to text; null for no value. */
const Prospective = z
  .union([z.string().max(20_000), z.number(), z.boolean(), z.null()])
  .transform(value => (value === null ? '' : String(value)))
  .openapi({ type: 'string' })

const mapOf = <Value extends z.ZodType>(value: Value) =>
  z.record(z.string(), value).refine(entries => Object.keys(entries).length <= MOST_ENTRIES, {
    message: `must have at most ${MOST_ENTRIES} entries`,
  })

/** By the column of the table, or by the name of the field that governs it. */
const ProspectiveValues = mapOf(Prospective)

/** A missing body means all, like an empty map. The OpenAPI document declares the body as required, as the contract does. */
const withEmptyDefault = <Request extends z.ZodType>(request: Request) =>
  z.preprocess(wire => wire ?? {}, request)

export const AccountEvaluationRequest = withEmptyDefault(
  mapOf(ProspectiveValues).openapi('AccountConstraintEvaluationRequest'),
)
export type AccountEvaluationRequest = z.output<typeof AccountEvaluationRequest>

export const EvaluationRequest = withEmptyDefault(
  mapOf(mapOf(ProspectiveValues)).openapi('ConstraintEvaluationRequest'),
)
export type EvaluationRequest = z.output<typeof EvaluationRequest>

export const EvaluationResponse = z
  .record(Text, z.record(Text, Texts))
  .openapi('ConstraintEvaluationResponse')
export type EvaluationResponse = z.output<typeof EvaluationResponse>

const ConditionValue = component('ConditionValue', { staticLocator: Text, fieldName: Text, values: Texts })

const ConstraintDependency = component('ConstraintDependency', {
  column: Text,
  table: Text,
  where: z.record(Text, ConditionValue),
})

export const DependencyResponse = z
  .record(Text, z.record(Text, ConstraintDependency))
  .openapi('ConstraintDependencyResponse')
export type DependencyResponse = z.output<typeof DependencyResponse>
