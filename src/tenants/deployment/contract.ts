// Contract 2; resources brief 10.
import { z } from '@hono/zod-openapi'
import {
  component,
  Flag,
  filePart,
  Integer,
  LongName,
  Name,
  OptionalBoolean,
  OptionalLongName,
  OptionalText,
  optional,
  RequestBoolean,
  requestInteger,
  Text,
  Timestamp,
  TimestampIfAny,
  withDefaults,
} from '../../platform/wire.ts'
import { AREAS } from '../../product/difference/change.ts'

const zipFile = filePart('zipFile')

/** A missing `recreate` is false (resources brief 10.2), although the contract lists it as required. */
export const StudioDeployForm = withDefaults(
  { recreate: false },
  z.object({
    recreate: RequestBoolean.describe('true wipes all data of the test tenant first.'),
    tenantName: LongName,
    zipFile,
  }),
)
export type StudioDeployForm = z.infer<typeof StudioDeployForm>

/** `recreate` is for test tenants: true is rejected here instead of ignored (resources brief 10.5). */
export const DeployForm = z.object({
  recreate: OptionalBoolean.describe('May only be false: production data is never wiped.'),
  tenantName: LongName,
  zipFile,
})
export type DeployForm = z.infer<typeof DeployForm>

export const RepairForm = z.object({
  tenantName: LongName,
  version: requestInteger(1).describe('The configVersion whose files are replaced.'),
  zipFile,
})
export type RepairForm = z.infer<typeof RepairForm>

/** The suffix itself is checked with the tenant's name (resources brief 10.6). */
export const DeployTestForm = z.object({ tenantNameSuffix: optional(Name), zipFile })
export type DeployTestForm = z.infer<typeof DeployTestForm>

/** A mistake in the configuration responds with 200, `success` false and every finding in `logfile`. */
const deployed = {
  success: Flag,
  hostname: Text,
  tenantName: Text,
  tenantLocator: OptionalText.describe(
    "The tenant's UUID. Absent if the deploy failed and would have created the tenant.",
  ),
  logfile: Text,
}

export const DeployTestAssetResponse = component('DeployTestAssetResponse', deployed)

export const DeployProductionAssetResponse = component('DeployProductionAssetResponse', deployed)

export const DeployTestConfigurationLegacyResponse = component(
  'DeployTestConfigurationLegacyResponse',
  deployed,
)

/** `version` is text: a published client compares it strictly with text (resources brief 0.6). */
const Version = z.string().openapi({ description: 'The configVersion, as text.', example: '3' })

/** One for each deploy and repair, oldest first. */
export const DeploymentVersionResponse = component('DeploymentVersionResponse', {
  version: Version,
  deployedTimestamp: Timestamp,
  kind: z.enum(['deploy', 'repair']),
  username: Text.describe('The user who deployed it.'),
})
export type DeploymentVersionResponse = z.infer<typeof DeploymentVersionResponse>

export const TenantAssetResponse = component('TenantAssetResponse', {
  hash: Text.describe('SHA-256 of the archive, in hexadecimal.'),
  kind: z.enum(['deploy', 'repair']),
  deployedTimestamp: Timestamp,
})

export const DeploymentResponse = component('DeploymentResponse', {
  url: Text.describe('Signed address of the archive, valid until expiresTimestamp.'),
  expiresTimestamp: Timestamp,
  tenantAssets: z.array(TenantAssetResponse).describe('Newest first. The newest is in force.'),
})
export type DeploymentResponse = z.infer<typeof DeploymentResponse>

/** Accounts of a tenant read their own and may omit the name. An administration account must name a tenant. */
export const DeploymentQuery = z.object({ tenantName: OptionalLongName })
export type DeploymentQuery = z.infer<typeof DeploymentQuery>

/** Without `version`: the latest. */
export const DeploymentStatusQuery = DeploymentQuery.extend({ version: optional(requestInteger(1)) })
export type DeploymentStatusQuery = z.infer<typeof DeploymentStatusQuery>

/** Time and version are absent until it is deployed. */
export const DeploymentStatusResponse = component('DeploymentStatusResponse', {
  deploymentStatus: z.enum(['INPROGRESS', 'DEPLOYED']),
  deploymentTimestamp: TimestampIfAny,
  version: Version.optional(),
})
export type DeploymentStatusResponse = z.infer<typeof DeploymentStatusResponse>

export const ConfigurationValidationForm = z
  .object({
    tenantName: OptionalLongName.describe(
      'Also checks the archive against the policies, users and raters of this tenant.',
    ),
    version: optional(requestInteger(1)).describe(
      'Checks the archive as a repair of this version. Left out: as a deploy of the next version.',
    ),
    zipFile,
  })
  .refine(({ tenantName, version }) => version === undefined || tenantName !== undefined, {
    path: ['tenantName'],
    message: "'tenantName' is missing; send the tenant that has the version.",
  })
