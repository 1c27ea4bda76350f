import { z } from '@hono/zod-openapi'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { TEMPLATE_FORMATS } from '../../product/resources.ts'
import { BasicResourceResponse, ResourceCreateQuery, ResourceName, SelectionQuery } from '../contract.ts'
import { templateKind } from './kinds.ts'

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
  { get, patch, post }: ReturnType<typeof forTenant>,
): Route[] => [
  ...TEMPLATE_FORMATS.flatMap((format): Route[] => [
    post(`/resource/{tenantLocator}/${segment}/${format}`, {
      summary: `Upload a ${noun} in ${dialectName[format]}`,
      description: FORMS,
      permission: 'templates.upload',
      query: ResourceCreateQuery,
      upload,
      answer,
      handle: async ({ query, file }, context) =>
        (await files()).createFile(query, templateKind(type, format), file, context),
    }),
    patch(`/resource/{tenantLocator}/${segment}/${format}`, {
      summary: `Replace a ${noun} in ${dialectName[format]}`,
      description: `${FORMS} Earlier contents are kept.`,
      permission: 'templates.upload',
      query: ReplaceQuery,
      upload,
      answer,
      handle: async ({ query, file }, context) =>
        (await files()).replaceFile(query.name, templateKind(type, format), file, context),
    }),
  ]),
  get(`/resource/{tenantLocator}/${segment}/{name}`, {
    summary: `Get the text of a ${noun}`,
    permission: 'templates.read',
    query: SelectionQuery,
    answer: { description: 'The text as it was uploaded.', media: 'text/plain' },
    handle: async ({ params, query }, context) =>
      (await files()).fileResponse(params.name, type, query, context),
  }),
]

export const templateRoutes: readonly Route[] = routesOf(
  'documentTemplate',
  'templates',
  'template',
  forTenant('Templates'),
)

export const templateSnippetRoutes: readonly Route[] = routesOf(
  'documentTemplateSnippet',
  'templateSnippets',
  'template snippet',
  forTenant('Template snippets'),
)
