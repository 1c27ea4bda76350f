import { notFound, unavailable } from '../../../kernel/errors.ts'
import { readUuid, type Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { SignedInContext } from '../../../platform/http/route.ts'
import { readPagingToken, UUID_FORM, writePagingToken } from '../../../platform/paging.ts'
import { homeDatabase, type Tenant } from '../../../platform/tenancy.ts'
import type { DeploymentSummary } from '../../../product/tables.ts'
import { compareArchives } from '../review.ts'
import { tenantToRead } from '../versions.ts'
import type * as contract from './contract.ts'
import { entryQuery, logQuery } from './store.ts'

/** Throws 503 until the tenant's database has the table. */
function requireLog({ keepsDeploymentLog, name }: Tenant): void {
  if (!keepsDeploymentLog)
    throw unavailable(
      `The tenant '${name}' cannot have a deployment log yet, because its databases are not migrated. Try again later.`,
    )
}

/** Newest first. Takes one round trip. */
export async function listLog(
  { tenantName, version, refused = false, pageSize, pagingToken }: contract.DeploymentLogQuery,
  context: SignedInContext,
): Promise<contract.DeploymentLogPageResponse> {
  const tenant = await tenantToRead(tenantName, context)
  requireLog(tenant)
  const [before] = readPagingToken(pagingToken, UUID_FORM)
  const database = homeDatabase({ ...context, tenant })
  const [rows] = await database.batch([
    logQuery(database, { version, isRefused: refused }, before, pageSize + 1),
  ])
  const page = rows.slice(0, pageSize)
  const last = rows.length > pageSize ? page.at(-1) : undefined
  return {
    entries: page.map(entryResponse),
    ...(last && {
      pagingToken: writePagingToken(
        [{ createdAt: last.createdAt as Instant, locator: last.locator as Uuid }],
        UUID_FORM,
      ),
    }),
  }
}

/**
 * Returns an entry with its steps and findings. Throws 404 if the tenant has none with that locator, and 503 until its database
 * has the table.
 */
export async function readLog(
  locator: string,
  { tenantName }: { readonly tenantName?: string | undefined },
  context: SignedInContext,
): Promise<contract.DeploymentLogResponse> {
  const { row } = await entryAt(locator, tenantName, context)
  const findings = row.findings.map(({ severity, path, line, column, code, message }) => ({
    severity,
    path,
    code,
    message,
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
  }))
  const steps = row.steps.map(({ step, counts }) => ({ step, counts: { ...counts } }))
  return { ...entryResponse(row), steps, findings }
}

/** Compares with the archive that was in force before. For a repair, that is the one that it replaced. */
export async function readLogChanges(
  locator: string,
  { tenantName }: { readonly tenantName?: string | undefined },
  context: SignedInContext,
): Promise<contract.DeploymentLogChangesResponse> {
  const { own, row } = await entryAt(locator, tenantName, context)
  return await compareArchives(own, row.summary.formerHash, row.summary.hash)
}

async function entryAt(locator: string, tenantName: string | undefined, context: SignedInContext) {
  const tenant = await tenantToRead(tenantName, context)
  requireLog(tenant)
  const own: RequestContext = { ...context, tenant }
  const database = homeDatabase(own)
  const wanted = readUuid(locator)
  const [[row]] = wanted ? await database.batch([entryQuery(database, wanted)]) : [[]]
  if (!row) throw notFound('deployment log entry', locator)
  return { own, row }
}

type Listed = {
  readonly locator: string
  readonly createdAt: number
  readonly kind: 'deploy' | 'repair'
  readonly version: number | null
  readonly summary: DeploymentSummary
}

function entryResponse({ locator, createdAt, kind, version, summary }: Listed): contract.DeploymentLogEntry {
  const { repaired, formerHash: _, ...shown } = summary
  const of = version ?? repaired
  return {
    locator,
    timestamp: String(createdAt),
    kind,
    outcome: version === null ? 'refused' : 'deployed',
    ...(of !== undefined && { version: String(of) }),
    ...shown,
  }
}
