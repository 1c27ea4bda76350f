import { forTenant, type Route } from '../../platform/http/route.ts'
import { LONGEST_FONT_STATIC_NAME } from '../../product/resources.ts'
import { BasicResourceResponse, ResourceCreateQuery, ResourceName, SelectionQuery } from '../contract.ts'
import { documentFormat, fontFile } from './formats.ts'
import type { FileKind } from './service.ts'

/** Code that most requests never need. */
const service = () => import('./service.ts')

const LARGEST_DOCUMENT_BYTES = 25 * 1_048_576
const LARGEST_FONT_BYTES = 10 * 1_048_576

const staticDocument: FileKind = { type: 'staticDocument', read: documentFormat }
const font: FileKind = { type: 'customFont', read: fontFile }

const answer = { schema: BasicResourceResponse, description: 'The resource.' }
const contents = { description: 'The file as it was uploaded.', media: 'application/octet-stream' }

const { get, patch, post } = forTenant('Static documents')
const fonts = forTenant('Fonts')
const DOCUMENT_FORMS =
  'The part `file` of a form, or the body itself with its Content-Type; at most 25 MiB. The format is told by the Content-Type, else by the ending of the file name, else by the bytes.'

const FONT_FORMS =
  'A TrueType, OpenType, WOFF or WOFF2 file of at most 10 MiB, as the part `file` of a form or as the body itself; what it is, is told by its bytes.'

const FontQuery = ResourceCreateQuery.extend({ staticName: ResourceName.max(LONGEST_FONT_STATIC_NAME) })

export const fileResourceRoutes: readonly Route[] = [
  post('/resource/{tenantLocator}/documents', {
    summary: 'Upload a static document',
    description: DOCUMENT_FORMS,
    permission: 'documents.upload',
    query: ResourceCreateQuery,
    upload: { largestBytes: LARGEST_DOCUMENT_BYTES },
    answer,
    handle: async ({ query, file }, context) =>
      (await service()).createFile(query, staticDocument, file, context),
  }),
  patch('/resource/{tenantLocator}/documents/{name}', {
    summary: 'Replace a static document',
    description: `${DOCUMENT_FORMS} Earlier contents are kept.`,
    permission: 'documents.update',
    upload: { largestBytes: LARGEST_DOCUMENT_BYTES },
    answer,
    handle: async ({ params, file }, context) =>
      (await service()).replaceFile(params.name, staticDocument, file, context),
  }),
  get('/resource/{tenantLocator}/documents/{name}', {
    summary: 'Get the file of a static document',
    permission: 'documents.read',
    query: SelectionQuery,
    answer: contents,
    handle: async ({ params, query }, context) =>
      (await service()).fileResponse(params.name, 'staticDocument', query, context),
  }),
  fonts.post('/resource/{tenantLocator}/fonts', {
    summary: 'Upload a font',
    description: FONT_FORMS,
    permission: 'fonts.upload',
    query: FontQuery,
    upload: { largestBytes: LARGEST_FONT_BYTES },
    answer,
    handle: async ({ query, file }, context) => (await service()).createFile(query, font, file, context),
  }),
  fonts.patch('/resource/{tenantLocator}/fonts/{name}', {
    summary: 'Replace a font',
    description: `${FONT_FORMS} Earlier contents are kept.`,
    permission: 'fonts.update',
    upload: { largestBytes: LARGEST_FONT_BYTES },
    answer,
    handle: async ({ params, file }, context) =>
      (await service()).replaceFile(params.name, font, file, context),
  }),
  fonts.get('/resource/{tenantLocator}/fonts/{name}', {
    summary: 'Get the file of a font',
    permission: 'fonts.read',
    query: SelectionQuery,
    answer: contents,
    handle: async ({ params, query }, context) =>
      (await service()).fileResponse(params.name, 'customFont', query, context),
  }),
]
