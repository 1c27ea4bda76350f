import { forTenant, NDJSON, type Route } from '../../platform/http/route.ts'
import { ExportChangesQuery, ExportPageQuery, ExportResponse } from './contract.ts'

const routes = forTenant('Export')

/** Loaded by the first call, because it is a lot of code for rare calls. */
const service = () => import('./service.ts')

export const exportRoutes: readonly Route[] = [
  routes.get('/export', {
    summary: 'List what can be exported, with the cursor for later changes',
    permission: 'export.read',
    answer: { schema: ExportResponse, description: 'Kinds of records with their counts.' },
    handle: async (_, context) => (await service()).readExport(context),
  }),
  routes.get('/export/changes', {
    summary: 'Export what has changed since a cursor',
    description:
      'Changed policyholders and policies, each once and in its current state, and new rows of the journal, as NDJSON: at most 50 policies and 8 MiB. The last line has the next cursor. Changes of auxiliary data, quick quotes and disbursements are not reported: export these kinds again. First read the cursor of GET /export, then export everything, then apply changes until a response has `isCompleted`. Your copy then matches the tenant.',
    permission: 'export.read',
    query: ExportChangesQuery,
    answer: { description: 'One object per line, with `kind` and `record`.', media: NDJSON },
    handle: async ({ query }, context) => (await service()).exportChanges(context, query),
  }),
  routes.get('/export/{exportKind}/records', {
    summary: 'Export all records of a kind, page by page',
    description:
      'NDJSON, ordered by locator, one database after the other, at most 8 MiB, and 50 policies or one with more than 500 perils. Complete and without duplicates even during writes. The last line has the token of the next page, or the kind `end`.',
    permission: 'export.read',
    query: ExportPageQuery,
    answer: { description: 'One object per line, with `kind` and `record`.', media: NDJSON },
    handle: async ({ params, query }, context) =>
      (await service()).exportPage(context, params.exportKind, query),
  }),
]
