import { z } from '@hono/zod-openapi'
import { MARGIN } from '../../../packages/pdf/page.ts'
import {
  component,
  Flag,
  filePart,
  Locator,
  Name,
  OptionalLocator,
  OptionalLongName,
  OptionalName,
  OptionalText,
  optional,
  RequestBoolean,
  Text,
  Timestamp,
  TimestampIfAny,
} from '../../platform/wire.ts'
import { rule } from '../../platform/wire-problem.ts'
import { TEMPLATE_FORMATS } from '../../product/resources.ts'

export const DocumentType = z.enum(['pdf', 'html'])
export type DocumentType = z.infer<typeof DocumentType>

export const DocumentState = z.enum(['draft', 'ready', 'dataError', 'renderError', 'conversionError'])

/**
 * `url` is signed and valid until `urlExpirationTimestamp`. Both are absent until the document is made (resources brief 4.2). A
 * `ready` document has a `failureMessage` if some of its letters are in no font and print as boxes.
 */
const document = {
  locator: Text,
  displayName: Text,
  fileName: Text,
  type: DocumentType,
  createdTimestamp: TimestampIfAny,
  policyModificationLocator: OptionalText,
  url: OptionalText,
  urlExpirationTimestamp: TimestampIfAny,
  state: DocumentState.optional(),
  failureMessage: OptionalText,
}

export const PolicyDocumentResponse = component('PolicyDocumentResponse', document)
export type PolicyDocumentResponse = z.infer<typeof PolicyDocumentResponse>

/** The records that can have documents. */
export const DOCUMENT_SUBJECTS = [
  'policy',
  'quote',
  'endorsement',
  'renewal',
  'cancellation',
  'reinstatement',
  'invoice',
  'gracePeriod',
  'lapse',
  'lapseReinstatement',
] as const

/** A document of any record of a policy, with that record. */
export const RecordDocumentResponse = component('RecordDocumentResponse', {
  ...document,
  recordType: z.enum(DOCUMENT_SUBJECTS),
  recordLocator: Text,
  isUploaded: Flag,
})
export type RecordDocumentResponse = z.infer<typeof RecordDocumentResponse>

export const RecordDocumentsQuery = z.object({
  recordType: optional(z.enum(DOCUMENT_SUBJECTS)),
  recordLocator: OptionalLocator.describe('Returns only documents of this record.'),
  failed: optional(RequestBoolean).describe('If true, returns only documents that could not be generated.'),
})
export type RecordDocumentsQuery = z.infer<typeof RecordDocumentsQuery>

/** Maximum number of documents that one request makes again: about as many as a policy's object makes within a minute. */
const MOST_MADE_AGAIN = 200

export const MakeDocumentsAgainRequest = component('MakeDocumentsAgainRequest', {
  documentLocators: optional(z.array(Locator).min(1).max(MOST_MADE_AGAIN)).describe(
    'The documents to generate again, in any state. Default: all documents of the policy that could not be generated.',
  ),
})
export type MakeDocumentsAgainRequest = z.infer<typeof MakeDocumentsAgainRequest>

/** A file that a media field names; `url` is signed and valid until `expiresTimestamp` (brief 3.4). */
export const Media = component('Media', {
  locator: Text,
  mimeType: Text,
  url: Text,
  expiresTimestamp: Timestamp,
  fileName: OptionalText,
})
export type Media = z.infer<typeof Media>

/** Accepted in the query or in the form, because published clients do both (brief 0.6). */
const described = {
  displayName: OptionalLongName.describe('The name shown to people. Required here or in the query.'),
  documentType: OptionalName.describe(
    'The type of the document. One that names a format, such as `pdf`, must match the file. Required here or in the query.',
  ),
}

/** Documented as required in the query (contract 1), but also accepted in the form. */
export const AddDocumentQuery = z.object({
  displayName: described.displayName.openapi({
    description: 'The name shown to people. Can be sent as a part of the form with this name instead.',
    param: { required: true },
  }),
  documentType: described.documentType.openapi({
    description:
      'The type of the document. One that names a format, such as `pdf`, must match the file. Can be sent as a part of the form with this name instead.',
    param: { required: true },
  }),
})
export type AddDocumentQuery = z.infer<typeof AddDocumentQuery>

