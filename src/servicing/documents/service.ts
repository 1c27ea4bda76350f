import { notFound, Refusal } from '../../kernel/errors.ts'
import {
  type CancellationLocator,
  derivedUuid,
  type EndorsementLocator,
  newUuid,
  type PolicyLocator,
  type QuoteLocator,
  readUuid,
  shardOfDigits,
  type Uuid,
} from '../../kernel/locators.ts'
import { type JsonAnswer, jsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { disposition } from '../../platform/http/disposition.ts'
import { fileAddress } from '../../platform/http/file-links.ts'
import type { ReadyAnswer } from '../../platform/http/route.ts'
import { fileKey, homeDatabase, shardDatabase, shardOfPolicy, tenantFiles } from '../../platform/tenancy.ts'
import type {
  MakeDocumentsAgainRequest,
  RecordDocumentResponse,
  RecordDocumentsQuery,
  RenderDocumentRequest,
  RenderedDocumentResponse,
} from '../../policy/contract/documents.ts'
import { documentsOfRecords } from '../../policy/projection/records.ts'
import { selectedQuote } from '../../policy/records/aggregate.ts'
import {
  type DocumentSubject,
  documentPath,
  isFailed,
  type PolicyDocument,
} from '../../policy/records/transactions.ts'
import { readDocuments } from '../../policy/store/aggregates.ts'
import { loadPolicy, loadVersion, productOf } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { staticFiles } from '../../product/cache.ts'
import { basisAt } from '../../product/resources.ts'
import type { SelectionQuery } from '../../reference/contract.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import type { Resource } from '../../reference/resource.ts'
import { readResource } from '../../reference/store.ts'
import {
  filesInForce,
  NamedResources,
  Snippets,
  textOf,
} from '../../reference/templates/document-resources.ts'
import { renderTemplate } from '../../reference/templates/rendering.ts'
import { creationOf, TEMPLATE_ENDINGS } from '../../transactions/documents/document-plan.ts'
import {
  expectDocument,
  MEDIA_TYPES,
  type Upload,
  withoutStoredFile,
  withStoredFile,
} from '../../transactions/documents/job-store.ts'
import { noDocument, safeFileName } from '../../transactions/documents/upload.ts'
import { operate, policyLocator } from '../../transactions/policies/service.ts'
import type { RenderTemplateRequest, RenderTemplateResponse } from './contract.ts'
import { fileOf, imageName, makeDocument, makingContext, type Product } from './make.ts'
import { pdfRenderer } from './pdf-renderer.ts'

/** Stores the file first, because a policy must not name a file that does not exist. */
export async function addDocument(
  context: RequestContext,
  policyText: string,
  upload: Upload,
): Promise<ReadyAnswer> {
  const policy = policyLocator(policyText)
  shardOfPolicy(context.tenant, policy)
  return await withStoredFile(context, policy, upload, stored => {
    const document: PolicyDocument = { ...stored, subject: 'policy', subjectLocator: String(policy) }
    return operate(context, policy, { kind: 'addDocument', document })
  })
}

/**
 * Removes an uploaded document, then deletes its file. Returns the policy. Throws 404 if it has no such document, and 409 if the
 * policy is issued or the document was not uploaded.
 */
export async function removeDocument(
  context: RequestContext,
  policyText: string,
  documentLocator: string,
): Promise<ReadyAnswer> {
  const policy = policyLocator(policyText)
  return await withoutStoredFile(context, `Policy ${policy}`, documentLocator, document =>
    operate(context, policy, { kind: 'removeDocument', document }),
  )
}

/** Returns the documents in the order in which they were requested. Throws 404 if the policy does not exist. */
export async function listDocuments(
  { env, tenant, calls }: RequestContext,
  policyText: string,
  { recordType, recordLocator, failed }: RecordDocumentsQuery = {},
): Promise<RecordDocumentResponse[]> {
  const policy = policyLocator(policyText)
  const database = shardDatabase(env, tenant, shardOfPolicy(tenant, policy), calls)
  const found = await readDocuments(database, policy)
  if (!found) throw notFound('policy', policyText)
  const isChosen = (one: PolicyDocument): boolean =>
    (recordType === undefined || one.subject === recordType) &&
    (recordLocator === undefined || one.subjectLocator === recordLocator) &&
    (failed !== true || isFailed(one))
  return documentsOfRecords(found.filter(isChosen))
}

/** Answers with all documents of the policy. */
export async function makeDocumentsAgain(
  context: RequestContext,
  policyText: string,
  { documentLocators }: MakeDocumentsAgainRequest = {},
): Promise<ReadyAnswer> {
  const policy = policyLocator(policyText)
  const documents = documentLocators?.map(text => {
    const locator = readUuid(text)
    if (locator === undefined) throw noDocument({ title: `Policy ${policy}` }, text)
    return locator
  })
  return await operate(context, policy, { kind: 'makeDocumentsAgain', documents }, () =>
    listDocuments(context, policyText),
  )
}

const PREVIEW_NAME = 'preview'

/** A file that is named after its template, because documents of one template may have several names. */
type RenderedFile = Pick<Extract<Product, { outcome: 'ready' }>, 'type' | 'bytes'> & {
  readonly policy: PolicyLocator
  readonly displayName: string
  readonly fileName: string
}

/** Renders as the policy's documents are made now, from a template in force or from a text that is not deployed. */
export async function renderPolicyDocument(
  context: RequestContext,
  request: RenderDocumentRequest,
): Promise<RenderedFile> {
  const policy = policyLocator(request.policyLocator)
  const { env, tenant, calls, now } = context
  const database = shardDatabase(env, tenant, shardOfPolicy(tenant, policy), calls)
  const loaded = await loadPolicy(context, database, { locator: policy })
  const making = await makingContext(context, loaded)
  await making.tables.open()
  const { type = 'pdf', pageLayout, template: source, templateFormat: format = 'liquid' } = request
  const templateName = templateNameOf(request, loaded)
  const template = source === undefined ? undefined : { name: PREVIEW_NAME, format, source }
  const document = { ...subjectOf(request, loaded), templateName, type, pageLayout, createdAt: now }
  const product = await makeDocument(document, { ...making, template })
  if (product.outcome === 'ready') {
    const displayName = withoutEnding(templateName)
    const fileName = safeFileName(displayName, product.type)
    return { policy, type: product.type, bytes: product.bytes, displayName, fileName }
  }
  if (product.outcome === 'none')
    throw new Refusal(
      'templateFailed',
      `${templateName} says that there is no document (render_static_document).`,
    )
  if (product.outcome === 'dataError' && !template && !Object.hasOwn(loaded.product.templates, templateName))
    throw new Refusal(
      'notFound',
      `The configuration has no template '${templateName}', and none with that name is in force as a resource. Send its text as 'template'.`,
    )
  throw renderingFailed(product)
}

const renderingFailed = ({ outcome, failure, isLimit }: Extract<Product, { failure: string }>): Refusal =>
  new Refusal(outcome === 'conversionError' || isLimit ? 'templateLimit' : 'templateFailed', failure)

/** Returns the configuration's name of the template, or else the given name, which may be the static name of a resource. */
const templateNameOf = ({ templateName }: RenderDocumentRequest, { product }: Loaded): string =>
  ['', ...TEMPLATE_ENDINGS]
    .map(end => (templateName ?? PREVIEW_NAME) + end)
    .find(name => templateName !== undefined && Object.hasOwn(product.templates, name)) ??
  templateName ??
  PREVIEW_NAME

const withoutEnding = (name: string): string =>
  name.replace(/(?:\.template)?\.(?:liquid|vm|velocity|pdf|html?)$/i, '')

/** Returns the record that the request names, or the policy. Throws 404 for a record of another policy. */
function subjectOf(request: RenderDocumentRequest, { aggregate }: Loaded): Subject {
  const { locator: policy } = aggregate.policy
  const creation = (quote: number) => ({ modificationLocator: creationOf(aggregate, quote)?.locator })
  const endorsement = (kind: 'endorsement' | 'renewal') => (locator: string) => {
    const found = aggregate.endorsements.get(Number(locator) as EndorsementLocator)
    return found?.kind === kind ? found : undefined
  }
  const lapseReinstatement = aggregate.lapseReinstatements.get(request.reinstatementLocator as Uuid)
  const lookUps: readonly [
    DocumentSubject,
    string | undefined,
    (locator: string) => NamedRecord | undefined,
  ][] = [
    ['endorsement', request.endorsementLocator, endorsement('endorsement')],
    ['renewal', request.renewalLocator, endorsement('renewal')],
    [
      'cancellation',
      request.cancellationLocator,
      locator => aggregate.cancellations.get(Number(locator) as CancellationLocator),
    ],
    [
      lapseReinstatement ? 'lapseReinstatement' : 'reinstatement',
      request.reinstatementLocator,
      locator => lapseReinstatement ?? aggregate.reinstatements.get(locator as Uuid),
    ],
    ['invoice', request.invoiceLocator, locator => aggregate.invoices.get(locator as Uuid)],
    ['gracePeriod', request.gracePeriodLocator, locator => aggregate.gracePeriods.get(locator as Uuid) && {}],
    ['lapse', request.lapseLocator, locator => aggregate.lapses.get(locator as Uuid)],
    [
      'quote',
      request.quoteLocator,
      locator => {
        const quote = aggregate.quotes.get(Number(locator) as QuoteLocator)
        return quote && creation(quote.locator)
      },
    ],
  ]
  const asked = lookUps.find(([, locator]) => locator !== undefined)
  if (!asked) {
    const made = creation(selectedQuote(aggregate).locator)
    return { subject: 'policy', subjectLocator: String(policy), ...made }
  }
  const [subject, locator, find] = asked
  const record = find(locator!)
  if (!record) throw new Refusal('notFound', `Policy ${policy} has no ${subject} '${locator}'.`)
  const modificationLocator = record.modificationLocator ?? record.policyModificationLocator
  return { subject, subjectLocator: locator!, modificationLocator }
}

type Subject = { subject: DocumentSubject; subjectLocator: string; modificationLocator?: Uuid }

type NamedRecord = { modificationLocator?: Uuid; policyModificationLocator?: Uuid }

/** Returns a response that browsers show instead of saving it. They must not cache it. */
export const renderedFileResponse = ({ bytes, type, fileName }: RenderedFile): Response =>
  new Response(bytes, {
    headers: {
      'content-type': MEDIA_TYPES[type],
      'content-disposition': disposition('inline', fileName),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      // A template's HTML must not run anything in the browser.
      'content-security-policy': "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
    },
  })

/** Stores the file for an hour. A repeated request with the same key stores it in the same place. */
export async function storeRendered(
  context: RequestContext,
  { bytes, type, displayName, fileName, policy }: RenderedFile,
): Promise<JsonAnswer> {
  const { env, tenant, idempotency, calls } = context
  const shard = shardOfDigits(policy)
  const locator = idempotency
    ? derivedUuid(shard, 'document.rendered', `${idempotency.key} ${idempotency.bodyHash}`)
    : newUuid(shard)
  await expectDocument(context, locator)
  calls.r2 += 1
  await tenantFiles(env, tenant).put(fileKey(tenant, ...documentPath(locator)), bytes, {
    httpMetadata: { contentType: MEDIA_TYPES[type] },
  })
  const answer: RenderedDocumentResponse = {
    displayName,
    fileName,
    type,
    ...fileAddress('documents', locator, fileName),
  }
  return jsonAnswer(answer)
}

/** Renders a template for its author over the request's data. Stores nothing. 404: unknown template; 422: a template that fails. */
export async function renderTemplateResource(
  name: string,
  selection: SelectionQuery,
  request: RenderTemplateRequest,
  context: RequestContext,
): Promise<RenderTemplateResponse> {
  const database = homeDatabase(context)
  const { date, jurisdiction } = selection
  const where = { at: date ?? context.now, jurisdiction }
  const [resource, { configuration }] = await Promise.all([
    readResource(context, 'documentTemplate', name, selection),
    loadVersion(context, database, request.configVersion),
  ])
  const { timeZone, currency } = configuration.configuration
  const { productName, type = 'pdf' } = request
  const product = productName === undefined ? undefined : productOf(configuration, productName)
  const text = await textOf(context, resource)
  const named = new NamedResources(database)
  const snippets = new Snippets(context, named, () => where)
  const tables = new RatingTables(context)
  await tables.open()
  // There is no transaction, so every time is the time that the request selects.
  const { lookup } = tables.of(configuration, product?.name ?? '', { ...basisAt(where.at), jurisdiction })
  const now = request.now ?? context.now
  const rendered = await tables.inRounds(() =>
    renderTemplate(
      text,
      request.data ?? {},
      { timeZone, currency, now, lookup, imageUrl: imageName },
      snippets,
    ),
  )
  const warnings = staticDocumentWarnings(rendered.effects?.staticDocument)
  const configured = product && staticFiles(context, configuration.hash, product.name)
  const files = filesInForce(context, named, where, configured)
  const page = { name: resource.name, type, pageLayout: request.pageLayout, madeAt: now }
  const file = await fileOf(rendered.output, page, files, await pdfRenderer(context.env))
  if (file.outcome !== 'ready') throw renderingFailed(file)
  const content = Buffer.from(file.bytes)
  return {
    type,
    templateFormat: resource.templateFormat ?? 'liquid',
    ...(type === 'html' ? { html: content.toString() } : { pdf: content.toString('base64') }),
    undefinedNames: [...rendered.undefinedNames],
    warnings: file.warning === undefined ? warnings : [...warnings, file.warning],
    template: usedResource(resource),
    snippets: snippets.used().map(usedResource),
  }
}

const usedResource = ({ name, staticName, revision }: Resource) => ({ name, staticName, revision })

function staticDocumentWarnings(staticDocument: string | null | undefined): string[] {
  if (staticDocument === undefined) return []
  return staticDocument === null
    ? ['The template says that there is no document (render_static_document).']
    : [`The template uses the static document '${staticDocument}' instead of what is shown here.`]
}
