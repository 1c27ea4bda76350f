// Uploads resources of every kind. A file is in R2 before its revision is recorded, so that everything in force can be read. Until
// then it has a timer. A file that is certainly not recorded is deleted after the response is sent.
import { invalidRequest, isRefused, notFound, Refusal, wrongState } from '../../kernel/errors.ts'
import { newUuid, type Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { expectRecord, removeUnlessRecorded } from '../../platform/events/timers.ts'
import { contentsHash, type Upload, uploadedBytes, withContents } from '../../platform/http/body/upload.ts'
import { disposition } from '../../platform/http/disposition.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, tenantFiles } from '../../platform/tenancy.ts'
import type { ResourceType, TemplateFormat } from '../../product/resources.ts'
import { readConstraintTable } from '../constraints/service.ts'
import type { SelectionQuery } from '../contract.ts'
import { csvSource, zipOf } from '../data-tables/csv-source.ts'
import type { ReadTable } from '../data-tables/loading.ts'
import { readTable } from '../data-tables/service.ts'
import { basicResourceResponse } from '../projection.ts'
import {
  type Change,
  type NewResource,
  newResource,
  recordOnce,
  resourceWrite,
  type Write,
} from '../recording.ts'
import type { Resource } from '../resource.ts'
import { findResource, findRevision, findWithContents, readResource } from '../store.ts'
import { deleteFile, revisionFile, revisionKey, storedFile, storeStream } from '../stored-files.ts'
import { resourceRevisions } from '../tables.ts'
import { documentFormat, fontFile, type ReadFile, templateFile } from './formats.ts'

/** The kinds of uploads: their names in messages, and the functions that read their files. */
const KINDS: Readonly<
  Record<
    Exclude<ResourceType, 'secret'>,
    { noun: string; readTable: ReadTable } | { noun: string; readFile: ReadFile }
  >
> = {
  table: { noun: 'table', readTable: readTable('table') },
  rangeTable: { noun: 'range table', readTable: readTable('rangeTable') },
  constraintTable: { noun: 'constraint table', readTable: readConstraintTable },
  documentTemplate: { noun: 'template', readFile: templateFile },
  documentTemplateSnippet: { noun: 'template snippet', readFile: templateFile },
  staticDocument: { noun: 'static document', readFile: documentFormat },
  customFont: { noun: 'font', readFile: fontFile },
}

/** Templates and snippets have a dialect. A replacement must have the same one. */
export type UploadKind = { readonly type: keyof typeof KINDS; readonly templateFormat?: TemplateFormat }

/** Returns the resource before and after the upload. Rejects invalid changes. */
type Plan = (database: Database) => Promise<Change>

/**
 * Creates a resource. Rejects with 400 a file with problems, and with 409 a name that is taken, or a static name of another type.
 */
export const createUpload = (
  kind: UploadKind,
  names: NewResource,
  upload: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  storeUpload(kind, upload, context, async database => {
    const resource = await newResource(kind.type, names, context, database)
    return { before: undefined, resource: { ...resource, templateFormat: kind.templateFormat ?? null } }
  })

/**
 * Replaces the contents of a resource. The earlier ones are kept, and used until the new ones are complete. Throws 400 for a file
 * with problems, 404 for an unknown name, and 409 for the other dialect.
 */
export const replaceUpload = (
  kind: UploadKind,
  name: string,
  upload: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  storeUpload(kind, upload, context, async database => {
    const before = await resourceAt(database, kind, name)
    if (kind.templateFormat && before.templateFormat !== kind.templateFormat)
      throw wrongState(
        `The ${kind.type} '${name}' is ${before.templateFormat}; send it to the path for that dialect.`,
      )
    return { before, resource: before }
  })

async function resourceAt(database: Database, { type }: UploadKind, name: string): Promise<Resource> {
  const resource = await findResource(database, name)
  if (resource?.type !== type) throw notFound(KINDS[type].noun, name)
  return resource
}

const storeUpload = (
  kind: UploadKind,
  upload: Upload,
  context: RequestContext,
  plan: Plan,
): Promise<JsonText> => {
  const reader = KINDS[kind.type]
  return 'readTable' in reader
    ? uploadTable(kind, reader.readTable, upload, context, plan)
    : uploadFile(kind, reader.readFile, upload, context, plan)
}

/** The parts of an upload that an Idempotency-Key covers. The media type is stored, and the file name may decide the format. */
const sentFile = (hash: string, { mediaType, fileName }: Upload): string =>
  JSON.stringify([hash, mediaType, fileName])

/** Reads the file first, and stores it if it is valid. */
async function uploadFile(
  kind: UploadKind,
  readFile: ReadFile,
  upload: Upload,
  context: RequestContext,
  plan: Plan,
): Promise<JsonText> {
  const { mediaType, fileName } = upload
  const bytes = await uploadedBytes(upload)
  if (bytes.length === 0) throw invalidRequest('The file is empty; send one with contents.')
  const hash = contentsHash().update(bytes).digest('hex')
  const { format = null, ...read } = await readFile({ bytes, mediaType, fileName }, kind.templateFormat)
  const file: PendingFile = { revision: newUuid(HOME_SHARD), isStored: false }
  return await commitUpload(kind, file, withContents(context, sentFile(hash, upload)), async database => {
    const { before, resource } = await plan(database)
    if (!file.isStored) {
      const { tenant, env, calls } = context
      await expectRevision(context, file.revision)
      calls.r2 += 1
      await tenantFiles(env, tenant).put(revisionKey(tenant, file.revision), bytes, {
        httpMetadata: { contentType: read.mediaType },
      })
      file.isStored = true
    }
    const uploaded = { ...resource, format, revision: file.revision }
    const contents = { sizeBytes: bytes.length, hash, mediaType: read.mediaType }
    const answer = basicResourceResponse(uploaded)
    return { ...resourceWrite(database, { before, resource: uploaded }, contents, context), answer }
  })
}

/**
 * Stores the file while it arrives, and reads it from there. Plans the change before that, and again at each commit after the
 * first.
 */
async function uploadTable(
  kind: UploadKind,
  readTable: ReadTable,
  upload: Upload,
  context: RequestContext,
  plan: Plan,
): Promise<JsonText> {
  // Any text is a valid CSV header, so JSON would become a table without rows.
  if (upload.mediaType === 'application/json')
    throw new Refusal(
      'unsupportedMediaType',
      "Send the table as text/csv or application/zip, or as the part 'file' of a form.",
    )
  // A repeated request gets its answer even if the name now belongs to something else.
  let first = context.idempotency ? undefined : await plan(homeDatabase(context))
  const revision = newUuid(HOME_SHARD)
  await expectRevision(context, revision)
  const { sizeBytes, hash } = await storeStream(context, revisionKey(context.tenant, revision), upload)
  const file: PendingFile = { revision, isStored: true }
  let table: Awaited<ReturnType<ReadTable>> | undefined
  return await commitUpload(kind, file, withContents(context, sentFile(hash, upload)), async database => {
    const { before, resource } = first ?? (await plan(database))
    first = undefined
    table ??= await readTable({ revision, sizeBytes, staticName: resource.staticName }, context, database)
    file.abandon = table.abandon
    const { warnings, guards = [], facts = [], timersAfter } = table
    const uploaded = { ...resource, revision }
    const contents = { sizeBytes, hash, mediaType: upload.mediaType ?? 'application/octet-stream' }
    const write = resourceWrite(database, { before, resource: uploaded }, contents, context)
    return {
      ...write,
      guards: [...write.guards, ...guards],
      facts: [...write.facts, ...facts],
      timers: (before && timersAfter?.(before)) ?? [],
      answer: { ...basicResourceResponse(uploaded), ...(warnings.length > 0 && { warnings }) },
    }
  })
}

/** An uploaded file whose revision is not recorded yet. */
type PendingFile = {
  /** New for each attempt, so that no attempt deletes the file that another one with the same key has recorded. */
  readonly revision: Uuid
  isStored: boolean
  /** Removes what reading the file has added to the database. */
  abandon?: (() => void) | undefined
}

async function commitUpload(
  kind: UploadKind,
  file: PendingFile,
  context: RequestContext,
  decide: (database: Database) => Promise<Write>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  let isUnneeded = true
  try {
    return await recordOnce(
      context,
      database,
      () => decide(database),
      async subject => basicResourceResponse(await resourceAt(database, kind, subject)),
      () => {
        isUnneeded = false
      },
    )
  } catch (problem) {
    // After any other failure, the commit may have succeeded.
    isUnneeded = isRefused(problem)
    throw problem
  } finally {
    if (file.isStored && isUnneeded) discard(file, context, database)
  }
}

/** Deletes the file after the response is sent, unless its revision was recorded. */
function discard({ revision, abandon }: PendingFile, context: RequestContext, database: Database): void {
  const { requestId } = context
  const deletion = async (): Promise<void> => {
    if (await findRevision(database, revision)) return
    await deleteFile(context, revision)
    abandon?.()
  }
  context.later(
    deletion().catch(problem =>
      console.error(JSON.stringify({ at: 'discardUpload', revision, requestId, problem: String(problem) })),
    ),
  )
}

/** Sets the timer for an unrecorded file. Await it before storing the file. */
const expectRevision = (context: RequestContext, revision: Uuid): Promise<void> =>
  expectRecord(context, 'resource.file.unrecorded', revision)

/** Deletes the file of an upload that was cut off before its revision was recorded. */
export const deleteUnrecorded: TimerOwner = removeUnlessRecorded(resourceRevisions, (revision, place) =>
  deleteFile(place, revision),
)

/** Responds with a zip that contains the CSV unchanged, named like the table. */
export async function downloadTable(
  kind: UploadKind,
  name: string,
  context: RequestContext,
): Promise<Response> {
  const current = await findWithContents(homeDatabase(context), name)
  if (current?.resource.type !== kind.type) throw notFound(KINDS[kind.type].noun, name)
  const file = storedFile(context, current.resource.revision, current.revision.sizeBytes)
  const source = await csvSource(file)
  return new Response(zipOf(file, source, `${name}.csv`), {
    headers: {
      'content-type': 'application/zip',
      'content-disposition': disposition('attachment', `${name}.zip`),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': context.requestId,
    },
  })
}

/**
 * Responds with the stored bytes and media type. `x-resource-name` and `x-resource-revision` identify the resource that a static
 * name selected.
 */
export async function downloadFile(
  { type }: UploadKind,
  name: string,
  query: SelectionQuery,
  context: RequestContext,
): Promise<Response> {
  const resource = await readResource(context, type, name, query)
  const object = await revisionFile(context, resource)
  return new Response(object.body, {
    headers: {
      'content-type': object.httpMetadata?.contentType ?? 'application/octet-stream',
      'content-length': String(object.size),
      // Uploaded content must never run as a page of this service.
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      etag: object.httpEtag,
      'cache-control': 'private, no-cache',
      'x-resource-name': resource.name,
      'x-resource-revision': resource.revision,
    },
  })
}
