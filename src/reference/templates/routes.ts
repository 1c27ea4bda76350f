import { z } from '@hono/zod-openapi'
import { type Route, tenantRoute, tenantUploadRoute } from '../../platform/http/route.ts'
import {
  RenderQuery,
  RenderTemplateRequest,
  RenderTemplateResponse,
} from '../../servicing/documents/render-contract.ts'
import { BasicResourceResponse, ResourceCreateQuery, ResourceName, SelectionQuery } from '../contract.ts'
import { TEMPLATE_FORMATS } from '../resource.ts'
import { templateKind } from './kinds.ts'

/** Of a template or snippet, as it is sent (contract 2, notes 1). */
/** Code that most requests never need. */
const files = () => import('../files/service.ts')

const LARGEST_TEMPLATE_BYTES = 5_000_000

const upload = {
  largestBytes: LARGEST_TEMPLATE_BYTES,
  partNames: ['file', 'template'],
  media: 'text/plain',
}
const answer = { schema: BasicResourceResponse, description: 'The resource.' }
const FORMS =
  'UTF-8 text of at most 5 MB: the body itself, or the part `file` or `template` of a form. It is compiled first: whatever cannot be read is refused with its line and column.'

const ReplaceQuery = z.object({ name: ResourceName })

const dialectName = { liquid: 'Liquid', velocity: 'Velocity' } as const

/** The routes of templates, or those of snippets. */
const routesOf = (
  type: 'documentTemplate' | 'documentTemplateSnippet',
  segment: 'templates' | 'templateSnippets',
  noun: string,
  tag: string,
): Route[] => [
  ...TEMPLATE_FORMATS.flatMap((format): Route[] => [
    tenantUploadRoute({
      method: 'post',
      path: `/resource/{tenantLocator}/${segment}/${format}`,
      summary: `Upload a ${noun} in ${dialectName[format]}`,
      description: FORMS,
      tags: [tag],
      permission: 'templates.upload',
      query: ResourceCreateQuery,
      upload,
      answer,
      handle: async ({ query, file }, context) =>
        (await files()).createFile(query, templateKind(type, format), file, context),
    }),
    tenantUploadRoute({
      method: 'patch',
      path: `/resource/{tenantLocator}/${segment}/${format}`,
      summary: `Replace a ${noun} in ${dialectName[format]}`,
      description: `${FORMS} Earlier contents are kept.`,
      tags: [tag],
      permission: 'templates.upload',
      query: ReplaceQuery,
      upload,
      answer,
      handle: async ({ query, file }, context) =>
        (await files()).replaceFile(query.name, templateKind(type, format), file, context),
    }),
  ]),
  tenantRoute({
    method: 'get',
    path: `/resource/{tenantLocator}/${segment}/{name}`,
    summary: `Get the text of a ${noun}`,
    tags: [tag],
    permission: 'templates.read',
    query: SelectionQuery,
    answer: { description: 'The text as it was uploaded.', media: 'text/plain' },
    handle: async ({ params, query }, context) =>
      (await files()).fileResponse(params.name, type, query, context),
  }),
]

const renderRoute = tenantRoute({
  method: 'post',
  path: '/resource/{tenantLocator}/templates/{name}/render',
  summary: 'Render a template over data, for authors of templates',
  description:
    'Snippets and fonts are those in force at `date` and for `jurisdiction`. Nothing is stored. A template that fails or passes a limit answers 422 with its name, line and column; names that the data does not have are listed.',
  tags: ['Templates'],
  permission: 'templates.read',
  query: RenderQuery,
  body: { schema: RenderTemplateRequest, required: true },
  answer: { schema: RenderTemplateResponse, description: 'The HTML, or the PDF, and what was undefined.' },
  handle: async ({ params, query, body }, context) => {
    // Rendering is much code, which most requests never need.
    const { renderTemplateResource } = await import('../../servicing/documents/render-service.ts')
    return await renderTemplateResource(params.name, query, body, context)
  },
})

export const templateRoutes: readonly Route[] = [
  ...routesOf('documentTemplate', 'templates', 'template', 'Templates'),
  renderRoute,
  ...routesOf('documentTemplateSnippet', 'templateSnippets', 'template snippet', 'Template snippets'),
]
