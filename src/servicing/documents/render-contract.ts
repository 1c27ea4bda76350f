import { z } from '@hono/zod-openapi'
import { OptionalName, optional, RequestDateTime, requestInteger, Text, Texts } from '../../platform/wire.ts'
import { DocumentType, PageLayout } from '../../policy/contract/documents.ts'
import { TEMPLATE_FORMATS } from '../../product/resources.ts'
import { SelectionQuery } from '../../reference/contract.ts'

/** Which template: `byStaticName` reads the name as a static name. The date is that of its snippets and fonts too. */
export const RenderQuery = SelectionQuery

export const RenderTemplateRequest = z
  .object({
    data: optional(z.record(z.string(), z.unknown())).openapi({
      description: 'What the template sees as `data` (in Velocity `$data`).',
    }),
    type: optional(DocumentType).openapi({ description: 'pdf when left out.' }),
    configVersion: optional(requestInteger(0)).openapi({
      description: 'Whose tables, time zone and currency hold; the newest when left out.',
    }),
    productName: OptionalName.openapi({ description: 'Whose tables and static files are used too.' }),
    now: optional(RequestDateTime).openapi({ description: 'The time of `now`; the present when left out.' }),
    pageLayout: optional(PageLayout),
  })
  .openapi('RenderTemplateRequest')
export type RenderTemplateRequest = z.output<typeof RenderTemplateRequest>

const Used = z.object({ name: Text, staticName: Text, revision: Text })

export const RenderTemplateResponse = z
  .object({
    type: DocumentType,
    templateFormat: z.enum(TEMPLATE_FORMATS),
    html: Text.optional().openapi({ description: 'Of type html.' }),
    pdf: Text.optional().openapi({ description: 'Of type pdf, in Base64.', format: 'byte' }),
    undefinedNames: Texts.openapi({
      description:
        'What the template asked for and the data does not have, as it stands in the source; at most 200.',
    }),
    warnings: Texts,
    template: Used,
    snippets: z.array(Used).openapi({ description: 'Those that it included, as they are in force.' }),
  })
  .openapi('RenderTemplateResponse')
export type RenderTemplateResponse = z.output<typeof RenderTemplateResponse>
