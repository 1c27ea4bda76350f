import type { Uuid } from '../kernel/locators.ts'
import type { PerilRun, PolicyAggregate, Quote } from '../policy/records/aggregate.ts'
import { externalRates } from './external-rates.ts'
import { pluginRates } from './plugin-rates.ts'
import type { RatingContext } from './rater.ts'
import type { RecordedRates } from './rates-asked.ts'

/**
 * Rates that are given in the place of templates, by the locators of the runs: by the product's external rater, else by
 * its plugin; undefined where templates rate (brief 5.5).
 */
export const givenRates = async (
  aggregate: PolicyAggregate,
  quote: Quote,
  runs: readonly PerilRun[],
  context: RatingContext,
): Promise<ReadonlyMap<Uuid, RecordedRates> | undefined> =>
  (await externalRates(aggregate, quote, runs, context)) ??
  (await pluginRates(aggregate, quote, runs, context))
