// Deploys and repairs configurations, for administration accounts. The archive is checked before anything changes: an error in it
// returns `success: false`, and no tenant is created for it.
import { administrationAuditRow } from '../../access/audit/store.ts'
import { requireTenant } from '../../access/rights.ts'
import { hostNameOf, requireTenantName, testTenantName } from '../../access/tenant-names.ts'
import { loadAnalysis } from '../../bundles/load.ts'
import { Refusal } from '../../kernel/errors.ts'
import { storedAnswer } from '../../platform/commit.ts'
import type { AdministrationContext, RequestContext } from '../../platform/context.ts'
import type { Query } from '../../platform/database.ts'
import type { FilePart } from '../../platform/http/body/form.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { assertConfigurationSize } from '../../platform/tenancy/quotas.ts'
import {
  controlDatabase,
  homeDatabase,
  readTenant,
  type Tenant,
  type TenantType,
} from '../../platform/tenancy.ts'
import { latestVersion } from '../../product/cache.ts'
import { archiveHash, compileArchive } from '../../product/compile.ts'
import type { Finding } from '../../product/configuration.ts'
import { formatLog } from '../../product/log.ts'
import { templatesAmong } from '../../reference/store.ts'
import { createTenant, makeVersioned, recreateTenant } from '../service.ts'
import type { DeployForm, DeployTestForm, RepairForm, StudioDeployForm } from './contract.ts'
import { logRefusal } from './log/store.ts'
import { asksForVersions, type Upload } from './release/findings.ts'
import {
  type DeployResult,
  deployedResult,
  deployVersion,
  type Released,
  repairVersion,
  versionOfSubject,
} from './release/release.ts'
import { userFindings } from './release/store.ts'
import { tenantNamed } from './versions.ts'

type Answer = Promise<DeployResult | JsonText>

/** Creates the tenant if none has that name. */
export async function deployToTest(
  { tenantName, recreate }: StudioDeployForm,
  file: FilePart | undefined,
  context: AdministrationContext,
): Answer {
  const tenant = await tenantOfType('test', tenantName, context)
  if (!tenant) requireTenantName(tenantName)
  return deploy(
    context,
    {
      route: 'POST /configuration/studio/deploy',
      name: tenantName,
      tenant,
      recreate,
      versioned: true,
    },
    file,
  )
}

/** Throws 404 if no tenant has that name. */
export async function deployToProduction(
  { tenantName, recreate }: DeployForm,
  file: FilePart | undefined,
  context: AdministrationContext,
): Answer {
  const tenant = await requireTenantOfType('production', tenantName, context)
  if (recreate)
    throw new Refusal('tenantTypeMismatch', "Only test tenants can be recreated. Leave 'recreate' out.")
  return deploy(
    context,
    {
      route: 'POST /configuration/deploy',
      name: tenantName,
      tenant,
      recreate: false,
      versioned: true,
    },
    file,
  )
}

/**
 * Replaces the archive of a version (`repairVersion`). Throws 404 if no tenant has that name, and 400 if it is of the other type.
 * A rejected archive is a result with `success: false` and its findings in `logfile`.
 */
export async function repair(
  type: TenantType,
  { tenantName, version }: RepairForm,
  file: FilePart | undefined,
  context: AdministrationContext,
): Answer {
  const tenant = await requireTenantOfType(type, tenantName, context)
  const route = type === 'test' ? 'POST /configuration/studio/repair' : 'POST /configuration/repair'
  return repairArchive(context, { route, tenant, version }, file)
}

/** Deploys to a test tenant the older way: the administrator's own tenant, named by a suffix, with one version that is replaced. */
export async function deployTest(
  { tenantNameSuffix }: DeployTestForm,
  file: FilePart | undefined,
  context: AdministrationContext,
): Answer {
  const name = testTenantName(context.caller.username, tenantNameSuffix)
  const tenant = await tenantOfType('test', name, context)
  if (tenant?.versioned)
    throw new Refusal(
      'tenantTypeMismatch',
      `The tenant '${name}' has product versioning. Deploy with POST /configuration/studio/deploy.`,
    )
  const route = 'POST /configuration/deployTest'
  return deploy(context, { route, name, tenant, recreate: false, versioned: false }, file)
}

