// Data tables and range tables as the Worker serves them.
import { loadConfiguration } from '../../configuration/cache.ts'
import { latestVersion } from '../../configuration/reading.ts'
import { commit, type JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { notFound, Refusal } from '../../platform/errors.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { type Upload, withContents } from '../../platform/http/upload.ts'
import { newUuid, type Uuid } from '../../platform/locators.ts'
import {
  controlDatabase,
  forgetTenants,
  HOME_SHARD,
  shardDatabase,
  shardOfPolicy,
} from '../../platform/tenancy.ts'
import { policyLocator } from '../../policies/service.ts'
import { hasTablesQuery } from '../../tenants/store.ts'
import { basicResourceResponse } from '../projection.ts'
import { recordedOnce } from '../recorded.ts'
import type { Resource, ResourceRevision } from '../resource.ts'
import {
  contentsGuard,
  findResource,
  findRevision,
  findWithContents,
  homeDatabase,
  nameTakenBy,
  newNameGuard,
  resourceRows,
} from '../store.ts'
import { unreadTimer } from './collection.ts'
import type { RangeRecordQuery, RecordQuery, TableLookupResponse, TableUseResponse } from './contract.ts'
import { csvSource } from './csv/source.ts'
import type { RangeTableDeclaration, TableDeclaration } from './declaration.ts'
import { zipOf } from './download.ts'
import { deleteFile, type StoredFile, storedFile, storeUpload } from './file.ts'
import { Held } from './held.ts'
import type { TableKind } from './layout.ts'
import { LARGEST_TABLE_BYTES } from './limits.ts'
import { abandon, type LoadedTable, loadTable } from './loading.ts'
import { readRecord } from './record.ts'
import { loadedRows, loadingGuard } from './store.ts'
import { findTableUses } from './uses.ts'

type NewTable = {
  readonly name: string
  readonly staticName: string
  readonly jurisdiction?: readonly string[] | undefined
}

/** A new table. 409 for a name that exists, or a static name of another type; 400 with the problems of the file. */
export const createTable = (
  kind: TableKind,
  { name, staticName, jurisdiction = [] }: NewTable,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  uploaded(kind, name, file, context, async database => {
    const taken = await nameTakenBy(database, { name, staticName })
    if (taken.some(one => one.name === name))
      throw new Refusal(
        'alreadyExists',
        `There is a resource '${name}' already; choose another name, or replace its contents by PATCH.`,
      )
    const other = taken.find(one => one.type !== kind)
    if (other)
      throw new Refusal(
        'alreadyExists',
        `The static name '${staticName}' is that of a ${other.type}, '${other.name}'; choose another.`,
      )
    return {
      before: undefined,
      resource: {
        name,
        type: kind,
        staticName,
        jurisdictions: [...new Set(jurisdiction)],
        createdAt: context.now,
        createdBy: context.caller.accountLocator,
      },
    }
  })

/** Other contents of the table; all else of it stays. Readers see the old ones until the new ones are whole. */
export const replaceTable = (
  kind: TableKind,
  name: string,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  uploaded(kind, name, file, context, async database => {
    const before = await tableAt(database, kind, name)
    return { before, resource: before }
  })

/** A zip with the CSV as it was uploaded, named as the table. */
export async function downloadTable(
  kind: TableKind,
  name: string,
  context: RequestContext,
): Promise<Response> {
  const found = await findWithContents(homeDatabase(context), name)
  if (found?.resource.type !== kind) throw noTable(kind, name)
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

export async function showRecord(
  kind: TableKind,
  name: string,
  query: RecordQuery | RangeRecordQuery,
  context: RequestContext,
): Promise<TableLookupResponse> {
  const { byStaticName, date, jurisdiction, key: keys } = query
  const at = (date ?? context.now) as RequestContext['now']
  const bound = 'boundValue' in query ? query.boundValue : undefined
  const { record } = await readRecord(context, { kind, name, byStaticName, at, jurisdiction, keys, bound })
  return { value: { ...record } }
}

/** The contents of tables that the policy's transactions were rated with. One round trip; 404 for no policy. */
export async function listTableUses(text: string, context: RequestContext): Promise<TableUseResponse[]> {
  const policy = policyLocator(text)
  const { env, tenant, calls } = context
  const database = shardDatabase(env, tenant, shardOfPolicy(tenant, policy), calls)
  const uses = await findTableUses(database, policy)
  if (!uses) throw notFound('policy', text)
  return uses.map(({ modificationLocator, staticName, name, revision, at }) => ({
    modificationLocator,
    staticName,
    name,
    revision,
    recordedAt: new Date(at).toISOString(),
  }))
}

const noTable = (kind: TableKind, name: string): Refusal =>
  notFound(kind === 'table' ? 'table' : 'range table', name)

async function tableAt(database: Database, kind: TableKind, name: string): Promise<Resource> {
  const resource = await findResource(database, name)
  if (resource?.type !== kind) throw noTable(kind, name)
  return resource
}

type Planned = {
  /** As it was read; undefined for a new one. */
  readonly before: Resource | undefined
  readonly resource: Omit<Resource, 'revision'>
}

/**
 * The file goes to R2 as it comes, its rows to the database beside those that are read, and one commit makes them
 * the table's. `plan` refuses what cannot be, before the file is read and again at the commit.
 */
async function uploaded(
  kind: TableKind,
  name: string,
  upload: Upload,
  context: RequestContext,
  plan: (database: Database) => Promise<Planned>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  // A repeat has its answer whatever became of the name since.
  const planned = context.idempotency ? undefined : await plan(database)
  const revision = newUuid(HOME_SHARD)
  const stored = await storeUpload(context, revision, upload, new Held())
  const keyed = withContents(context, stored.hash)
  let loaded: LoadedTable | undefined
  let isOurs = false
  const attempt = async (first: Planned | undefined) => {
    const { before, resource } = first ?? (await plan(database))
    loaded ??= await loadTable(context, database, {
      revision,
      sizeBytes: stored.sizeBytes,
      kind,
      declared: await declarationOf(kind, resource.staticName, context),
    })
    await tellOfTables(context)
    const made: Resource = { ...resource, revision }
    const answer: JsonAnswer = {
      status: 200,
      text: JSON.stringify({
        ...basicResourceResponse(made),
        ...(loaded.warnings.length > 0 && { warnings: loaded.warnings }),
      }),
    }
    const committed = await commit(keyed, database, {
      shard: HOME_SHARD,
      guards: [before ? contentsGuard(before) : newNameGuard(made), loadingGuard(loaded.contents)],
      facts: [
        ...resourceRows(database, made, revisionOf(made, stored, upload, context)),
        ...loadedRows(database, loaded.contents, loaded.rowCount),
      ],
      events: [],
      timers: before ? [unreadTimer(before.revision, context.now)] : [],
      answer,
      subject: name,
    })
    isOurs = committed === answer
    return committed
  }
  let next = planned
  try {
    return await recordedOnce(
      keyed,
      database,
      () => {
        const first = next
        next = undefined
        return attempt(first)
      },
      async subject => basicResourceResponse(await tableAt(database, kind, subject)),
    )
  } finally {
    if (!isOurs) discardUnlessRecorded(context, database, revision, loaded)
  }
}

/** Before the first table is there, so that no rating passes it over; isolates know within seconds. */
async function tellOfTables({ env, tenant, calls }: RequestContext): Promise<void> {
  if (tenant.hasTables) return
  const database = controlDatabase(env, calls)
  await database.batch([hasTablesQuery(database, tenant.locator)])
  forgetTenants()
}

/** After the answer: what was uploaded goes, unless it became a table's after all, as an unknown outcome may. */
function discardUnlessRecorded(
  context: RequestContext,
  database: Database,
  revision: Uuid,
  loaded: LoadedTable | undefined,
): void {
  const discard = async (): Promise<void> => {
    if (await findRevision(database, revision)) return
    await deleteFile(context, revision)
    if (loaded) abandon(context, database, loaded.contents)
  }
  context.later(
    discard().catch(problem =>
      console.error(JSON.stringify({ at: 'table', requestId: context.requestId, problem: String(problem) })),
    ),
  )
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

/** What the newest configuration says of the static name; undefined when it, or a configuration, says nothing. */
export async function declarationOf(
  kind: TableKind,
  staticName: string,
  context: RequestContext,
): Promise<TableDeclaration | RangeTableDeclaration | undefined> {
  const latest = await latestVersion(context, context.tenant)
  if (!latest) return undefined
  const { configuration } = await loadConfiguration(context.env, context.tenant, latest.hash, context.calls)
  const { tables = {}, rangeTables = {} } = configuration.resources ?? {}
  const declared = kind === 'table' ? tables : rangeTables
  return Object.hasOwn(declared, staticName) ? declared[staticName] : undefined
}
