// Every kind of upload has routes to create, replace and download it. Tables also have look-ups of records.
import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { LONGEST_FONT_STATIC_NAME, TEMPLATE_FORMATS } from '../../product/resources.ts'
import { ConstraintRecordQuery, ConstraintRecordResponse } from '../constraints/contract.ts'
import { BasicResourceResponse, ResourceCreateQuery, ResourceName, SelectionQuery } from '../contract.ts'
import * as contract from '../data-tables/contract.ts'
import { LARGEST_TABLE_BYTES } from '../data-tables/layout.ts'

// Loaded on demand: most requests do not need these modules.
const uploads = () => import('./service.ts')
const tables = () => import('../data-tables/service.ts')

const FORMS =
  'A CSV, or a zip with exactly one CSV, as the file part of a form or as the body itself. It must be UTF-8, have a header with the names of the columns,'
const LIMITS =
  'and have at most 1,000,000 rows, 200 columns and 100 MiB uncompressed. The first 50 problems are listed with their lines.'
const KEYS =
  'Columns, their types and keys are declared in config.json under the static name. Without a declaration, every column except `value` is a key if there is a column `value`, otherwise only the first column; all columns are text.'
const RANGES =
  'Both ends of a range belong to it; an edge that two ranges share belongs to the one that starts there; an empty end means no limit. Bounds are compared as exact decimals. Ranges with the same key can have gaps but must not overlap.'
const SWITCH = ' Look-ups see either the old or the new contents, never a mixture.'

const TABLES = {
  table: {
    heading: forTenant('Tables'),
    segment: 'tables',
    noun: 'table',
    permission: 'tables',
    file: `${FORMS} ${LIMITS}`,
    rules: KEYS,
    replacing: SWITCH,
    answer: 'The table, with the locator of its contents.',
  },
  rangeTable: {
    heading: forTenant('Range tables'),
    segment: 'rangeTables',
    noun: 'range table',
    permission: 'tables',
    file: `${FORMS} ${LIMITS}`,
    rules: RANGES,
    replacing: SWITCH,
    answer: 'The table, with the locator of its contents.',
  },
  constraintTable: {
    heading: forTenant('Constraints'),
    segment: 'constraints',
    noun: 'constraint table',
    permission: 'constraints',
    file: `${FORMS} have one row for each permitted combination, ${LIMITS}`,
    rules:
      'Columns that the newest configuration declares, or that constraints of its fields use, are required.',
    replacing: '',
    answer: 'The constraint table, with the locator of its contents.',
  },
} as const

function tableRoutes(type: keyof typeof TABLES): Route[] {
  const {
    heading,
    segment,
    noun,
    permission,
    file: form,
    rules,
    replacing,
    answer: description,
  } = TABLES[type]
  const upload = { largestBytes: LARGEST_TABLE_BYTES }
  const answer = { schema: BasicResourceResponse, description }
  return [
    heading.post(`/resource/{tenantLocator}/${segment}`, {
      summary: `Upload a ${noun}`,
      description: `${form} ${rules}`,
      permission: `${permission}.upload`,
      query: ResourceCreateQuery,
      upload,
      answer,
      handle: async ({ query, file }, context) =>
        (await uploads()).createUpload({ type }, query, file, context),
    }),
    heading.patch(`/resource/{tenantLocator}/${segment}/{name}`, {
      summary: `Replace the contents of a ${noun}`,
      description: `Names and jurisdictions are unchanged.${replacing} ${form}`,
      permission: `${permission}.upload`,
      upload,
      answer,
      handle: async ({ params, file }, context) =>
        (await uploads()).replaceUpload({ type }, params.name, file, context),
    }),
    heading.get(`/resource/{tenantLocator}/${segment}/{name}`, {
      summary: `Download a ${noun}`,
      permission: `${permission}.read`,
      answer: {
        media: 'application/zip',
        description: 'A zip with the CSV, byte for byte as it was uploaded.',
      },
      handle: async ({ params }, context) => (await uploads()).downloadTable({ type }, params.name, context),
    }),
  ]
}