export type ConfigurationValidationForm = z.infer<typeof ConfigurationValidationForm>

export const ConfigurationFinding = component('ConfigurationFinding', {
  severity: z.enum(['ERROR', 'WARNING']),
  path: Text.describe('The file in the archive; `(archive)` if the finding is not about a file.'),
  line: Integer.optional(),
  column: Integer.optional(),
  code: Text.describe('Stable across releases, such as `selectWithoutValues`.'),
  message: Text,
})

const validated = {
  success: Flag.describe('Whether the archive could be deployed: no finding is an error.'),
  errors: Integer,
  warnings: Integer,
  findings: z.array(ConfigurationFinding).describe('The first 1,000, in the order of the deploy log.'),
}

export const ConfigurationValidationResponse = component('ConfigurationValidationResponse', validated)
export type ConfigurationValidationResponse = z.infer<typeof ConfigurationValidationResponse>

export const ConfigurationDifferenceForm = z.object({
  tenantName: LongName,
  version: optional(requestInteger(1)).describe('The version to compare with. Default: the latest.'),
  zipFile,
})
export type ConfigurationDifferenceForm = z.infer<typeof ConfigurationDifferenceForm>

const CellChange = component('ConfigurationCellChange', {
  column: Text,
  from: Text,
  to: Text,
  percent: z
    .number()
    .optional()
    .describe('Percentage by which a number changed. Absent if either value is not a number.'),
})

const RowChange = component('ConfigurationRowChange', {
  kind: z.enum(['added', 'removed', 'changed']),
  key: z.array(Text).readonly().describe('Cells that identify the row.'),
  cells: z.array(CellChange).readonly().optional().describe('For a changed row: the cells that differ.'),
  row: z.record(Text, Text).readonly().optional().describe('For an added or removed row: all its cells.'),
})

const Lines = z.array(Text).readonly()

const HunkChange = component('ConfigurationHunk', {
  oldLine: Integer.describe('Number of the first line in the earlier text, from 1.'),
  newLine: Integer.describe('Number of the first line in the later text, from 1.'),
  removed: Lines,
  added: Lines,
})

export const ConfigurationChange = component('ConfigurationChange', {
  kind: z.enum(['added', 'removed', 'changed']),
  area: z.enum(AREAS),
  product: OptionalText.describe('Absent if the change affects all products.'),
  path: Text.describe('The changed file of the archive.'),
  subject: Text.describe("What changed, such as `field 'usage' of exposure 'vehicle'`."),
  detail: Text.describe('The difference, without the subject. Empty if `kind` says everything.'),
  inForce: z
    .object({
      effect: z.enum(['breaks', 'binds']),
      why: Text,
    })
    .optional()
    .describe('Effect on policies in force. Absent if there is none.'),
  rows: z.array(RowChange).readonly().optional().describe('For a table: the first 100 changed rows.'),
  moreRows: Integer.optional().describe('Number of rows left out.'),
  hunks: z.array(HunkChange).readonly().optional().describe('For a template or script: the first 200 lines.'),
  moreHunks: Integer.optional().describe('Number of hunks left out.'),
})
export type ConfigurationChange = z.infer<typeof ConfigurationChange>

export const changes = {
  count: Integer.describe('Number of changes, including those left out.'),
  breaks: Integer.describe('Number of changes that make data of policies in force unreadable.'),
  binds: Integer.describe(
    'Number of changes that require policies in force to have other data when they are next changed.',
  ),
  changes: z.array(ConfigurationChange).describe('The first 1,000, those that affect all products first.'),
}
const ConfigurationChanges = z.object(changes)
export type ConfigurationChanges = z.infer<typeof ConfigurationChanges>

const FromVersion = Version.optional().describe('The version compared with. Absent if there is none.')

export const ConfigurationDifferenceResponse = component('ConfigurationDifferenceResponse', {
  ...validated,
  fromVersion: FromVersion,
  ...changes,
})
export type ConfigurationDifferenceResponse = z.infer<typeof ConfigurationDifferenceResponse>

export const VersionChangesQuery = DeploymentQuery.extend({
  since: optional(requestInteger(1)).describe('An earlier version. Default: the previous one.'),
})
export type VersionChangesQuery = z.infer<typeof VersionChangesQuery>

export const VersionChangesResponse = component('VersionChangesResponse', {
  fromVersion: FromVersion,
  toVersion: Version,
  ...changes,
})
export type VersionChangesResponse = z.infer<typeof VersionChangesResponse>

const named = { name: Text, displayName: Text }

export const ProductResponse = component('ProductResponse', {
  locator: Text,
  ...named,
  configVersion: Integer,
  exposures: z.array(z.object({ ...named, perils: z.array(z.object(named)) })),
  paymentSchedules: z.array(z.object({ ...named, type: Text })).describe('The first is the default.'),
})
export type ProductResponse = z.infer<typeof ProductResponse>
