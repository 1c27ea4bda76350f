// What a decision works with: time, locators, and what templates and checks need to know of the policy.
import { Refusal } from '../platform/errors.ts'
import type { LocatorSupply } from '../platform/locators.ts'
import type { Instant } from '../platform/time.ts'
import type { PluginSession } from '../plugins/session.ts'
import type { ExternalRater, RatingContext } from '../rating/rater.ts'
import type { PolicyAggregate, Quote } from './aggregate.ts'
import type { ReadTables } from './constraints/validation.ts'
import type { ReportedProblems } from './draft/request.ts'
import { summary, validateQuote } from './draft/validation.ts'
import { policyResponse } from './projection/policy.ts'
import type { Loaded } from './surroundings.ts'

/** Time and locators for one attempt. `digits` leases display ids whose number only a plan can tell. */
export type Attempt = {
  now: Instant
  supply: LocatorSupply
  digits(count: number): Promise<LocatorSupply>
  /** Where plugins are called; absent where none is to be, as for products that have none. */
  plugins?: PluginSession
  /** Finds external raters for the policy; absent where none is to be called. */
  externalRater?(name: string, policyLocator: string): Promise<ExternalRater | undefined>
  /** Reads constraint tables; absent where values are not held against any. */
  readTables?: ReadTables
}

export const NOTHING_REPORTED: ReportedProblems = { byOwner: new Map(), strays: [], added: new Map() }

/** What rating needs beside the quote itself. */
export function ratingContext(
  { product, configuration, policyholder, aggregate, unread }: Loaded,
  attempt: Attempt,
): RatingContext {
  return {
    product,
    policyholder,
    policyholderFields: configuration.configuration.policyholderFields,
    operation: 'new_business',
    timeZone: aggregate.policy.timeZone,
    now: attempt.now,
    supply: attempt.supply,
    template: source => configuration.template(source),
    lookup: configuration.lookup(product.name),
    project: (current, quote) => policyResponse(current, product, { summarizeQuotes: false }, quote),
    unread: unread !== undefined,
    externalRater: async name => attempt.externalRater?.(name, String(aggregate.policy.locator)),
    callPlugin: async (name, ...given) => {
      if (!attempt.plugins) throw new Error(`Plugin ${name} has no sandbox to be called in.`)
      const { locator, configVersion } = aggregate.policy
      const subject = { configuration, configVersion, product, policyLocator: String(locator) }
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