const record = { schema: contract.TableLookupResponse, description: 'All columns of the record.' }

export const dataTableRoutes: readonly Route[] = [
  ...tableRoutes('table'),
  TABLES.table.heading.get('/resource/{tenantLocator}/tables/{name}/record', {
    summary: 'Look up a record of a table',
    description: `\`name\` is the static name, and the table is the one in force at \`date\`; with \`byStaticName=false\`, \`name\` is the table's own name. ${KEYS}`,
    permission: 'tables.read',
    query: contract.RecordQuery,
    answer: record,
    handle: async ({ params, query }, context) =>
      (await tables()).showRecord('table', params.name, query, context),
  }),
  TABLES.table.heading.get('/resource/{tenantLocator}/tables/{name}/diff', {
    summary: 'Compare a table at two times',
    description:
      'Returns the records that were added, removed or changed from one time, or one version of the contents, to another. Contents that come into force on a future date can be compared before that date. Contents that were replaced are read from their file.',
    permission: 'tables.read',
    query: contract.TableDiffQuery,
    answer: {
      schema: contract.TableDiffResponse,
      description: 'A page of differences, in the order of their keys.',
    },
    handle: async ({ params, query }, context) =>
      (await import('../data-tables/diff.ts')).tableDiff(params.name, query, context),
  }),
]

export const rangeTableRoutes: readonly Route[] = [
  ...tableRoutes('rangeTable'),
  TABLES.rangeTable.heading.get('/resource/{tenantLocator}/rangeTables/{name}/record', {
    summary: 'Look up a record of a range table',
    description: `Returns the record whose range contains \`boundValue\`. ${RANGES}`,
    permission: 'tables.read',
    query: contract.RangeRecordQuery,
    answer: record,
    handle: async ({ params, query }, context) =>
      (await tables()).showRecord('rangeTable', params.name, query, context),
  }),
]

export const constraintTableRoutes: readonly Route[] = [
  ...tableRoutes('constraintTable'),
  TABLES.constraintTable.heading.get('/resource/{tenantLocator}/constraints/{name}/record', {
    summary: 'Get the values that a constraint table permits, column by column',
    description:
      "`name` is the static name, and the table is the one in force at `date`; with `byStaticName=false`, `name` is the table's own name. `key` specifies values of the leading columns, in the order of the header, or `column=value`. Columns that config.json declares as `makeDistinct` have no duplicates.",
    permission: 'constraints.read',
    query: ConstraintRecordQuery,
    answer: { schema: ConstraintRecordResponse, description: 'The values of each column.' },
    handle: async ({ params, query }, context) =>
      (await import('../constraints/service.ts')).showConstraintRecord(params.name, query, context),
  }),
]

const answer = { schema: BasicResourceResponse, description: 'The resource.' }

const FILES = {
  staticDocument: {
    heading: forTenant('Static documents'),
    segment: 'documents',
    noun: 'static document',
    largestBytes: 25 * 1_048_576,
    form: 'The part `file` of a form, or the body itself with its Content-Type; at most 25 MiB. The format is determined by the Content-Type, otherwise by the extension of the file name, otherwise by the bytes.',
    query: ResourceCreateQuery,
  },
  customFont: {
    heading: forTenant('Fonts'),
    segment: 'fonts',
    noun: 'font',
    largestBytes: 10 * 1_048_576,
    form: 'A TrueType, OpenType, WOFF or WOFF2 file of at most 10 MiB, as the part `file` of a form or as the body itself; the format is detected from the bytes.',
    query: ResourceCreateQuery.extend({ staticName: ResourceName.max(LONGEST_FONT_STATIC_NAME) }),
  },
} as const

