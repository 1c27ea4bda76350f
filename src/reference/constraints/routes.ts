import { forTenant, type Route } from '../../platform/http/route.ts'
import { BasicResourceResponse, ResourceCreateQuery } from '../contract.ts'
import { LARGEST_TABLE_BYTES } from '../data-tables/layout.ts'
import { ConstraintRecordQuery, ConstraintRecordResponse } from './contract.ts'

/** Code that most requests never need. */
const service = () => import('./service.ts')
const records = () => import('./record.ts')

const FILE =
  'A CSV, or a zip with exactly one: the file part of a form, or the body itself. UTF-8, a header with the names of the columns, one row for each combination that is allowed, at most 1,000,000 rows, 200 columns and 100 MiB unpacked. Every problem is listed with its line, the first 50.'

const { get, patch, post } = forTenant('Constraints')
const upload = { largestBytes: LARGEST_TABLE_BYTES }
const resource = {
  schema: BasicResourceResponse,
  description: 'The constraint table, with the locator of its contents.',
}

export const constraintTableRoutes: readonly Route[] = [
  post('/resource/{tenantLocator}/constraints', {
    summary: 'Upload a constraint table',
    description: `${FILE} Columns that the newest configuration declares, or holds fields against, must be there.`,
    permission: 'constraints.upload',
    query: ResourceCreateQuery,
    upload,
    answer: resource,
    handle: async ({ query, file }, context) => (await service()).createConstraintTable(query, file, context),
  }),
  patch('/resource/{tenantLocator}/constraints/{name}', {
    summary: 'Replace the contents of a constraint table',
    description: `Names and jurisdictions stay. ${FILE}`,
    permission: 'constraints.upload',
    upload,
    answer: resource,
    handle: async ({ params, file }, context) =>
      (await service()).replaceConstraintTable(params.name, file, context),
  }),
  get('/resource/{tenantLocator}/constraints/{name}', {
    summary: 'Download a constraint table',
    permission: 'constraints.read',
    answer: {
      media: 'application/zip',
      description: 'A zip with the CSV, byte for byte as it was uploaded.',
    },
    handle: async ({ params }, context) => (await service()).downloadConstraintTable(params.name, context),
  }),
  get('/resource/{tenantLocator}/constraints/{name}/record', {
    summary: 'What a constraint table allows, column by column',
    description:
      "`name` is the static name, and the table the one in force at `date`; with `byStaticName=false` it is the table's own. `key` names values of the leading columns, in the order of the header, or `column=value`. Columns that config.json declares `makeDistinct` are without repeats.",
    permission: 'constraints.read',
    query: ConstraintRecordQuery,
    answer: { schema: ConstraintRecordResponse, description: 'The values of each column.' },
    handle: async ({ params, query }, context) =>
      (await records()).showConstraintRecord(params.name, query, context),
  }),
]
