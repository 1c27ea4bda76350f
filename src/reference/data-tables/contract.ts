// Tables on the wire (contract 2, Tables; resources brief 1).
import { z } from '@hono/zod-openapi'
import { MOST_COLUMNS } from '../../../packages/csv/reader.ts'
import { booleanOr, optional, PageSize, Text, Texts } from '../../platform/wire.ts'
import { rule } from '../../platform/wire-problem.ts'
import { SelectionQuery } from '../contract.ts'

/** One value or several of a query: `key=CA&key=12`. */
const Keys = z
  .preprocess(
    wire => (wire === undefined || wire === null ? [] : Array.isArray(wire) ? wire : [wire]),
    z.array(z.string().max(8_192)).max(MOST_COLUMNS),
  )
  .openapi({
    type: 'array',
    items: { type: 'string' },
    description: 'The values of the key columns, in the order in which those are declared.',
    // Left out it is empty, as of a range table without key columns; the contract requires it.
    param: { required: true },
  })

export const RecordQuery = SelectionQuery.extend({
  byStaticName: booleanOr(true),
  key: Keys,
})
export type RecordQuery = z.output<typeof RecordQuery>

export const RangeRecordQuery = RecordQuery.extend({
  boundValue: z
    .string(rule('must be a plain decimal number'))
    .openapi({ type: 'number', description: 'A plain decimal number, compared exactly.' }),
})
export type RangeRecordQuery = z.output<typeof RangeRecordQuery>

const Cell = z.union([z.string(), z.number(), z.boolean(), z.null()])
const RecordValue = z.record(Text, Cell).openapi({ description: 'All columns, typed.' })

export const TableLookupResponse = z.object({ value: RecordValue }).openapi('TableLookupResponse')
export type TableLookupResponse = z.output<typeof TableLookupResponse>

/** A time, or the locator of contents. */
const TimeOrRevision = z
  .string(rule('must be a time, as 2026-11-21T12:00:00Z, or the locator of contents'))
  .max(64)
  .openapi({ description: 'A time, as 2027-03-01T00:00:00Z, or the locator of contents that a table had.' })

export const TableDiffQuery = z.object({
  from: TimeOrRevision,
  to: TimeOrRevision,
  jurisdiction: SelectionQuery.shape.jurisdiction,
  byStaticName: booleanOr(true),
  count: PageSize,
  pagingToken: optional(z.string().max(32_768)).openapi({ description: 'From the page before.' }),
})
export type TableDiffQuery = z.output<typeof TableDiffQuery>

const Side = z.object({ name: Text, revision: Text })

export const TableDiffResponse = z
  .object({
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
  .openapi('TableDiffResponse')
export type TableDiffResponse = z.output<typeof TableDiffResponse>