const fileRoutes = (type: keyof typeof FILES): Route[] => {
  const { heading, segment, noun, largestBytes, form, query } = FILES[type]
  const upload = { largestBytes }
  return [
    heading.post(`/resource/{tenantLocator}/${segment}`, {
      summary: `Upload a ${noun}`,
      description: form,
      permission: `${segment}.upload`,
      query,
      upload,
      answer,
      handle: async ({ query: names, file }, context) =>
        (await uploads()).createUpload({ type }, names, file, context),
    }),
    heading.patch(`/resource/{tenantLocator}/${segment}/{name}`, {
      summary: `Replace a ${noun}`,
      description: `${form} Earlier contents are kept.`,
      permission: `${segment}.update`,
      upload,
      answer,
      handle: async ({ params, file }, context) =>
        (await uploads()).replaceUpload({ type }, params.name, file, context),
    }),
    heading.get(`/resource/{tenantLocator}/${segment}/{name}`, {
      summary: `Get the file of a ${noun}`,
      permission: `${segment}.read`,
      query: SelectionQuery,
      answer: { description: 'The file as it was uploaded.', media: 'application/octet-stream' },
      handle: async ({ params, query: selection }, context) =>
        (await uploads()).downloadFile({ type }, params.name, selection, context),
    }),
  ]
}

export const fileResourceRoutes: readonly Route[] = [
  ...fileRoutes('staticDocument'),
  ...fileRoutes('customFont'),
]

// Templates and snippets have a path for each dialect.

const TEMPLATE_UPLOAD = { largestBytes: 5_000_000, partNames: ['file', 'template'], media: 'text/plain' }
const TEMPLATE_FORM =
  'UTF-8 text of at most 5 MB: the body itself, or the part `file` or `template` of a form. It is compiled first: a template with errors is rejected with their lines and columns.'

const DIALECTS = { liquid: 'Liquid', velocity: 'Velocity' } as const

const templateRoutesOf = (
  type: 'documentTemplate' | 'documentTemplateSnippet',
  segment: 'templates' | 'templateSnippets',
  noun: string,
  { get, patch, post }: ReturnType<typeof forTenant>,
): Route[] => [
  ...TEMPLATE_FORMATS.flatMap((templateFormat): Route[] => [
    post(`/resource/{tenantLocator}/${segment}/${templateFormat}`, {
      summary: `Upload a ${noun} in ${DIALECTS[templateFormat]}`,
      description: TEMPLATE_FORM,
      permission: 'templates.upload',
      query: ResourceCreateQuery,
      upload: TEMPLATE_UPLOAD,
      answer,
      handle: async ({ query, file }, context) =>
        (await uploads()).createUpload({ type, templateFormat }, query, file, context),
    }),
    patch(`/resource/{tenantLocator}/${segment}/${templateFormat}`, {
      summary: `Replace a ${noun} in ${DIALECTS[templateFormat]}`,
      description: `${TEMPLATE_FORM} Earlier contents are kept.`,
      permission: 'templates.upload',
      query: z.object({ name: ResourceName }),
      upload: TEMPLATE_UPLOAD,
      answer,
      handle: async ({ query, file }, context) =>
        (await uploads()).replaceUpload({ type, templateFormat }, query.name, file, context),
    }),
  ]),
  get(`/resource/{tenantLocator}/${segment}/{name}`, {
    summary: `Get the text of a ${noun}`,
    permission: 'templates.read',
    query: SelectionQuery,
    answer: { description: 'The text as it was uploaded.', media: 'text/plain' },
    handle: async ({ params, query }, context) =>
      (await uploads()).downloadFile({ type }, params.name, query, context),
  }),
]

export const templateRoutes: readonly Route[] = templateRoutesOf(
  'documentTemplate',
  'templates',
  'template',
  forTenant('Templates'),
)

export const templateSnippetRoutes: readonly Route[] = templateRoutesOf(
  'documentTemplateSnippet',
  'templateSnippets',
  'template snippet',
  forTenant('Template snippets'),
)
