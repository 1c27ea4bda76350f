// Resources that are one file each: static documents, fonts, templates and snippets. The file is in R2 before its
// revision is recorded, so that whatever is in force can be read.
import { invalidRequest, isRefused, notFound, wrongState } from '../../kernel/errors.ts'
import { newUuid } from '../../kernel/locators.ts'
import { commit } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { contentsHash, type Upload, uploadedBytes, withContents } from '../../platform/http/body/upload.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, tenantFiles } from '../../platform/tenancy.ts'
import type { ResourceType, TemplateFormat } from '../../product/resources.ts'
import type { SelectionQuery } from '../contract.ts'
import { revisionKey } from '../data-tables/file.ts'
import { readResource } from '../in-force.ts'
import { basicResourceResponse } from '../projection.ts'
import { assertNew, recordedOnce } from '../recording.ts'
import type { Resource } from '../resource.ts'
import { contentsGuard, findResource, newNameGuard, resourceRows } from '../store.ts'
import { discardUnlessRecorded, expectRevision } from '../unrecorded.ts'

/** What a file is found to be. */
type FileContents = {
  readonly mediaType: string
  /** Of static documents. */
  readonly format?: string
}

/** One kind of resources: their type, and what a file must be to be one. */
export type FileKind = {
  readonly type: ResourceType
  /** Of templates and snippets; what is replaced must be of the same. */
  readonly templateFormat?: TemplateFormat
  /** Refuses a file that is of no use. */
  readonly read: (file: {
    bytes: Uint8Array<ArrayBuffer>
    mediaType: string | undefined
    fileName: string | undefined
  }) => FileContents | Promise<FileContents>
}

type NewFile = {
  readonly name: string
  readonly staticName: string
  readonly jurisdiction?: readonly string[] | undefined
}

/** Refuses: 400 for a file of no use; 409 for a name, or a static name of another type, that exists. */
export const createFile = (
  { name, staticName, jurisdiction = [] }: NewFile,
  kind: FileKind,
  upload: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  written(kind, upload, context, async ({ database, revision, contents }) => {
    const resource: Resource = {
      name,
      type: kind.type,
      staticName,
      jurisdictions: [...new Set(jurisdiction)],
      createdAt: context.now,
      createdBy: context.caller.accountLocator,
      revision,
      templateFormat: kind.templateFormat ?? null,
      format: contents.format ?? null,
    }
    await assertNew(context, database, resource)
    return { resource, guard: newNameGuard(resource) }
  })

/** New contents under the same name; the earlier ones are kept. Refuses: 400, 404, and 409 for the other dialect. */
export const replaceFile = (
  name: string,
  kind: FileKind,
  upload: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  written(kind, upload, context, async ({ database, revision, contents }) => {
    const read = await findResource(database, name)
    if (!read || read.type !== kind.type) throw notFound(kind.type, name)
    if (kind.templateFormat && read.templateFormat !== kind.templateFormat)
      throw wrongState(
        `The ${kind.type} '${name}' is ${read.templateFormat}; send it to the path of that dialect.`,
      )
    return {
      resource: { ...read, revision, format: contents.format ?? null },
      guard: contentsGuard(read),
    }
  })

type Decide = (given: {
  database: ReturnType<typeof homeDatabase>
  revision: Resource['revision']
  contents: FileContents
}) => Promise<{ resource: Resource; guard: ReturnType<typeof contentsGuard> }>

async function written(
  kind: FileKind,
  upload: Upload,
  requestContext: RequestContext,
  decide: Decide,
): Promise<JsonText> {
  const bytes = await uploadedBytes(upload)
  if (bytes.length === 0) throw invalidRequest('The file is empty; send one that is not.')
  const hash = contentsHash().update(bytes).digest('hex')
  const context = withContents(requestContext, hash)
  const { tenant, env, calls } = context
  // Each try has a file of its own, so that none is deleted that another try of the same key has recorded.
  const revision = newUuid(HOME_SHARD)
  const contents = await kind.read({ bytes, mediaType: upload.mediaType, fileName: upload.fileName })
  const database = homeDatabase(context)
  let isStored = false
  let isUnneeded = false
  try {
    return await recordedOnce(
      context,
      database,
      async () => {
        const { resource, guard } = await decide({ database, revision, contents })
        if (!isStored) {
          await expectRevision(context, revision)
          calls.r2 += 1
          await tenantFiles(env, tenant).put(revisionKey(tenant, revision), bytes, {
            httpMetadata: { contentType: contents.mediaType },
          })
          isStored = true
        }
        const revisionRow = {
          locator: revision,
          resourceName: resource.name,
          createdAt: context.now,
          createdBy: context.caller.accountLocator,
          sizeBytes: bytes.length,
          hash,
          mediaType: contents.mediaType,
        }
        const answer = { status: 200, text: JSON.stringify(basicResourceResponse(resource)) }
        const committed = await commit(context, database, {
          shard: HOME_SHARD,
          guards: [guard],
          facts: resourceRows(database, resource, revisionRow),
          events: [],
          answer,
          subject: resource.name,
        })
        isUnneeded = committed !== answer
        return committed
      },
      async subject => basicResourceResponse((await findResource(database, subject))!),
    )
  } catch (problem) {
    isUnneeded = isRefused(problem)
    throw problem
  } finally {
    if (isStored && isUnneeded) discardUnlessRecorded(context, database, revision)
  }
}

/** The contents of a revision. */
export async function revisionFile(
  { tenant, env, calls }: Pick<RequestContext, 'tenant' | 'env' | 'calls'>,
  { name, revision }: Pick<Resource, 'name' | 'revision'>,
): Promise<R2ObjectBody> {
  calls.r2 += 1
  const object = await tenantFiles(env, tenant).get(revisionKey(tenant, revision))
  if (!object) throw new Error(`The file of resource ${name} is gone: revision ${revision}.`)
  return object
}

/**
 * The stored bytes with the stored type. `x-resource-name` and `x-resource-revision` tell which resource a static name
 * led to.
 */
export async function fileResponse(
  name: string,
  type: ResourceType,
  { byStaticName, date, jurisdiction }: SelectionQuery,
  context: RequestContext,
): Promise<Response> {
  const at = date ?? context.now
  const { resource } = await readResource(homeDatabase(context), {
    name,
    byStaticName,
    at,
    jurisdiction,
    type,
  })
  const object = await revisionFile(context, resource)
  return new Response(object.body, {
    headers: {
      'content-type': object.httpMetadata?.contentType ?? 'application/octet-stream',
      'content-length': String(object.size),
      // What a tenant uploaded never runs as a page of this service.
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      etag: object.httpEtag,
      'cache-control': 'private, no-cache',
      'x-resource-name': resource.name,
      'x-resource-revision': resource.revision,
    },
  })
}
