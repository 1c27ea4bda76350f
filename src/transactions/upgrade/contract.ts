// Moves a policy to another version of its configuration (brief 5.1, resources brief 10.5).
import { z } from '@hono/zod-openapi'
import { PolicyValidationErrors } from '../../platform/http/error-contract.ts'
import { booleanOr, component, Flag, Integer, optional, requestInteger, Text } from '../../platform/wire.ts'
import { ConflictResponse } from '../../policy/contract/requests.ts'
import { OptionalConflictHandling } from '../cancellations/contract.ts'

export const PolicyUpgradeRequest = component('PolicyUpgradeRequest', {
  configVersion: optional(requestInteger(1)).describe(
    'Default: the latest version. An earlier version is also accepted, after the same checks.',
  ),
  dryRun: booleanOr(false).describe('If true, only lists what would prevent the upgrade.'),
  conflictHandling: OptionalConflictHandling,
})
export type PolicyUpgradeRequest = z.infer<typeof PolicyUpgradeRequest>

/** The problems are empty after an upgrade. A rejected upgrade returns them as an error. */
export const PolicyUpgradeResponse = component('PolicyUpgradeResponse', {
  policyLocator: Text,
  fromConfigVersion: Integer,
  toConfigVersion: Integer,
  upgraded: Flag.describe('false for a dry run, and if the policy already has that version.'),
  validationErrors: PolicyValidationErrors.describe(
    "The problems with the policy's content in that version.",
  ),
  conflicts: z
    .array(ConflictResponse)
    .describe("Records that are priced by the policy's present version but not issued."),
})
export type PolicyUpgradeResponse = z.infer<typeof PolicyUpgradeResponse>
