import type { Instant } from '../kernel/time.ts'
import type { Policy } from './records/aggregate.ts'

/** The version of the configuration that the policy had then: what was made then was made by it. */
export const configVersionAt = ({ configVersion, upgrades = [] }: Policy, at: Instant): number =>
  upgrades.find(one => one.at > at)?.from ?? configVersion
