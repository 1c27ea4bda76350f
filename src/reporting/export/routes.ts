import { forTenant, NDJSON, type Route } from '../../platform/http/route.ts'
import { ExportChangesQuery, ExportPageQuery, ExportResponse } from './contract.ts'

const routes = forTenant('Export')

/** Loaded by the first call, because it is a lot of code for rare calls. */
const service = () => import('./service.ts')

export const exportRoutes: readonly Route[] = [
  routes.get('/export', {
    summary: 'See what can be exported, and from which cursor on changes follow',
    permission: 'export.read',
    answer: { schema: ExportResponse, description: 'Kinds of records with their counts.' },
    handle: async (_, context) => (await service()).readExport(context),
  }),
  routes.get('/export/changes', {
    summary: 'Export what has changed since a cursor',
    description:
      'Policyholders and policies that changed, each once and as it is now, and rows of the journal since, as NDJSON: at most 50 policies and 8 MiB. The last line has the next cursor. Auxiliary data, quick quotes and disbursements tell of no change: export these kinds again. Take the cursor of GET /export first, then export everything, then apply changes until one says `isCompleted`: what is there then is what is in the tenant.',
    permission: 'export.read',
    query: ExportChangesQuery,
    answer: { description: 'An object on each line, with `kind` and `record`.', media: NDJSON },
    handle: async ({ query }, context) => (await service()).exportChanges(context, query),
  }),
  routes.get('/export/{exportKind}/records', {
    summary: 'Export all records of a kind, page by page',
    description:
      'NDJSON, in the order of locators, one database after the other, at most 8 MiB, and 50 policies or one with more than 500 perils; complete and without doubles while others write. The last line has the token of the next page, or the kind `end`.',
    permission: 'export.read',
    query: ExportPageQuery,
    answer: { description: 'An object on each line, with `kind` and `record`.', media: NDJSON },
    handle: async ({ params, query }, context) =>
      (await service()).exportPage(context, params.exportKind, query),
  }),
]
