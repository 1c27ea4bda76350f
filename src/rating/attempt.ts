// What a decision works with: time, locators, and what templates and checks need to know of the policy.

import type { PluginSession } from '../extension/plugins/session.ts'
import type { ExternalRater } from '../extension/plugins/sessions.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { ReportedProblems } from '../policy/draft/request.ts'
import { summary, validateQuote } from '../policy/draft/validation.ts'
import type { Prorated } from '../policy/fold/prorated.ts'
import { policyToRead } from '../policy/projection/policy.ts'
import {
  type Modification,
  type PolicyAggregate,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../policy/records/aggregate.ts'
import { basisAt, jurisdictionOf, selectionBasis } from '../policy/selection-basis.ts'
import type { Loaded } from '../policy/surroundings.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import type { SelectionBasis } from '../product/resources.ts'
import type { ReadTables } from '../reference/constraints/force.ts'
import {
  type RatingTables,
  type TransactionTables,
  tablesOfConfiguration,
} from '../reference/data-tables/rating-tables.ts'
import type { RatingContext } from './rater.ts'

/** Time and locators for one attempt. `digits` leases display ids whose number only a plan can tell. */
export type Attempt = {
  now: Instant
  supply: LocatorSupply
  digits(count: number): Promise<LocatorSupply>
  /** Where plugins are called; absent where none is to be, as for products that have none. */
  plugins?: PluginSession
  /** Finds external raters for the policy; absent where none is to be called. */
  externalRater?(name: string, policyLocator: string): Promise<ExternalRater | undefined>
  /** The tenant's tables; absent where nothing is looked up. */
  tables?: RatingTables
  /** Reads constraint tables; absent where values are not held against any. */
  readTables?: ReadTables
}

export const NOTHING_REPORTED: ReportedProblems = { byOwner: new Map(), strays: [], added: new Map() }

/** Look-ups of a transaction of the policy: in the tenant's tables, else in those of the configuration. */
export const tablesOf = (
  { configuration, product }: Pick<Loaded, 'configuration' | 'product'>,
  { tables }: Attempt,
  basis: SelectionBasis,
): TransactionTables =>
  tables?.of(configuration, product.name, basis) ?? tablesOfConfiguration(configuration.lookup(product.name))

/**
 * What rating needs beside the quote itself, for a transaction that `loaded` has, or for one that is not made yet and
 * takes effect then; left out, for new business.
 */
export function ratingContext(
  loaded: Loaded,
  attempt: Attempt,
  of: Modification | Instant = quoteParts(loaded.aggregate, selectedQuote(loaded.aggregate)).modification,
): RatingContext {
  const { product, configuration, policyholder, aggregate, unread } = loaded
  const { now } = attempt
  const basis = typeof of === 'number' ? basisAt(loaded, of, now) : selectionBasis(loaded, of, now)
  const tables = tablesOf(loaded, attempt, basis)
  return {
    product,
    policyholder,
    policyholderFields: configuration.configuration.policyholderFields,
    operation: 'new_business',
    timeZone: aggregate.policy.timeZone,
    now,
    supply: attempt.supply,
    template: source => configuration.template(source),
    lookup: tables.lookup,
    lookupIn: data =>
      product.jurisdictionField === undefined
        ? tables.lookup
        : tables.in(jurisdictionOf(product, data)).lookup,
    project: (current, quote) => policyToRead(current, product, quote),
    unread: unread !== undefined,
    externalRater: async name => attempt.externalRater?.(name, String(aggregate.policy.locator)),
    callPlugin: async (name, ...given) => {
      if (!attempt.plugins) throw new Error(`Plugin ${name} has no sandbox to be called in.`)
      const { locator, configVersion } = aggregate.policy
      const subject = { configuration, configVersion, product, policyLocator: String(locator), tables }
      return await attempt.plugins.call(subject, name, given)
    },
  }
}

/** Refuses with every problem of the quote at once. `requireMissing` on quote and finalize (brief 6.2). */
export function assertValid(
  aggregate: PolicyAggregate,
  quote: Quote,
  { product }: Pick<Loaded, 'product'>,
  { now }: Pick<Attempt, 'now'>,
  requireMissing: boolean,
  reported: ReportedProblems = NOTHING_REPORTED,
): void {
  const { timeZone } = aggregate.policy
  const errors = validateQuote(aggregate, quote, { product, timeZone, now, requireMissing }, reported)
  if (errors.hasErrors) throw new Refusal('policyValidation', summary(errors), { policyFieldErrors: errors })
}

/** `prorated` is what a plugin said of the amounts that are split; without it they are shared out in proportion. */
export type EffectContext = {
  product: ProductDefinition
  now: Instant
  supply: LocatorSupply
  prorated?: Prorated
}
