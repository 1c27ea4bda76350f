// Constraint tables as the Worker serves them. Their rows stay in the file: whoever asks a table reads it (contents.ts).
import { loadConfiguration } from '../../configuration/cache.ts'
import type { Configuration } from '../../configuration/configuration.ts'
import { latestVersion } from '../../configuration/reading.ts'
import { commit, type JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { notFound, Refusal } from '../../platform/errors.ts'
import type { JsonText } from '../../platform/http/route.ts'
import { type Upload, withContents } from '../../platform/http/upload.ts'
import { newUuid, type Uuid } from '../../platform/locators.ts'
import { HOME_SHARD } from '../../platform/tenancy.ts'
import { csvBytes, csvSource } from '../data-tables/csv/source.ts'
import { zipOf } from '../data-tables/download.ts'
import { deleteFile, type StoredFile, storedFile, storeUpload } from '../data-tables/file.ts'
import { Held } from '../data-tables/held.ts'
import { LARGEST_TABLE_BYTES } from '../data-tables/limits.ts'
import { type Notes, noteText } from '../data-tables/notes.ts'
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
import { columnIn, declarationOf } from './force.ts'
import { graphOfProduct, policyholderGraph } from './graph.ts'
import { ConstraintReading } from './reading.ts'

type NewTable = {
  readonly name: string
  readonly staticName: string
  readonly jurisdiction?: readonly string[] | undefined
}

const TYPE = 'constraintTable'

/** A new table. 409 for a name that exists, or a static name of another type; 400 with the problems of the file. */
export const createConstraintTable = (
  { name, staticName, jurisdiction = [] }: NewTable,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  uploaded(name, file, context, async database => {
    const taken = await nameTakenBy(database, { name, staticName })
    if (taken.some(one => one.name === name))
      throw new Refusal(
        'alreadyExists',
        `There is a resource '${name}' already; choose another name, or replace its contents by PATCH.`,
      )
    const other = taken.find(one => one.type !== TYPE)
    if (other)
      throw new Refusal(
        'alreadyExists',
        `The static name '${staticName}' is that of a ${other.type}, '${other.name}'; choose another.`,
      )
    return {
      before: undefined,
      resource: {
        name,
        type: TYPE,
        staticName,
        jurisdictions: [...new Set(jurisdiction)],
        createdAt: context.now,
        createdBy: context.caller.accountLocator,
      },
    }
  })

/** Other contents of the table; all else of it stays. */
export const replaceConstraintTable = (
  name: string,
  file: Upload,
  context: RequestContext,
): Promise<JsonText> =>
  uploaded(name, file, context, async database => {
    const before = await tableAt(database, name)
    return { before, resource: before }
  })

/** A zip with the CSV as it was uploaded, named as the table. */
export async function downloadConstraintTable(name: string, context: RequestContext): Promise<Response> {
  const found = await findWithContents(homeDatabase(context), name)
  if (found?.resource.type !== TYPE) throw notFound('constraint table', name)
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

async function tableAt(database: Database, name: string): Promise<Resource> {
  const resource = await findResource(database, name)
  if (resource?.type !== TYPE) throw notFound('constraint table', name)
  return resource
}

type Planned = {
  /** As it was read; undefined for a new one. */
  readonly before: Resource | undefined
  readonly resource: Omit<Resource, 'revision'>
}

/**
 * The file goes to R2 as it comes, is checked as it is read from there, and one commit makes it the table's. `plan`
 * refuses what cannot be, before the file is read and again at the commit.
 */
async function uploaded(
  name: string,
  upload: Upload,
  context: RequestContext,
  plan: (database: Database) => Promise<Planned>,
): Promise<JsonText> {
  const database = homeDatabase(context)
  // A repeat has its answer whatever became of the name since.
  let first = context.idempotency ? undefined : await plan(database)
  const revision = newUuid(HOME_SHARD)
  const stored = await storeUpload(context, revision, upload, new Held())
  const keyed = withContents(context, stored.hash)
  let warnings: readonly string[] | undefined
  let isOurs = false
  try {
    return await recordedOnce(
      keyed,
      database,
      async () => {
        const { before, resource } = first ?? (await plan(database))
        first = undefined
        warnings ??= await checked(context, revision, stored.sizeBytes, resource.staticName)
        const made: Resource = { ...resource, revision }
        const answer: JsonAnswer = {
          status: 200,
          text: JSON.stringify({ ...basicResourceResponse(made), ...(warnings.length > 0 && { warnings }) }),
        }
        const committed = await commit(keyed, database, {
          shard: HOME_SHARD,
          guards: [before ? contentsGuard(before) : newNameGuard(made)],
          facts: resourceRows(database, made, revisionOf(made, stored, upload, context)),
          events: [],
          answer,
          subject: name,
        })
        isOurs = committed === answer
        return committed
      },
      async subject => basicResourceResponse(await tableAt(database, subject)),
    )
  } finally {
    if (!isOurs) discardUnlessRecorded(context, database, revision)
  }
}

/** The warnings of a file. Refuses (400 `invalidTable`) one with problems, the first 50 listed. */
async function checked(
  context: RequestContext,
  revision: Uuid,
  sizeBytes: number,
  staticName: string,
): Promise<readonly string[]> {
  const configuration = await newestConfiguration(context)
  const file = storedFile(context, revision, sizeBytes)
  const source = await csvSource(file, LARGEST_TABLE_BYTES)
  const reading = new ConstraintReading(configuration && declarationOf(configuration, staticName))
  for await (const _ of reading.rows(csvBytes(file, source, new Held())));
  const { notes, columns } = reading
  if (configuration && columns)
    noteMissing(
      configuration,
      staticName,
      columns.map(one => one.name),
      notes,
    )
  if (notes.problems.length > 0) {
    const problems = notes.sortedProblems
    const more = notes.isFull ? ' Only the first problems are listed.' : ''
    throw new Refusal('invalidTable', `${problems.map(noteText).join(' ')}${more}`, { tableErrors: problems })
  }
  return notes.warnings
}

/** Columns that fields of the newest configuration are held against, whether the table is declared or not. */
function noteMissing(
  configuration: Configuration,
  staticName: string,
  columns: readonly string[],
  notes: Notes,
): void {
  const nodes = [
    ...policyholderGraph(configuration.policyholderFields).nodes,
    ...Object.values(configuration.products).flatMap(one => graphOfProduct(configuration, one).nodes),
  ]
  const missing = new Map<string, string>()
  for (const { path, field } of nodes) {
    const { table, column, where } = field.constraint!
    if (table !== staticName) continue
    for (const name of [column, ...where.map(one => one.column)])
      if (columnIn(columns, name) === undefined && !missing.has(name)) missing.set(name, path)
  }
  for (const [name, path] of missing)
    notes.problem(1, `The column '${name}' is missing, which the field '${path}' is held against; add it.`)
}

export async function newestConfiguration(context: RequestContext): Promise<Configuration | undefined> {
  const latest = await latestVersion(context, context.tenant)
  if (!latest) return undefined
  return (await loadConfiguration(context.env, context.tenant, latest.hash, context.calls)).configuration
}

/** After the answer: what was uploaded goes, unless it became a table's after all, as an unknown outcome may. */
function discardUnlessRecorded(context: RequestContext, database: Database, revision: Uuid): void {
  const discard = async (): Promise<void> => {
    if (!(await findRevision(database, revision))) await deleteFile(context, revision)
  }
  context.later(
    discard().catch(problem =>
      console.error(
        JSON.stringify({
          at: 'constraintTable',
          requestId: context.requestId,
          problem: String(problem),
        }),
      ),
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
