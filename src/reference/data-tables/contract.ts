// Tables on the wire (contract 2, Tables; resources brief 1).
import { z } from '@hono/zod-openapi'
import { MOST_COLUMNS } from '../../../packages/csv/reader.ts'
import { booleanOr, component, optional, PageSize, Text, Texts } from '../../platform/wire.ts'
import { rule } from '../../platform/wire-problem.ts'
import { SelectionQuery, textsOf } from '../contract.ts'

export const KeyTexts = textsOf(z.string().max(8_192), MOST_COLUMNS)

export const RecordQuery = SelectionQuery.extend({
  byStaticName: booleanOr(true),
  // Empty if left out, as for a range table without key columns. The contract declares it as required.
  key: KeyTexts.openapi({
    description: 'The values of the key columns, in the order of their declaration.',
    param: { required: true },
  }),
})
export type RecordQuery = z.output<typeof RecordQuery>

export const RangeRecordQuery = RecordQuery.extend({
  boundValue: z
    .string(rule('must be a plain decimal number'))
    .openapi({ type: 'number', description: 'A plain decimal number, compared exactly.' }),
})
export type RangeRecordQuery = z.output<typeof RangeRecordQuery>

const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])
const RecordValue = z.record(Text, Cell).describe('All columns, with typed values.')

export const TableLookupResponse = component('TableLookupResponse', { value: RecordValue })
export type TableLookupResponse = z.output<typeof TableLookupResponse>

const TimeOrRevision = z
  .string(rule('must be a time, such as 2026-11-21T12:00:00Z, or the locator of contents'))
  .max(64)
  .describe('A time, such as 2027-03-01T00:00:00Z, or the locator of contents that the table had.')

export const TableDiffQuery = z.object({
  from: TimeOrRevision,
  to: TimeOrRevision,
  jurisdiction: SelectionQuery.shape.jurisdiction,
  byStaticName: booleanOr(true),
  count: PageSize,
  pagingToken: optional(z.string().max(32_768)).describe('The token from the previous page.'),
})
export type TableDiffQuery = z.output<typeof TableDiffQuery>

const Side = z.object({ name: Text, revision: Text })

export const TableDiffResponse = component('TableDiffResponse', {
  from: Side,
  to: Side,
  listCompleted: z.boolean(),
  pagingToken: Text.optional(),
  items: z.array(
    z.object({
      change: z.enum(['added', 'removed', 'changed']),
      key: Texts,
      from: RecordValue.optional(),
      to: RecordValue.optional(),
    }),
  ),
})
export type TableDiffResponse = z.output<typeof TableDiffResponse>
