// What a policy stands on: its policyholder and the configuration of its version.

import type { CurrencyCode, Money } from '../kernel/money.ts'
import type { TimeZone } from '../kernel/time.ts'
import type { Policyholder } from '../policyholders/policyholder.ts'
import type { LoadedConfiguration } from '../product/cache.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { Unread } from './part.ts'
import type { PolicyAggregate } from './records/aggregate.ts'

/** A version of the tenant's configuration, as it stands now. */
export type Version = { configuration: LoadedConfiguration; configVersion: number }

/** The surroundings of a policy that is yet to be made. */
export type Ground = Version & {
  policyholder: Policyholder
  timeZone: TimeZone
  currency: CurrencyCode
  product: ProductDefinition
  /** What the policyholder has left of earlier payments, in the policy's currency. */
  credit: Money
}

/** A policy with its surroundings. */
export type Loaded = {
  aggregate: PolicyAggregate
  /** Set where a part of the policy was read: exposures with all that is theirs are missing. */
  unread?: Unread
  policyholder: Policyholder
  configuration: LoadedConfiguration
  product: ProductDefinition
  /** What the policyholder has left of earlier payments, in the policy's currency. */
  credit: Money
}
