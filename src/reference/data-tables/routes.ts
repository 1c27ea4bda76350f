import { forTenant, type Route } from '../../platform/http/route.ts'
import { BasicResourceResponse, ResourceCreateQuery } from '../contract.ts'
import {
  RangeRecordQuery,
  RecordQuery,
  TableDiffQuery,
  TableDiffResponse,
  TableLookupResponse,
} from './contract.ts'
import { LARGEST_TABLE_BYTES } from './layout.ts'

/** Code that most requests never need. */
const service = () => import('./service.ts')

const FILE =
  'A CSV, or a zip with exactly one: the file part of a form, or the body itself. UTF-8, a header with the names of the columns, at most 1,000,000 rows, 200 columns and 100 MiB unpacked. Every problem is listed with its line, the first 50.'
const KEYS =
  'Columns, their types and which are keys are declared in config.json under the static name. Without that every column but `value` is a key where there is one, else the first column alone; all are text.'
const RANGES =
  'Both ends of a range belong to it, and an edge that two share to the one that starts there; an empty end is none. Bounds are compared as exact decimals. Ranges of one key may leave gaps and do not overlap.'

const upload = { largestBytes: LARGEST_TABLE_BYTES }
const resource = {
  schema: BasicResourceResponse,
  description: 'The table, with the locator of its contents.',
}
const zip = { media: 'application/zip', description: 'A zip with the CSV, byte for byte as it was uploaded.' }
const record = { schema: TableLookupResponse, description: 'All columns of the record.' }

const { get, patch, post } = forTenant('Tables')
const rangeTables = forTenant('Range tables')

export const dataTableRoutes: readonly Route[] = [
  post('/resource/{tenantLocator}/tables', {
    summary: 'Upload a table',
    description: `${FILE} ${KEYS}`,
    permission: 'tables.upload',
    query: ResourceCreateQuery,
    upload,
    answer: resource,
    handle: async ({ query, file }, context) => (await service()).createTable('table', query, file, context),
  }),
  patch('/resource/{tenantLocator}/tables/{name}', {
    summary: 'Replace the contents of a table',
    description: `Names and jurisdictions stay. Look-ups see the old contents or the new, never both. ${FILE}`,
    permission: 'tables.upload',
    upload,
    answer: resource,
    handle: async ({ params, file }, context) =>
      (await service()).replaceTable('table', params.name, file, context),
  }),
  get('/resource/{tenantLocator}/tables/{name}', {
    summary: 'Download a table',
    permission: 'tables.read',
    answer: zip,
    handle: async ({ params }, context) => (await service()).downloadTable('table', params.name, context),
  }),
  get('/resource/{tenantLocator}/tables/{name}/record', {
    summary: 'Look a record of a table up',
    description: `\`name\` is the static name, and the table the one in force at \`date\`; with \`byStaticName=false\` it is the table's own. ${KEYS}`,
    permission: 'tables.read',
    query: RecordQuery,
    answer: record,
    handle: async ({ params, query }, context) =>
      (await service()).showRecord('table', params.name, query, context),
  }),
  get('/resource/{tenantLocator}/tables/{name}/diff', {
    summary: 'Compare a table at two times',
    description:
      'Which records are added, removed or changed from one time to another, or from contents to others: those in force on a future date may be seen so before they are. Contents that were replaced are read from their file.',
    permission: 'tables.read',
    query: TableDiffQuery,
    answer: { schema: TableDiffResponse, description: 'A page of differences, in the order of their keys.' },
    handle: async ({ params, query }, context) =>
      (await import('./diff.ts')).tableDiff(params.name, query, context),
  }),
]

export const rangeTableRoutes: readonly Route[] = [
  rangeTables.post('/resource/{tenantLocator}/rangeTables', {
    summary: 'Upload a range table',
    description: `${FILE} ${RANGES}`,
    permission: 'tables.upload',
    query: ResourceCreateQuery,
    upload,
    answer: resource,
    handle: async ({ query, file }, context) =>
      (await service()).createTable('rangeTable', query, file, context),
  }),
  rangeTables.patch('/resource/{tenantLocator}/rangeTables/{name}', {
    summary: 'Replace the contents of a range table',
    description: `Names and jurisdictions stay. Look-ups see the old contents or the new, never both. ${FILE}`,
    permission: 'tables.upload',
    upload,
    answer: resource,
    handle: async ({ params, file }, context) =>
      (await service()).replaceTable('rangeTable', params.name, file, context),
  }),
  rangeTables.get('/resource/{tenantLocator}/rangeTables/{name}', {
    summary: 'Download a range table',
    permission: 'tables.read',
    answer: zip,
    handle: async ({ params }, context) =>
      (await service()).downloadTable('rangeTable', params.name, context),
  }),
  rangeTables.get('/resource/{tenantLocator}/rangeTables/{name}/record', {
    summary: 'Look a record of a range table up',
    description: `The record whose range holds \`boundValue\`. ${RANGES}`,
    permission: 'tables.read',
    query: RangeRecordQuery,
    answer: record,
    handle: async ({ params, query }, context) =>
      (await service()).showRecord('rangeTable', params.name, query, context),
  }),
]
