// The terms that the product's plugin gives a grace period which is to begin (brief 5.6, getPreGraceResult).
//
// Nobody waits for an answer when an invoice goes past due, so a plugin that fails cannot be refused. It is asked again,
// with growing pauses over a day, in which the script can be repaired; nothing is lost by that, as a grace period begins at
// its invoice's due time whenever it is recorded, and the policyholder is covered meanwhile. After the last try the
// product's days hold: cover that nobody pays for must end some time. Every try is in the plugin's log with what follows.

import type { PreGraceInput } from '../../extension/plugins/contract.ts'
import { nonsense } from '../../extension/plugins/translation.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { hasPlugin } from '../../product/configuration.ts'
import { type Attempt, askPlugin, policyInfo } from '../../rating/rate.ts'
import {
  cancelEffectiveProblem,
  type GraceStart,
  type GraceStartTerms,
  isGraceEndSet,
} from './grace-periods.ts'
import { pastDueAgain } from './timers.ts'

const MINUTE_MS = 60_000

/** Pauses between the tries of a plugin that fails: a day in all. */
export const PAUSES_MS = [1, 10, 60, 360, 1_009].map(minutes => minutes * MINUTE_MS)

/** The terms; or when the plugin, which failed, is asked again. */
export type PreGrace = { readonly terms: GraceStartTerms } | { readonly again: NewTimer }

/**
 * What the plugin says of the grace period; no terms where the product has none, and where the end was set when a
 * payment was reversed. `tries`: how often it has failed.
 */
export async function preGrace(
  loaded: Loaded,
  start: GraceStart,
  tries: number,
  attempt: Attempt,
): Promise<PreGrace> {
  const { aggregate, product } = loaded
  const { policy } = aggregate
  if (!hasPlugin(product, 'getPreGraceResult') || isGraceEndSet(start.invoice, start.startAt))
    return { terms: {} }
  const input: PreGraceInput = {
    invoiceLocator: start.invoice.locator,
    defaultGracePeriodDays: String(product.lapse.gracePeriodDays),
    policy: policyInfo(aggregate),
    tenantTimeZone: policy.timeZone,
  }
  const pause = PAUSES_MS[tries]
  const againAt = pause === undefined ? undefined : ((attempt.now + pause) as Instant)
  const terms = await askPlugin(loaded, attempt, {
    name: 'getPreGraceResult',
    answer: contract => contract.PreGraceResult,
    input,
    accept: ({ gracePeriodEndTimestamp: endAt, cancelEffectiveTimestamp: cancelEffectiveAt }) => {
      const problems = [
        endAt !== undefined && endAt < start.startAt
          ? `gracePeriodEndTimestamp ${endAt} lies before the grace period's start ${start.startAt}`
          : undefined,
        cancelEffectiveProblem(policy, cancelEffectiveAt),
      ].filter(one => one !== undefined)
      if (problems.length > 0)
        throw nonsense('getPreGraceResult', problems, product.plugins.getPreGraceResult!.path)
      return { endAt, cancelEffectiveAt }
    },
    onFailure:
      againAt === undefined
        ? `It has failed ${tries + 1} times: the product's ${product.lapse.gracePeriodDays} days hold.`
        : `It is called again at ${againAt}; after ${PAUSES_MS.length + 1} failures the product's days hold.`,
  })
  if (terms) return { terms }
  if (againAt === undefined) return { terms: {} }
  return { again: pastDueAgain(policy.locator, start.invoice.locator, againAt, tries + 1) }
}
