// Rates by the external rater that the product names (resources brief 6).

import type { ExternalRater } from '../extension/integrations/external-raters.ts'
import { problemOf } from '../extension/plugins/answers.ts'
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { NeedsWholePolicy } from '../policy/part.ts'
import type { PerilRun, PolicyAggregate, Quote } from '../policy/records/aggregate.ts'
import type { RatingContext } from './rater.ts'
import { type RecordedRates, ratesAsked, type SegmentRate } from './rates-asked.ts'

/**
 * The rates of the runs by their locators; undefined where the product names no rater, or one that the tenant has not:
 * then plugin or templates rate. Refuses (502) when the rater fails, leaves out what it was asked for or answers
 * nonsense; (409) with its own words when it gives an `exceptionMessage`. Negative amounts stand.
 */
export async function externalRates(
  aggregate: PolicyAggregate,
  quote: Quote,
  runs: readonly PerilRun[],
  context: RatingContext,
): Promise<ReadonlyMap<Uuid, RecordedRates> | undefined> {
  const { externalRater: name } = context.product
  if (name === undefined || runs.length === 0) return undefined
  const rater = await context.externalRater(name)
  if (!rater) return undefined
  if (context.unread) throw new NeedsWholePolicy()
  const { input, wanted, ratesOfRuns } = ratesAsked(aggregate, quote, runs, context)
  const contract = await import('./contract-external.ts')
  const given = await rater.call(input, (answer, warn) => readRates(contract, answer, wanted, rater, warn))
  return ratesOfRuns(given)
}

/** Problems and locators that are told; a rater that is wrong in one peril is so in a thousand. */
const MOST_TOLD = 5

const listed = (all: readonly string[]): string => {
  const told = all.slice(0, MOST_TOLD).join('; ')
  return all.length > MOST_TOLD ? `${told}; and ${all.length - MOST_TOLD} more` : told
}

function readRates(
  { RaterReply, SegmentRateReply }: typeof import('./contract-external.ts'),
  answer: unknown,
  wanted: ReadonlySet<string>,
  rater: ExternalRater,
  warn: (warning: string) => void,
): ReadonlyMap<string, SegmentRate> {
  const nonsense = (problems: readonly string[]): Refusal =>
    rater.failed(`it answered what it may not: ${listed(problems)}`)
  const reply = RaterReply.safeParse(answer)
  if (!reply.success) throw nonsense(reply.error.issues.map(one => problemOf(one)))
  const { exceptionMessage, pricedPerilCharacteristics: priced } = reply.data
  if (exceptionMessage !== undefined) throw new Refusal('externalRaterRefused', exceptionMessage)

  const strangers = Object.keys(priced).filter(one => !wanted.has(one))
  if (strangers.length > 0) warn(`Ignored rates of what was not asked for: ${listed(strangers)}.`)
  const rates = new Map<string, SegmentRate>()
  const problems: string[] = []
  for (const locator of wanted) {
    if (!Object.hasOwn(priced, locator)) {
      problems.push(`no rate for ${locator}`)
      continue
    }
    const rate = SegmentRateReply.safeParse(priced[locator])
    if (rate.success) rates.set(locator, rate.data)
    else problems.push(...rate.error.issues.map(one => problemOf(one, locator)))
  }
  if (problems.length > 0) throw nonsense(problems)
  return rates
}
