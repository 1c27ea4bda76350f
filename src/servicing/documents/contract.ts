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
    'What the template sees as `data` (in Velocity `$data`).',
  ),
  type: optional(DocumentType).describe('pdf when left out.'),
  configVersion: optional(requestInteger(0)).describe(
    'Whose tables, time zone and currency hold; the newest when left out.',
  ),
  productName: OptionalName.describe('Whose tables and static files are used too.'),
  now: optional(RequestDateTime).describe('The time of `now`; the present when left out.'),
  pageLayout: optional(PageLayout),
})
export type RenderTemplateRequest = z.output<typeof RenderTemplateRequest>

const Used = z.object({ name: Text, staticName: Text, revision: Text })

export const RenderTemplateResponse = component('RenderTemplateResponse', {
  type: DocumentType,
  templateFormat: z.enum(TEMPLATE_FORMATS),
  html: Text.optional().describe('Of type html.'),
  pdf: Text.optional().openapi({ description: 'Of type pdf, in Base64.', format: 'byte' }),
  undefinedNames: Texts.describe(
    'What the template asked for and the data does not have, as it stands in the source; at most 200.',
  ),
  warnings: Texts,
  template: Used,
  snippets: z.array(Used).describe('Those that it included, as they are in force.'),
})
export type RenderTemplateResponse = z.output<typeof RenderTemplateResponse>
