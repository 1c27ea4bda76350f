import { z } from '@hono/zod-openapi'
import { forTenant, jsonText, type Route } from '../../platform/http/route.ts'
import {
  AddDocumentForm,
  AddDocumentQuery,
  MakeDocumentsAgainRequest,
  PolicyDocumentRemoveRequest,
  RecordDocumentResponse,
  RecordDocumentsQuery,
  RenderDocumentRequest,
  RenderedDocumentResponse,
} from '../../policy/contract/documents.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { LARGEST_UPLOAD_BYTES } from '../../transactions/documents/upload.ts'
import { RenderQuery, RenderTemplateRequest, RenderTemplateResponse } from './contract.ts'

const { get, post } = forTenant('Documents')
const templates = forTenant('Templates')
const policy = { schema: PolicyResponse, description: 'The policy.' }

/** Loaded on first use, because most requests never need the code for files. */
const service = () => import('./service.ts')

export const documentRoutes: readonly Route[] = [
  post('/policy/{policyLocator}/addDocument', {
    summary: 'Upload a document to a policy',
    description:
      'A PDF or HTML file of at most 25 MiB; its bytes determine its type. `displayName` and `documentType` are in the query or are parts of the form. Uploading creates no transaction.',
    permission: 'policies.write',
    query: AddDocumentQuery,
    form: { schema: AddDocumentForm, file: 'document', largestFileBytes: LARGEST_UPLOAD_BYTES },
    answer: policy,
    handle: async ({ params, query, body, file }, context) =>
      (await service()).addDocument(context, params.policyLocator, { query, form: body, file }),
  }),
  post('/policy/{policyLocator}/removeDocument', {
    summary: 'Remove an uploaded document from a policy',
    description: 'Only documents that were uploaded, and only before the policy is issued.',
    permission: 'policies.write',
    body: { schema: PolicyDocumentRemoveRequest, required: true },
    answer: policy,
    handle: async ({ params, body }, context) =>
      (await service()).removeDocument(context, params.policyLocator, body.documentLocator),
  }),
  get('/policies/{policyLocator}/documents', {
    summary: 'List the documents of a policy and of all its records',
    description: 'Bindery only. Includes documents of quotes that were not chosen, and of invoices.',
    permission: 'policies.read',
    query: RecordDocumentsQuery,
    answer: {
      schema: z.array(RecordDocumentResponse),
      description: 'In the order in which they were requested.',
    },
    handle: async ({ params, query }, context) =>
      (await service()).listDocuments(context, params.policyLocator, query),
  }),
  post('/policies/{policyLocator}/documents/makeAgain', {
    summary: 'Create documents of a policy again',
    description:
      'Bindery only. For documents that could not be created, after the template or the configuration was corrected. Named documents are created again even if they exist, and keep their locator. Each shows the policy as it was when the document was first requested, with the template that is in force now. Until a document is created, its state is `draft`; `document.ready` or `document.failed` reports the result. If its template no longer produces a document, the document is removed.',
    permission: 'policies.write',
    body: { schema: MakeDocumentsAgainRequest, required: false },
    answer: { schema: z.array(RecordDocumentResponse), description: 'All documents of the policy.' },
    handle: async ({ params, body }, context) =>
      (await service()).makeDocumentsAgain(context, params.policyLocator, body),
  }),
  post('/document/renderPolicyDocument', {
    summary: 'Render a template for a policy',
    description:
      'For authors of templates. Send the name of a template or its text. The template has the same data as a document of the policy, or of the quote, endorsement, renewal, cancellation, reinstatement, invoice, grace period or lapse that is named. It uses the templates, snippets, fonts, static documents and tables that are in force when the transaction takes effect, otherwise those of the configuration. The response names the file, which is kept for one hour; with `Accept: application/pdf` or `text/html`, the response is the file itself, and nothing is stored. The policy does not change. A template that fails is 422 with its line and column.',
    permission: 'policies.read',
    body: { schema: RenderDocumentRequest, required: true, largestBytes: 6 * 1024 * 1024 },
    answer: {
      schema: RenderedDocumentResponse,
      description: 'Address of the PDF or HTML; or the file itself, if the client accepts its type.',
      fileMedia: ['application/pdf', 'text/html'],
    },
    handle: async ({ body, asksForFile }, context) => {
      const { renderPolicyDocument, storeRendered, renderedFileResponse } = await service()
      const product = await renderPolicyDocument(context, body)
      // A Response is sent unchanged, regardless of the schema.
      return asksForFile
        ? (renderedFileResponse(product) as never)
        : jsonText(await storeRendered(context, product))
    },
  }),
]

export const templateRenderRoutes: readonly Route[] = [
  templates.post('/resource/{tenantLocator}/templates/{name}/render', {
    summary: 'Render a template with your own data',
    description:
      'For authors of templates. Uses the snippets and fonts that are in force at `date` and for `jurisdiction`. Nothing is stored. A template that fails or exceeds a limit is 422 with its name, line and column. Names that the data does not have are listed.',
    permission: 'templates.read',
    query: RenderQuery,
    body: { schema: RenderTemplateRequest, required: true },
    answer: { schema: RenderTemplateResponse, description: 'The HTML or the PDF, and the undefined names.' },
    handle: async ({ params, query, body }, context) =>
      await (await service()).renderTemplateResource(params.name, query, body, context),
  }),
]
