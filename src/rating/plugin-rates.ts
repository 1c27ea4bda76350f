// Rates by the product's plugin (brief 5.6).

import { nonsense, readPerilRates } from '../extension/plugins/answers.ts'
import type { PerilRate } from '../extension/plugins/contract.ts'
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { NeedsWholePolicy } from '../policy/part.ts'
import type { PerilRun, PolicyAggregate, Quote } from '../policy/records/aggregate.ts'
import { hasPlugin } from '../product/plugins.ts'
import type { RatingContext } from './rater.ts'
import { type RecordedRates, ratesAsked, type SegmentRate } from './rates-asked.ts'

/**
 * The rates of the runs by their locators; undefined where the product has no such plugin. Refuses (422) when it
 * leaves a run out, prices others or answers nonsense; (409) with its own words when it gives an `exceptionMessage`.
 */
export async function pluginRates(
  aggregate: PolicyAggregate,
  quote: Quote,
  runs: readonly PerilRun[],
  context: RatingContext,
): Promise<ReadonlyMap<Uuid, RecordedRates> | undefined> {
  if (!hasPlugin(context.product, 'getPerilRates') || runs.length === 0) return undefined
  if (context.unread) throw new NeedsWholePolicy()
  const { input, wanted, ratesOfRuns } = ratesAsked(aggregate, quote, runs, context)
  const answer = await context.callPlugin('getPerilRates', input)
  const { path } = context.product.plugins.getPerilRates!
  const { exceptionMessage, rates } = await readPerilRates(answer, path)
  if (exceptionMessage !== undefined) throw new Refusal('pluginRefused', exceptionMessage)
  const problems = [
    ...[...wanted].filter(one => !rates.has(one)).map(one => `no rate for ${one}`),
    ...[...rates.keys()]
      .filter(one => !wanted.has(one))
      .map(one => `a rate for ${one}, which is not among policyExposurePerils`),
  ]
  if (problems.length > 0) throw nonsense('getPerilRates', problems, path)
  return ratesOfRuns(new Map([...rates].map(([locator, rate]) => [locator, segmentRate(rate)])))
}

const segmentRate = (rate: PerilRate): SegmentRate => ({
  premium: { yearly: rate.yearlyPremium, exact: rate.exactPremium },
  technicalPremium: { yearly: rate.yearlyTechnicalPremium, exact: rate.exactTechnicalPremium },
  commissions: (rate.commissions ?? []).map(({ recipient, yearlyAmount, exactAmount }) => ({
    recipient,
    yearly: yearlyAmount,
    exact: exactAmount,
  })),
})
