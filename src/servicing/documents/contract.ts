import { z } from '@hono/zod-openapi'
import {
  component,
  OptionalName,
  optional,
  RequestDateTime,
  requestInteger,
  Text,
  Texts,
} from '../../platform/wire.ts'
import { DocumentType, PageLayout } from '../../policy/contract/documents.ts'
import { TEMPLATE_FORMATS } from '../../product/resources.ts'
import { SelectionQuery } from '../../reference/contract.ts'

/** `byStaticName` reads the name as a static name. The date also selects snippets and fonts. */
export const RenderQuery = SelectionQuery

export const RenderTemplateRequest = component('RenderTemplateRequest', {
  data: optional(z.record(z.string(), z.unknown())).describe(
    'The value of `data` in the template (in Velocity `$data`).',
  ),
  type: optional(DocumentType).describe('Default: pdf.'),
  configVersion: optional(requestInteger(0)).describe(
    'The version whose tables, time zone and currency apply. Default: the newest.',
  ),
  productName: OptionalName.describe('A product whose tables and static files are also available.'),
  now: optional(RequestDateTime).describe('The value of `now`. Default: the current time.'),
  pageLayout: optional(PageLayout),
})
export type RenderTemplateRequest = z.output<typeof RenderTemplateRequest>

const Used = z.object({ name: Text, staticName: Text, revision: Text })

export const RenderTemplateResponse = component('RenderTemplateResponse', {
  type: DocumentType,
  templateFormat: z.enum(TEMPLATE_FORMATS),
  html: Text.optional().describe('Present if type is html.'),
  pdf: Text.optional().openapi({ description: 'Present if type is pdf. In Base64.', format: 'byte' }),
  undefinedNames: Texts.describe(
    'Names that the template used and the data does not have, as written in the source; at most 200.',
  ),
  warnings: Texts,
  template: Used,
  snippets: z.array(Used).describe('The included snippets, in their revisions in force.'),
})
export type RenderTemplateResponse = z.output<typeof RenderTemplateResponse>
