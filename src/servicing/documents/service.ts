// Documents as the Worker serves them: uploads, removals, and renderings for authors of templates.
import { isRefused, Refusal } from '../../kernel/errors.ts'
import {
  derivedUuid,
  newUuid,
  type PolicyLocator,
  readUuid,
  shardOfDigits,
  type Uuid,
} from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { FilePart } from '../../platform/http/body/form.ts'
import { fileAddress } from '../../platform/http/file-links.ts'
import { fileKey, shardDatabase, shardOfPolicy, tenantFiles } from '../../platform/tenancy.ts'
import type {
  AddDocumentForm,
  AddDocumentQuery,
  DocumentType,
  RenderDocumentRequest,
  RenderedDocumentResponse,
} from '../../policy/contract/documents.ts'
import { documentPath, type PolicyDocument, type UnplacedDocument } from '../../policy/records/document.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import { staticFiles } from '../../product/stored-files.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { deleteUnnamedFile, expectDocument } from '../../transactions/documents/gone-files.ts'
import { noDocument, typeOfBytes, uploadedName } from '../../transactions/documents/upload.ts'
import { operate, policyLocator } from '../../transactions/policies/service.ts'
import type { RenderedFile } from './preview.ts'

const MEDIA_TYPES: Readonly<Record<DocumentType, string>> = {
  pdf: 'application/pdf',
  html: 'text/html; charset=utf-8',
}

/** What a client sends of a document: its words stand in the query or are parts of the form (brief 0.6). */
export type Upload = { query: AddDocumentQuery; form: AddDocumentForm; file: FilePart | undefined }

/** Stores the file, then adds it to the policy. */
export async function addDocument(
  context: RequestContext,
  policyText: string,
  upload: Upload,
): Promise<JsonAnswer> {
  const policy = policyLocator(policyText)
  shardOfPolicy(context.tenant, policy)
  return await withStoredFile(context, shardOfDigits(policy), upload, stored => {
    const document: PolicyDocument = { ...stored, subject: 'policy', subjectLocator: String(policy) }
    return operate(context, policy, { kind: 'addDocument', document })
  })
}

/** Takes an uploaded document off the policy, and its file away. */
export async function removeDocument(
  context: RequestContext,
  policyText: string,
  documentLocator: string,
): Promise<JsonAnswer> {
  const policy = policyLocator(policyText)
  return await withoutStoredFile(context, `Policy ${policy}`, documentLocator, document =>
    operate(context, policy, { kind: 'removeDocument', document }),
  )
}

/**
 * Stores the file, then has `add` put the document where it belongs. A file that is not recorded goes again: of a
 * refusal, and of a repeat with the same key, which is answered with the document that was stored at first. Each try
 * has a locator of its own, so that no file is ever in another's place. Where it is not known whether the document was
 * recorded, or the request is cut off, the file's timer looks at it later.
 */
export async function withStoredFile(
  context: RequestContext,
  shard: number,
  upload: Upload,
  add: (document: UnplacedDocument) => Promise<JsonAnswer>,
): Promise<JsonAnswer> {
  const { file, type, ...words } = readUpload(upload)
  const locator = newUuid(shard)
  const key = fileKey(context.tenant, ...documentPath(locator))
  await expectDocument(context, locator)
  context.calls.r2 += 1
  await tenantFiles(context.env, context.tenant).put(key, file.bytes, {
    httpMetadata: { contentType: MEDIA_TYPES[type] },
  })
  try {
    const answer = await add({
      locator,
      ...words,
      fileName: uploadedName(file.fileName, type),
      type,
      state: 'ready',
      createdAt: context.now,
      updatedAt: context.now,
    })
    // The answer shows the documents, and so this one if it was recorded.
    if (!answer.text.includes(locator)) deleteUnnamedFile(context, locator)
    return answer
  } catch (problem) {
    if (isRefused(problem)) deleteUnnamedFile(context, locator)
    throw problem
  }
}

/**
 * Has `remove` take the document off what it was uploaded to, which `title` names, and takes its file away at once: who
 * removes a document does not want it read any more. A crash in between leaves that to the timer (gone-files.ts).
 */
export async function withoutStoredFile(
  context: RequestContext,
  title: string,
  documentLocator: string,
  remove: (document: Uuid) => Promise<JsonAnswer>,
): Promise<JsonAnswer> {
  const locator = readUuid(documentLocator)
  if (!locator) throw noDocument({ title }, documentLocator)
  const answer = await remove(locator)
  deleteUnnamedFile(context, locator)
  return answer
}

/** Refuses (400) what is incomplete, and files that are neither PDF nor HTML or not what they are said to be. */
function readUpload({ query, form, file }: Upload): {
  file: FilePart
  type: DocumentType
  displayName: string
  documentType: string
} {
  const named = (name: 'displayName' | 'documentType'): string => {
    const value = query[name] ?? form[name]
    if (value === undefined)
      throw new Refusal(
        'invalidRequest',
        `Say the ${name} of the document, in the query or as a part of the form.`,
      )
    return value
  }
  const [displayName, documentType] = [named('displayName'), named('documentType')]
  if (!file || file.bytes.length === 0)
    throw new Refusal('invalidRequest', "The part 'document' is missing or empty; send the file in it.")
  const type = typeOfBytes(file.bytes)
  if (!type)
    throw new Refusal(
      'invalidRequest',
      'The file is neither a PDF nor HTML in UTF-8; other files cannot be documents.',
    )
  if (/^(?:pdf|html)$/i.test(documentType) && documentType.toLowerCase() !== type)
    throw new Refusal(
      'invalidRequest',
      `documentType says ${documentType}, and the file is ${type}; correct one of them.`,
    )
  return { file, type, displayName, documentType }
}

/** Renders a template over a policy as its documents are made. */
export async function renderPolicyDocument(
  context: RequestContext,
  request: RenderDocumentRequest,
): Promise<RenderedFile & { policy: PolicyLocator }> {
  const { env, tenant, calls } = context
  const policy = policyLocator(request.policyLocator)
  const database = shardDatabase(env, tenant, shardOfPolicy(tenant, policy), calls)
  const loaded = await loadPolicy(context, database, { locator: policy })
  // Rendering is much code, which most requests never need.
  const [{ rendered }, { pdfRenderer }, { documentResources }] = await Promise.all([
    import('./preview.ts'),
    import('./pdf-renderer.ts'),
    import('../../reference/templates/document-resources.ts'),
  ])
  const tables = new RatingTables(context)
  await tables.open()
  const file = await rendered(request, context.now, {
    loaded,
    renderer: await pdfRenderer(env),
    files: staticFiles(context, loaded.configuration.hash, loaded.product.name),
    tables,
    resources: documentResources(context),
  })
  return { ...file, policy }
}

/** The file as the answer itself. */
export const renderedFile = ({ bytes, type, fileName }: RenderedFile): Response =>
  new Response(bytes, {
    headers: {
      'content-type': MEDIA_TYPES[type],
      'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(fileName)}`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      // HTML of a template runs nothing in the browser that shows it.
      'content-security-policy': "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
    },
  })

/**
 * Stores the file and answers with its address. No record names it, so its timer takes it away within the hour. A repeat
 * of the request with the same key stores it in the same place.
 */
export async function storeRendered(
  context: RequestContext,
  { bytes, type, displayName, fileName, policy }: RenderedFile & { policy: PolicyLocator },
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
  return { status: 200, text: JSON.stringify(answer) }
}