export const AddDocumentForm = z.object({ ...described, document: filePart('document') })
export type AddDocumentForm = z.infer<typeof AddDocumentForm>

export const PolicyDocumentRemoveRequest = component('PolicyDocumentRemoveRequest', {
  documentLocator: Locator,
})

const margin = optional(
  Name.regex(MARGIN, rule("must be a length like '20mm', in mm, cm, in, pt, pc or px")),
).describe('For example `20mm`. A number without a unit is in millimetres.')

/** An omitted property comes from `@page` of the style sheets, otherwise it is A4 portrait with margins of 20 mm. */
export const PageLayout = z.object({
  marginLeft: margin,
  marginRight: margin,
  marginTop: margin,
  marginBottom: margin,
  orientation: optional(z.enum(['portrait', 'landscape'])),
  pageSize: optional(z.enum(['letter', 'legal', 'A3', 'A4', 'A5', 'B4', 'B5'])),
})

/**
 * Undocumented on purpose: only published clients call this path (brief 0.10). Their `policyDisplayId` is the policy's locator, and
 * they name a transaction by type and locator.
 */
export const RenderDocumentRequest = z
  .object({
    policyLocator: OptionalLocator,
    policyDisplayId: OptionalLocator.describe('Can be used instead of `policyLocator`.'),
    transactionType: optional(z.enum(['endorsement', 'renewal', 'cancellation', 'reinstatement'])).describe(
      'With `transactionLocator`, can be used instead of the locator property of that transaction.',
    ),
    transactionLocator: OptionalLocator,
    templateName: OptionalName.describe(
      'The static name of a template that is in force as a resource, or of a template in the configuration of the policy.',
    ),
    template: optional(z.string().max(5_000_000)).describe('The text of the template, instead of a name.'),
    templateFormat: optional(z.enum(TEMPLATE_FORMATS)).describe('The format of `template`. Default: liquid.'),
    type: optional(DocumentType).describe('Default: pdf.'),
    pageLayout: optional(PageLayout),
    quoteLocator: OptionalLocator,
    endorsementLocator: OptionalLocator,
    renewalLocator: OptionalLocator,
    cancellationLocator: OptionalLocator,
    reinstatementLocator: OptionalLocator,
    invoiceLocator: OptionalLocator,
    gracePeriodLocator: OptionalLocator,
    lapseLocator: OptionalLocator,
  })
  .refine(
    ({ template, templateName }) => (template === undefined) !== (templateName === undefined),
    rule('must have either templateName or template'),
  )
  .refine(
    ({ policyLocator, policyDisplayId }) => (policyLocator ?? policyDisplayId) !== undefined,
    rule('must have policyLocator or policyDisplayId'),
  )
  .refine(
    ({ transactionType: type, transactionLocator: locator }) => !type === !locator,
    rule('must have both transactionType and transactionLocator, or neither'),
  )
  .transform(({ policyDisplayId, transactionType, transactionLocator, ...request }) => ({
    ...request,
    policyLocator: (request.policyLocator ?? policyDisplayId)!,
    ...(transactionType && { [`${transactionType}Locator`]: transactionLocator }),
  }))
  .openapi('RenderDocumentRequest')
export type RenderDocumentRequest = z.infer<typeof RenderDocumentRequest>

/** Published clients read this response (brief 0.10). */
export const RenderedDocumentResponse = component('RenderedDocumentResponse', {
  displayName: Text,
  fileName: Text,
  type: DocumentType,
  url: Text.describe('Signed address, which works without a token.'),
  urlExpirationTimestamp: Timestamp.describe(
    'When the address expires. The file is deleted within the hour.',
  ),
})
export type RenderedDocumentResponse = z.input<typeof RenderedDocumentResponse>
