// Documents as the Worker serves them: uploads, removals, and renderings for authors of templates.
import { derivedUuid, newUuid, type PolicyLocator, shardOfDigits } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { fileAddress } from '../../platform/http/file-links.ts'
import { fileKey, shardDatabase, shardOfPolicy, tenantFiles } from '../../platform/tenancy.ts'
import type { RenderDocumentRequest, RenderedDocumentResponse } from '../../policy/contract/documents.ts'
import { documentPath, type PolicyDocument } from '../../policy/records/transactions.ts'
import { loadPolicy } from '../../policy/store/loading.ts'
import { staticFiles } from '../../product/cache.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import {
  expectDocument,
  MEDIA_TYPES,
  type Upload,
  withoutStoredFile,
  withStoredFile,
} from '../../transactions/documents/job-store.ts'
import { operate, policyLocator } from '../../transactions/policies/service.ts'
import type { RenderedFile } from './preview.ts'

/** Stores the file, then adds it to the policy. */
export async function addDocument(
  context: RequestContext,
  policyText: string,
  upload: Upload,
): Promise<JsonAnswer> {
  const policy = policyLocator(policyText)
  shardOfPolicy(context.tenant, policy)
  return await withStoredFile(context, policy, upload, stored => {
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

/** Stores the file for an hour and returns its address. A repeat of the request with the same key stores it in the same place. */
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
