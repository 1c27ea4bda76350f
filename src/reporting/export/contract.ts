// Data export: every record of a tenant in its current state, and the changes since a cursor, as NDJSON.
import { z } from '@hono/zod-openapi'
import { component, optional, PageSize, PagingToken, Text } from '../../platform/wire.ts'

export const EXPORT_KINDS = [
  'policyholders',
  'policies',
  'disbursements',
  'auxData',
  'quickQuotes',
  'notes',
  'events',
  'journal',
] as const
export const ExportKind = z.enum(EXPORT_KINDS)
export type ExportKind = z.output<typeof ExportKind>

export const ExportPageQuery = z.object({ pageSize: PageSize, pagingToken: PagingToken })
export type ExportPageQuery = z.output<typeof ExportPageQuery>

export const ExportChangesQuery = z.object({
  cursor: optional(z.string().max(4_096)).describe(
    'From GET /export, or from the previous response. Left out: from the very first change.',
  ),
})
export type ExportChangesQuery = z.output<typeof ExportChangesQuery>

export const ExportResponse = component('ExportResponse', {
  cursor: Text.describe('An export that begins now may miss changes after this cursor.'),
  kinds: z.array(z.object({ kind: ExportKind, records: z.int() })),
})
export type ExportResponse = z.output<typeof ExportResponse>
