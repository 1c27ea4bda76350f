// Contract 2; resources brief 10.
import { z } from '@hono/zod-openapi'
import {
  component,
  Flag,
  filePart,
  filledIn,
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
} from '../../platform/wire.ts'

const zipFile = filePart('zipFile')

/** A missing `recreate` is false (resources brief 10.2), though the contract lists it as required. */
export const StudioDeployForm = filledIn(
  { recreate: false },
  z.object({
    recreate: RequestBoolean.describe("true wipes the test tenant's data first."),
    tenantName: LongName,
    zipFile,
  }),
)
export type StudioDeployForm = z.infer<typeof StudioDeployForm>

/** `recreate` is for test tenants: true is refused here instead of ignored (resources brief 10.5). */
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

/** A mistake in the configuration is HTTP 200 with `success` false and every finding in `logfile`. */
const deployed = {
  success: Flag,
  hostname: Text,
  tenantName: Text,
  tenantLocator: OptionalText.describe(
    "The tenant's UUID; absent when a failed deploy would have created the tenant.",
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
})
export type DeploymentVersionResponse = z.infer<typeof DeploymentVersionResponse>

export const TenantAssetResponse = component('TenantAssetResponse', {
  hash: Text.describe('SHA-256 of the archive, hex.'),
  kind: z.enum(['deploy', 'repair']),
  deployedTimestamp: Timestamp,
})

export const DeploymentResponse = component('DeploymentResponse', {
  url: Text.describe('Signed address of the archive; holds until expiresTimestamp.'),
  expiresTimestamp: Timestamp,
  tenantAssets: z.array(TenantAssetResponse).describe('Newest first; it is in force.'),
})
export type DeploymentResponse = z.infer<typeof DeploymentResponse>

/** Accounts of a tenant read their own and may omit the name; an administration account names one. */
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

const named = { name: Text, displayName: Text }

export const ProductResponse = component('ProductResponse', {
  locator: Text,
  ...named,
  configVersion: Integer,
  exposures: z.array(z.object({ ...named, perils: z.array(z.object(named)) })),
  paymentSchedules: z.array(z.object({ ...named, type: Text })).describe('The first is the default.'),
})
export type ProductResponse = z.infer<typeof ProductResponse>
