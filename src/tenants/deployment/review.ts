// Shows what an archive would do before anyone deploys it, and what changed between versions. Nothing is written.
import { loadDifference } from '../../bundles/load.ts'
import type { AdministrationContext, RequestContext } from '../../platform/context.ts'
import type { FilePart } from '../../platform/http/body/form.ts'
import type { SignedInContext } from '../../platform/http/route.ts'
import { homeDatabase } from '../../platform/tenancy.ts'
import { type ArchiveFile, readArchive } from '../../product/archive/read.ts'
import { loadConfiguration, type VersionRow, versionQuery, withArchive } from '../../product/cache.ts'
import type { Configuration, Finding } from '../../product/configuration.ts'
import { type Change, countsOf } from '../../product/difference/change.ts'
import type { Files } from '../../product/difference/configurations.ts'
import type * as contract from './contract.ts'
import { previewFindings, unknownVersion } from './release/release.ts'
import { readUpload, templatesOf } from './service.ts'
import { readDeployed, tenantNamed, tenantToRead } from './versions.ts'

/** The most findings in an answer. The counts include all of them. */
const MOST_FINDINGS = 1_000

/**
 * The most changes in an answer, and the most rows and lines of each. Nobody reads 100,000 rates that are all different, and the
 * summary of the change counts them.
 */
const MOST_CHANGES = 1_000
const MOST_ROWS = 100
const MOST_LINES = 200

/** Checks an archive as a deploy would. With a tenant, also checks it against the tenant's own records. */
export async function validateConfiguration(
  { tenantName, version }: contract.ConfigurationValidationForm,
  file: FilePart | undefined,
  context: AdministrationContext,
): Promise<contract.ConfigurationValidationResponse> {
  const tenant = tenantName === undefined ? undefined : await tenantNamed(tenantName, context)
  const { upload, findings } = await readUpload(
    file,
    tenant?.type ?? 'test',
    tenant && templatesOf({ ...context, tenant }),
  )
  if (!upload || !tenant) return validation(findings)
  return validation(await previewFindings({ ...context, tenant }, upload, version))
}

/** Returns the changes that deploying an archive would make to a version of the tenant, by default the latest. */
export async function compareArchive(
  { tenantName, version }: contract.ConfigurationDifferenceForm,
  file: FilePart | undefined,
  context: AdministrationContext,
): Promise<contract.ConfigurationDifferenceResponse> {
  const tenant = await tenantNamed(tenantName, context)
  const { upload, findings } = await readUpload(file, tenant.type, templatesOf({ ...context, tenant }))
  if (!upload) return { ...validation(findings), ...NO_CHANGES }
  const database = homeDatabase({ ...context, tenant })
  const [[row]] = await database.batch([versionQuery(database, version)])
  if (!row && version !== undefined) throw unknownVersion(version)
  if (!row) return { ...validation(findings), ...NO_CHANGES }
  const before = await deployedVersion({ ...context, tenant }, row)
  const after = { configuration: upload.configuration, files: comparedFiles(readArchive(upload.zip).files) }
  return {
    ...validation(findings),
    fromVersion: String(row.version),
    ...(await changesBetween(before, after)),
  }
}

/** Returns the changes that a version made to an earlier one, by default the one before it. The first version has none. */
export async function compareVersions(
  configVersion: string,
  { tenantName, since }: contract.VersionChangesQuery,
  context: SignedInContext,
): Promise<contract.VersionChangesResponse> {
  const tenant = await tenantToRead(tenantName, context)
  const own: RequestContext = { ...context, tenant }
  const { row, earlier } = await readDeployed(own, configVersion, since)
  if (!earlier) return { toVersion: String(row.version), ...NO_CHANGES }
  const [before, after] = [await deployedVersion(own, earlier), await deployedVersion(own, row)]
  return {
    fromVersion: String(earlier.version),
    toVersion: String(row.version),
    ...(await changesBetween(before, after)),
  }
}

function validation(findings: readonly Finding[]): contract.ConfigurationValidationResponse {
  const errors = findings.filter(({ severity }) => severity === 'ERROR').length
  return {
    success: errors === 0,
    errors,
    warnings: findings.length - errors,
    findings: findings.slice(0, MOST_FINDINGS).map(({ severity, path, line, column, code, message }) => ({
      severity,
      path,
      code,
      message,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    })),
  }
}

type Compared = { readonly configuration: Configuration; readonly files: Files }

const deployedVersion = (context: RequestContext, { hash }: VersionRow): Promise<Compared> =>
  archiveOf(context, hash)

async function archiveOf({ env, tenant, calls }: RequestContext, hash: string): Promise<Compared> {
  const { configuration } = await loadConfiguration(env, tenant, hash, calls)
  return {
    configuration,
    files: await withArchive(env, tenant, hash, calls, async files => comparedFiles(files)),
  }
}

/** Returns the files that are used unchanged. All others are compared by their compiled form. */
const comparedFiles = (files: readonly ArchiveFile[]): Files =>
  files
    .filter(({ path }) => path.startsWith('bootstrap/') || path.includes('/static_documents/'))
    .map(({ path, bytes }) => ({ path, bytes: bytes() }))

/** Returns the changes that the archive `hash` made to `former`, or none if either is missing. */
export async function compareArchives(
  context: RequestContext,
  former: string | undefined,
  hash: string | undefined,
): Promise<contract.ConfigurationChanges> {
  if (former === undefined || hash === undefined || former === hash) return NO_CHANGES
  const [before, after] = [await archiveOf(context, former), await archiveOf(context, hash)]
  return await changesBetween(before, after)
}

const NO_CHANGES: contract.ConfigurationChanges = { count: 0, breaks: 0, binds: 0, changes: [] }

async function changesBetween(before: Compared, after: Compared): Promise<contract.ConfigurationChanges> {
  const { configurationChanges, fileChanges, inOrder } = await loadDifference()
  const changes = inOrder([
    ...configurationChanges(before.configuration, after.configuration),
    ...fileChanges(before.files, after.files),
  ])
  return { ...countsOf(changes), changes: changes.slice(0, MOST_CHANGES).map(changeShown) }
}

function changeShown({ rows, hunks, ...change }: Change): contract.ConfigurationChange {
  return {
    ...change,
    ...(rows && { rows: rows.slice(0, MOST_ROWS) }),
    ...(rows && rows.length > MOST_ROWS && { moreRows: rows.length - MOST_ROWS }),
    ...(hunks && linesShown(hunks)),
  }
}

/** Shows whole hunks while there is room. `moreHunks` counts the others. A long hunk is cut. */
function linesShown(
  hunks: NonNullable<Change['hunks']>,
): Pick<contract.ConfigurationChange, 'hunks' | 'moreHunks'> {
  let room = MOST_LINES
  const shown = hunks.flatMap(({ oldLine, newLine, removed, added }) => {
    if (room <= 0) return []
    const kept = {
      removed: removed.slice(0, room),
      added: added.slice(0, Math.max(0, room - removed.length)),
    }
    room -= removed.length + added.length
    return [{ oldLine, newLine, ...kept }]
  })
  return { hunks: shown, ...(shown.length < hunks.length && { moreHunks: hunks.length - shown.length }) }
}
