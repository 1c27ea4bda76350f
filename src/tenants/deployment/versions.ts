import { requireVisibleTenant } from '../../access/rights.ts'
import { invalidParameter, notFound } from '../../kernel/errors.ts'
import type { AdministrationContext, RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { signedAddress } from '../../platform/http/file-links.ts'
import type { SignedInContext } from '../../platform/http/route.ts'
import { homeDatabase, readTenant, type Tenant } from '../../platform/tenancy.ts'
import {
  allVersionsQuery,
  archivePath,
  deploymentsQuery,
  latestVersion,
  loadConfiguration,
  type VersionRow,
  versionQuery,
} from '../../product/cache.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type * as contract from './contract.ts'

/** Lists every deploy and repair, oldest first. */
export async function listVersions(
  { tenantName }: contract.DeploymentQuery,
  context: SignedInContext,
): Promise<contract.DeploymentVersionResponse[]> {
  const database = await databaseToRead(tenantName, context)
  const [rows] = await database.batch([deploymentsQuery(database)])
  return rows.map(({ version, deployedAt, kind, deployedBy }) => ({
    version: String(version),
    deployedTimestamp: String(deployedAt),
    kind,
    username: deployedBy,
  }))
}

/** Returns a temporary address of the archive in force, and the former archives. */
export async function readVersion(
  configVersion: string,
  { tenantName }: contract.DeploymentQuery,
  context: SignedInContext,
): Promise<contract.DeploymentResponse> {
  const tenant = await tenantToRead(tenantName, context)
  const version = parseVersion(configVersion)
  const database = homeDatabase({ ...context, tenant })
  const [[row], all] = await database.batch([
    versionQuery(database, version),
    deploymentsQuery(database, version),
  ])
  if (!row) throw notFound('configuration version', configVersion)
  const deployments = all.filter(one => one.version === row.version)
  const { address, expiresAt } = signedAddress(context, tenant, {
    path: archivePath(row.hash),
    fileName: `${tenant.name}-${row.version}.zip`,
  })
  return {
    url: address,
    expiresTimestamp: String(expiresAt),
    tenantAssets: deployments
      .reverse()
      .map(({ hash, kind, deployedAt }) => ({ hash, kind, deployedTimestamp: String(deployedAt) })),
  }
}

/** Reads a version from a path; undefined means `latest`. Throws 404 for text that is not a version. */
function parseVersion(configVersion: string): number | undefined {
  if (configVersion === 'latest') return undefined
  if (!/^[1-9]\d{0,8}$/.test(configVersion)) throw notFound('configuration version', configVersion)
  return Number(configVersion)
}

/**
 * Returns a version and an earlier one: `since`, or else the one before it, which the first version does not have. Throws 404 if
 * there is no such version, or no version `since` before it.
 */
export async function readDeployed(
  context: RequestContext,
  configVersion: string,
  since: number | undefined,
): Promise<{ row: VersionRow; earlier: VersionRow | undefined }> {
  const version = parseVersion(configVersion)
  const database = homeDatabase(context)
  const [versions] = await database.batch([allVersionsQuery(database)])
  const sorted = versions.sort((a, b) => a.version - b.version)
  const row = version === undefined ? sorted.at(-1) : sorted.find(one => one.version === version)
  if (!row) throw notFound('configuration version', configVersion)
  const earlier = sorted.filter(one => one.version < row.version)
  if (since === undefined) return { row, earlier: earlier.at(-1) }
  const asked = earlier.find(one => one.version === since)
  if (!asked) throw notFound(`configuration version before ${row.version}`, String(since))
  return { row, earlier: asked }
}

/** Whether the version (or the latest) is deployed. The next version may be in progress. Throws 404 for a later one. */
export async function readStatus(
  { tenantName, version }: contract.DeploymentStatusQuery,
  context: SignedInContext,
): Promise<contract.DeploymentStatusResponse> {
  const database = await databaseToRead(tenantName, context)
  const [[latest], deployments] = await database.batch([
    versionQuery(database, undefined),
    deploymentsQuery(database, version),
  ])
  const newest = latest?.version ?? 0
  const asked = version ?? newest
  if (asked > newest + 1) throw notFound('configuration version', String(asked))
  const last = deployments.findLast(deployment => deployment.version === asked)
  if (!last) return { deploymentStatus: 'INPROGRESS' }
  return {
    deploymentStatus: 'DEPLOYED',
    deploymentTimestamp: String(last.deployedAt),
    version: String(asked),
  }
}

/** Returns none before the first deploy. */
export async function listProducts(context: RequestContext): Promise<contract.ProductResponse[]> {
  const { env, tenant, calls } = context
  const latest = await latestVersion(context, tenant)
  if (!latest) return []
  const { configuration } = await loadConfiguration(env, tenant, latest.hash, calls)
  return Object.values(configuration.products).map(product => productResponse(product, latest.version))
}

const productResponse = (
  { locator, name, displayName, exposures, paymentSchedules }: ProductDefinition,
  configVersion: number,
): contract.ProductResponse => ({
  locator,
  name,
  displayName,
  configVersion,
  exposures: exposures.map(({ name, displayName, perils }) => ({
    name,
    displayName,
    perils: perils.map(({ name, displayName }) => ({ name, displayName })),
  })),
  paymentSchedules: paymentSchedules.map(({ name, displayName, type }) => ({ name, displayName, type })),
})

/**
 * Returns the tenant that the request reads. An administration account must name it. A tenant's account reads its own tenant, and
 * gets 404 for any other name.
 */
export async function tenantToRead(
  tenantName: string | undefined,
  context: SignedInContext,
): Promise<Tenant> {
  const { env, calls, tenant: own, caller } = context
  if (own) {
    if (tenantName !== undefined && tenantName !== own.name) throw notFound('tenant', tenantName)
    return own
  }
  if (tenantName === undefined) throw invalidParameter("Name the tenant by 'tenantName' in the query.")
  return await tenantNamed(tenantName, { env, calls, caller })
}

/** Throws 404 if no tenant has that name, or the token is not for it. */
export async function tenantNamed(
  name: string,
  { env, calls, caller }: Pick<AdministrationContext, 'env' | 'calls' | 'caller'>,
): Promise<Tenant> {
  return requireVisibleTenant(caller, name, await readTenant(env, { name }, calls))
}

const databaseToRead = async (tenantName: string | undefined, context: SignedInContext): Promise<Database> =>
  homeDatabase({ ...context, tenant: await tenantToRead(tenantName, context) })
