// What uploads of tables of every kind have in common: the file goes to R2 as it comes, is read from there, and one commit
// makes it the table's.
import { isRefused, notFound, Refusal } from '../kernel/errors.ts'
import { newUuid, type Uuid } from '../kernel/locators.ts'
import { commit, type Guard, type JsonAnswer, type NewTimer } from '../platform/commit.ts'
import type { RequestContext } from '../platform/context.ts'
import type { Database, Query } from '../platform/database.ts'
import { type Upload, withContents } from '../platform/http/body/upload.ts'
import type { JsonText } from '../platform/http/route.ts'
import { HOME_SHARD, homeDatabase } from '../platform/tenancy.ts'
import type { ResourceType } from '../product/resources.ts'
import { csvSource, Held } from './data-tables/csv-source.ts'
import { zipOf } from './data-tables/download.ts'
import { type StoredFile, storedFile, storeUpload } from './data-tables/file.ts'
import { LARGEST_TABLE_BYTES } from './data-tables/layout.ts'
import { basicResourceResponse } from './projection.ts'
import { assertNew, recordedOnce } from './recording.ts'
import type { Resource, ResourceRevision } from './resource.ts'
import { contentsGuard, findResource, findWithContents, newNameGuard, resourceRows } from './store.ts'
import { discardUnlessRecorded, expectRevision } from './unrecorded.ts'

const NAMED = {
  table: 'table',
  rangeTable: 'range table',
  constraintTable: 'constraint table',
} as const satisfies Partial<Record<ResourceType, string>>

type AnyTableType = keyof typeof NAMED

export type NewTable = {
  readonly name: string
  readonly staticName: string
  readonly jurisdiction?: readonly string[] | undefined
}

type Planned = {
  /** As it was read; undefined for a new one. */
  readonly before: Resource | undefined
  readonly resource: Omit<Resource, 'revision'>
}

/** An upload for a table: what is to become of it, by the rows as they are. Refuses what cannot be. */
type TableUpload = {
  readonly type: AnyTableType
  readonly name: string
  readonly plan: (database: Database) => Promise<Planned>
}

/** A file that was read wholly and is sound, and what goes into the commit because of it. */
export type ReadTable = {
  readonly warnings: readonly string[]
  readonly guards: readonly Guard[]
  readonly facts: readonly Query[]
  /** Of the contents that it takes the place of. */
  readonly timersAfter: (before: Resource) => readonly NewTimer[]
  /** Gives up what reading it left in the database. */
  readonly abandon: () => void
}

/** Reads the file of the revision. Refuses (400 `invalidTable`) one with problems. */
type ReadFile = (
  revision: Uuid,
  sizeBytes: number,
  staticName: string,
  database: Database,
) => Promise<ReadTable>

/** A new table. 409 for a name that exists, or a static name of another type. */
export const newTable = (
  type: AnyTableType,
  { name, staticName, jurisdiction = [] }: NewTable,
  context: RequestContext,
): TableUpload => ({
  type,
  name,
  plan: async database => {
    const resource = {
      name,
      type,
      staticName,
      jurisdictions: [...new Set(jurisdiction)],
      createdAt: context.now,
      createdBy: context.caller.accountLocator,
    }
    await assertNew(context, database, resource)
    return { before: undefined, resource }
  },
})

/** Other contents of the table; all else of it stays. */
export const replacedTable = (type: AnyTableType, name: string): TableUpload => ({
  type,
  name,
  plan: async database => {
    const before = await tableAt(database, type, name)
    return { before, resource: before }
  },
})

async function tableAt(database: Database, type: AnyTableType, name: string): Promise<Resource> {
  const resource = await findResource(database, name)
  if (resource?.type !== type) throw notFound(NAMED[type], name)
  return resource
}

/** A zip with the CSV as it was uploaded, named as the table. */
export async function downloadOf(
  type: AnyTableType,
  name: string,
  context: RequestContext,
): Promise<Response> {
  const found = await findWithContents(homeDatabase(context), name)
  if (found?.resource.type !== type) throw notFound(NAMED[type], name)
  const file = storedFile(context, found.resource.revision, found.revision.sizeBytes)
  const source = await csvSource(file, LARGEST_TABLE_BYTES)
  return new Response(zipOf(file, source, `${name}.csv`), {
    headers: {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}.zip`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': context.requestId,
    },
  })
}

/** Carries the upload out. It is planned before the file is read, and again at each commit after the first. */
export async function uploaded(
  { type, name, plan }: TableUpload,
  upload: Upload,
  context: RequestContext,
  read: ReadFile,
): Promise<JsonText> {
  // A header of any text is one of a CSV, so that JSON would be a table without rows.
  if (upload.mediaType === 'application/json')
    throw new Refusal(
      'unsupportedMediaType',
      "Send the table as text/csv or application/zip, or as the part 'file' of a form.",
    )
  const database = homeDatabase(context)
  // A repeat has its answer whatever became of the name since.
  let first = context.idempotency ? undefined : await plan(database)
  const revision = newUuid(HOME_SHARD)
  await expectRevision(context, revision)
  const stored = await storeUpload(context, revision, upload, new Held())
  const keyed = withContents(context, stored.hash)
  let table: ReadTable | undefined
  // Until it is recorded, or may have been.
  let isUnneeded = true
  try {
    return await recordedOnce(
      keyed,
      database,
      async () => {
        const { before, resource } = first ?? (await plan(database))
        first = undefined
        table ??= await read(revision, stored.sizeBytes, resource.staticName, database)
        const { warnings } = table
        const made: Resource = { ...resource, revision }
        const answer: JsonAnswer = {
          status: 200,
          text: JSON.stringify({ ...basicResourceResponse(made), ...(warnings.length > 0 && { warnings }) }),
        }
        const committed = await commit(keyed, database, {
          shard: HOME_SHARD,
          guards: [before ? contentsGuard(before) : newNameGuard(made), ...table.guards],
          facts: [...resourceRows(database, made, revisionOf(made, stored, upload, context)), ...table.facts],
          events: [],
          timers: before ? table.timersAfter(before) : [],
          answer,
          subject: name,
        })
        isUnneeded = committed !== answer
        return committed
      },
      async subject => basicResourceResponse(await tableAt(database, type, subject)),
    )
  } catch (problem) {
    isUnneeded = isRefused(problem)
    throw problem
  } finally {
    if (isUnneeded) discardUnlessRecorded(context, database, revision, table?.abandon)
  }
}

const revisionOf = (
  { name, revision }: Resource,
  { sizeBytes, hash }: StoredFile,
  { mediaType = 'application/octet-stream' }: Upload,
  { now, caller }: RequestContext,
): ResourceRevision => ({
  locator: revision,
  resourceName: name,
  createdAt: now,
  createdBy: caller.accountLocator,
  sizeBytes,
  hash,
  mediaType,
})
