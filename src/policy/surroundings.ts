// A policy as an operation reads it, whole or in part, with its policyholder and the configuration of its version.

import type { EndorsementLocator } from '../kernel/locators.ts'
import type { CurrencyCode, Money } from '../kernel/money.ts'
import type { TimeZone } from '../kernel/time.ts'
import type { Policyholder } from '../policyholders/policyholder.ts'
import type { LoadedConfiguration } from '../product/cache.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { PolicyAggregate } from './records/aggregate.ts'

/** A version of the tenant's configuration, as it is now. */
export type Version = { configuration: LoadedConfiguration; configVersion: number }

/** The surroundings of a policy that is yet to be made. */
export type Ground = Version & {
  policyholder: Policyholder
  timeZone: TimeZone
  currency: CurrencyCode
  product: ProductDefinition
  /** The policyholder's credit in the policy's currency. */
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

// A part of a policy: an operation that touches a few exposures of a large policy reads those alone, so that its
// work grows with the change (docs/design.md, section 1). Whatever finds that it needs more says so, and the
// operation begins again with the whole policy.
/** Policies with at most this many perils are read whole, and kept in memory for the next operation. */
export const READ_WHOLE_PERILS = 200

/** The exposures that are enough: those named here, and those that the endorsement touches. */
export type Part = { readonly exposures: readonly string[]; readonly endorsement?: EndorsementLocator }

/** How much of the policy was left unread. */
export type Unread = { readonly exposures: number; readonly perils: number }

export const NOTHING_UNREAD: Unread = { exposures: 0, perils: 0 }

/** Only a part of the policy was read, and that is not enough. */
export class NeedsWholePolicy extends Error {
  constructor() {
    super('The operation needs the whole policy.')
    this.name = 'NeedsWholePolicy'
  }
}