/** Deploys to a production tenant in the older way. Repairs the latest version of a tenant that has versions. */
export async function deployAssets(
  { tenantName }: DeployForm,
  file: FilePart | undefined,
  context: AdministrationContext,
): Answer {
  const tenant = await requireTenantOfType('production', tenantName, context)
  const route = 'POST /assets/v1/deploy'
  const latest = tenant.versioned ? await latestVersion(context, tenant) : undefined
  if (latest) return repairArchive(context, { route, tenant, version: latest.version }, file)
  return deploy(context, { route, name: tenantName, tenant, recreate: false, versioned: false }, file)
}

/** Returns the tenant, or undefined if it is yet to be created. */
async function tenantOfType(
  type: TenantType,
  name: string,
  { env, calls, caller }: AdministrationContext,
): Promise<Tenant | undefined> {
  requireTenant(caller, { name, type })
  const tenant = await readTenant(env, { name }, calls)
  return tenant && ofType(type, tenant)
}

async function requireTenantOfType(
  type: TenantType,
  name: string,
  context: AdministrationContext,
): Promise<Tenant> {
  requireTenant(context.caller, { name, type })
  return ofType(type, await tenantNamed(name, context))
}

function ofType(type: TenantType, tenant: Tenant): Tenant {
  if (tenant.type === type) return tenant
  throw new Refusal(
    'tenantTypeMismatch',
    `The tenant '${tenant.name}' is a ${tenant.type} tenant, but this path serves ${type} tenants.`,
  )
}

type Plan = {
  /** Method and path of the request. */
  route: string
  name: string
  /** Undefined: a test tenant to be created. */
  tenant: Tenant | undefined
  recreate: boolean
  versioned: boolean
}

async function deploy(
  context: AdministrationContext,
  { route, name, tenant: present, recreate, versioned }: Plan,
  file: FilePart | undefined,
): Answer {
  const replay = present && (await storedResult({ ...context, tenant: present }))
  if (replay) return replay
  if (present && file) assertConfigurationSize(present, file.bytes.length)
  const templates = present && !recreate ? templatesOf({ ...context, tenant: present }) : NO_TEMPLATES
  const { upload, findings } = await readUpload(file, present?.type ?? 'test', templates)
  if (!upload) {
    const bytes = file?.bytes.length ?? 0
    if (present) await logRefusal({ ...context, tenant: present }, { kind: 'deploy', route, findings, bytes })
    return refusedResult(present ?? { name, hostName: hostNameOf(context.env, name) }, findings)
  }
  const { env, calls } = context
  const isVersioned = versioned || asksForVersions(upload.configuration)
  const { tenant, isNew } = present
    ? { tenant: recreate ? await recreateAudited(context, present) : present, isNew: recreate }
    : await createOrFindTenant(context, name, isVersioned)
  const own = { ...context, tenant }
  // Without versions, every deploy replaces the previous one for all policies (resources brief 10.5).
  const only = isVersioned || isNew ? undefined : await latestVersion(context, tenant)
  if (only) return replaceVersion(own, { route, version: only.version }, { upload, findings, file })
  const released = await deployVersion(own, upload, { route, isNew })
  if (isVersioned && !tenant.versioned) await makeVersioned(env, tenant, calls)
  return resultOf(tenant, released)
}

/** Written to the trail of administration accounts, since a recreated tenant starts with an empty trail. */
const auditQueries = (context: AdministrationContext, name: string, what: 'made' | 'recreated'): Query[] => [
  administrationAuditRow(controlDatabase(context.env, context.calls), context, {
    action: 'tenants.write',
    subject: name,
    details: { [what]: true },
  }),
]

const recreateAudited = (context: AdministrationContext, tenant: Tenant): Promise<Tenant> =>
  recreateTenant(context.env, tenant, context.calls, auditQueries(context, tenant.name, 'recreated'))

async function createOrFindTenant(
  context: AdministrationContext,
  name: string,
  versioned: boolean,
): Promise<{ tenant: Tenant; isNew: boolean }> {
  const { env, calls } = context
  try {
    const audit = auditQueries(context, name, 'made')
    return { tenant: await createTenant(env, { name, type: 'test', versioned }, calls, audit), isNew: true }
  } catch (problem) {
    // Another deploy created the tenant first, so this one follows it.
    const isTaken = problem instanceof Refusal && problem.code === 'alreadyExists'
    const tenant = isTaken ? await tenantOfType('test', name, context) : undefined
    if (!tenant) throw problem
    return { tenant, isNew: false }
  }
}

