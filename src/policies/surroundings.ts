// What a policy stands on: its policyholder and the configuration of its version.
import type { LoadedConfiguration } from '../configuration/cache.ts'
import type { ProductDefinition } from '../configuration/configuration.ts'
import type { CurrencyCode, Money } from '../platform/money.ts'
import type { TimeZone } from '../platform/time.ts'
import type { Policyholder } from '../policyholders/policyholder.ts'
import type { PolicyAggregate } from './aggregate.ts'

/** The surroundings of a policy that is yet to be made. */
export type Ground = {
  policyholder: Policyholder
  configuration: LoadedConfiguration
  configVersion: number
  timeZone: TimeZone
  currency: CurrencyCode
  product: ProductDefinition
  /** What the policyholder has left of earlier payments, in the policy's currency. */
  credit: Money
}

/** A policy with its surroundings. */
export type Loaded = {
  aggregate: PolicyAggregate
  policyholder: Policyholder
  configuration: LoadedConfiguration
  product: ProductDefinition
  /** What the policyholder has left of earlier payments, in the policy's currency. */
  credit: Money
}
