// The state that a write of a policy relies on, as conditions that D1 checks in the batch (docs/design.md, section 5).
import { sql } from 'drizzle-orm'
import type { Guard } from '../../platform/commit.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { policies } from '../../policy/tables/policies.ts'
import { policyholders } from '../../policyholders/tables.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import { configurationVersions } from '../../product/tables.ts'

const locatorParameter = sql.placeholder('locator')
const versionParameter = sql.placeholder('version')
const storedPolicy = sql`(select ${policies.version} from ${policies} where ${policies.locator} = ${locatorParameter})`
const POLICY_IS_NEW = sql`${storedPolicy} is null`
const POLICY_IS_UNCHANGED = sql`${storedPolicy} = ${versionParameter}`
const CONFIGURATION_IS_UNCHANGED = sql`(select ${configurationVersions.hash} from ${configurationVersions}
  where ${configurationVersions.version} = ${versionParameter}) = ${sql.placeholder('hash')}`
const POLICYHOLDER_IS_UNCHANGED = sql`(select ${policyholders.version} from ${policyholders}
  where ${policyholders.locator} = ${locatorParameter}) = ${versionParameter}`

/** Fails the batch if the policy has changed since it was read, or if another request created it first. */
export function policyGuard(
  before: PolicyAggregate | undefined,
  { policy: { locator } }: PolicyAggregate,
): Guard {
  const name = 'guard_policy_version'
  if (!before) return { name, holds: POLICY_IS_NEW, values: { locator } }
  return { name, holds: POLICY_IS_UNCHANGED, values: { locator, version: before.policy.version } }
}

/** Fails the batch unless the version still has the configuration that the plan used. */
export const configurationGuard = (version: number, hash: string): Guard => ({
  name: 'guard_configuration_hash',
  holds: CONFIGURATION_IS_UNCHANGED,
  values: { version, hash },
})

/** Fails the batch if the policyholder has changed since the price used it. */
export const policyholderGuard = ({ locator, version }: Policyholder): Guard => ({
  name: 'guard_policyholder_version',
  holds: POLICYHOLDER_IS_UNCHANGED,
  values: { locator, version },
})