async function repairArchive(
  context: AdministrationContext,
  { route, tenant, version }: { readonly route: string; readonly tenant: Tenant; readonly version: number },
  file: FilePart | undefined,
): Answer {
  const replay = await storedResult({ ...context, tenant })
  if (replay) return replay
  if (file) assertConfigurationSize(tenant, file.bytes.length)
  const own = { ...context, tenant }
  const { upload, findings } = await readUpload(file, tenant.type, templatesOf(own))
  return replaceVersion(own, { route, version }, { upload, findings, file })
}

/** Without `upload` the archive has errors, which are among the findings. */
async function replaceVersion(
  own: AdministrationContext & RequestContext,
  { route, version }: { readonly route: string; readonly version: number },
  archive: {
    readonly upload: Upload | undefined
    readonly findings: readonly Finding[]
    readonly file: FilePart | undefined
  },
): Answer {
  const { upload, findings, file } = archive
  const released = upload
    ? await repairVersion(own, upload, { route, version })
    : { refused: findings.slice() }
  if ('refused' in released)
    await logRefusal(own, {
      kind: 'repair',
      route,
      repaired: version,
      findings: released.refused,
      bytes: file?.bytes.length ?? 0,
    })
  return resultOf(own.tenant, released)
}

async function storedResult(context: RequestContext): Promise<DeployResult | JsonText | undefined> {
  if (!context.idempotency) return undefined
  const stored = await storedAnswer(context, homeDatabase(context))
  return stored && resultOf(context.tenant, stored)
}

/** Returns the given static names that belong to a template among the tenant's resources. */
type TemplatesOf = (staticNames: readonly string[]) => Promise<readonly string[]>

/** Looks in the tenant of the context, in one round trip for each call. */
export const templatesOf =
  (context: RequestContext): TemplatesOf =>
  staticNames =>
    templatesAmong(homeDatabase(context), staticNames)

const NO_TEMPLATES: TemplatesOf = async () => []

/**
 * Checks an archive as a deploy does. Without `upload` it has errors, which are among the findings. Without `templates`, when the
 * tenant is not known, a document whose template the archive lacks gets a warning.
 */
export async function readUpload(
  file: FilePart | undefined,
  type: TenantType,
  templates?: TemplatesOf,
): Promise<{ upload: Upload | undefined; findings: readonly Finding[] }> {
  if (!file) throw new Refusal('malformedMultipart', 'Send the archive as the part named zipFile.')
  const { analyse } = await loadAnalysis()
  const { configuration, findings: found } = await compileArchive(file.bytes, analyse)
  const findings = [
    ...(templates ? await withTemplates(found, templates) : found),
    ...(configuration && type === 'test' ? userFindings(configuration.testUsers) : []),
  ]
  if (!configuration || findings.some(({ severity }) => severity === 'ERROR'))
    return { upload: undefined, findings }
  const hash = await archiveHash(file.bytes)
  return { upload: { zip: file.bytes, hash, configuration, findings }, findings }
}

/** Turns findings about templates that the archive lacks into errors, except for templates that the tenant has as resources. */
async function withTemplates(findings: readonly Finding[], templates: TemplatesOf): Promise<Finding[]> {
  const names = [...new Set(findings.flatMap(({ template }) => template ?? []))]
  const present = names.length === 0 ? [] : await templates(names)
  return findings.flatMap(({ template, ...finding }): Finding[] => {
    if (template === undefined) return [finding]
    return present.includes(template) ? [] : [{ ...finding, severity: 'ERROR' }]
  })
}

function resultOf(tenant: Tenant, released: Released): DeployResult | JsonText {
  if ('refused' in released) return refusedResult(tenant, released.refused)
  if ('subject' in released) return deployedResult(tenant, versionOfSubject(released.subject), [])
  return jsonText(released)
}

const refusedResult = (
  { hostName, name, locator }: Pick<Tenant, 'name' | 'hostName'> & { locator?: string },
  findings: readonly Finding[],
): DeployResult => ({
  success: false,
  hostname: hostName,
  tenantName: name,
  ...(locator !== undefined && { tenantLocator: locator }),
  logfile: formatLog(findings, undefined),
})
