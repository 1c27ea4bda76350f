// Moves a policy to another version of its configuration (brief 5.1, resources brief 10.5).
import { z } from '@hono/zod-openapi'
import { PolicyValidationErrors } from '../../platform/http/error-contract.ts'
import { booleanOr, component, Flag, Integer, optional, requestInteger, Text } from '../../platform/wire.ts'
import { ConflictResponse } from '../../policy/contract/requests.ts'
import { OptionalConflictHandling } from '../cancellations/contract.ts'

export const PolicyUpgradeRequest = component('PolicyUpgradeRequest', {
  configVersion: optional(requestInteger(1)).describe(
    'Left out: the latest version. An earlier one is taken too, by the same checks.',
  ),
  dryRun: booleanOr(false).describe('Only list what would stand in the way of the upgrade.'),
  conflictHandling: OptionalConflictHandling,
})
export type PolicyUpgradeRequest = z.infer<typeof PolicyUpgradeRequest>

/** The problems are empty after an upgrade. A rejected upgrade returns them as an error. */
export const PolicyUpgradeResponse = component('PolicyUpgradeResponse', {
  policyLocator: Text,
  fromConfigVersion: Integer,
  toConfigVersion: Integer,
  upgraded: Flag.describe('false for a dry run, and where the policy has that version already.'),
  validationErrors: PolicyValidationErrors.describe(
    "What of the policy's content the version does not take.",
  ),
  conflicts: z
    .array(ConflictResponse)
    .describe('What is priced by the version that the policy has, and not issued.'),
})
export type PolicyUpgradeResponse = z.infer<typeof PolicyUpgradeResponse>
