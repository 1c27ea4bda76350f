// Rates by the product's plugin: one call for all runs that are to be rated (brief 5.6).
import { Refusal } from '../platform/errors.ts'
import type { Uuid } from '../platform/locators.ts'
import { type CurrencyCode, type Decimal, sum, toDecimal } from '../platform/money.ts'
import { months } from '../platform/time.ts'
import { nonsense, readAnswer } from '../plugins/answer.ts'
import type { PerilRate, PerilRatesInput, PluginPolicy } from '../plugins/contract.ts'
import { hasPlugin } from '../plugins/functions.ts'
import { asPluginInput } from '../plugins/input.ts'
import type { PerilRun, PolicyAggregate, Quote } from '../policies/aggregate.ts'
import type { PolicyResponse } from '../policies/contract/response.ts'
import { NeedsWholePolicy } from '../policies/part.ts'
import type { RatingEffects } from './liquid/effects.ts'
import type { RatingContext } from './rater.ts'
import { type RecordedRate, scaled } from './scale.ts'

/** What a script records of a run: the part that a plugin gives in its place. Taxes are templates' in any case. */
export type RecordedRates = Pick<RatingEffects, 'premium' | 'technicalPremium' | 'commissions'>

type Characteristics = PolicyResponse['exposures'][number]['perils'][number]['characteristics'][number]

/** A stretch of a run in one policy segment, as the plugin is asked of it. */
type Stretch = { readonly characteristics: Characteristics; readonly months: Decimal }

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
  const { product, operation, timeZone, transaction, callPlugin } = context
  if (!hasPlugin(product, 'getPerilRates') || runs.length === 0) return undefined
  if (context.unread) throw new NeedsWholePolicy()
  const policy = context.project(aggregate, quote)
  const stretches = stretchesOf(policy, runs, context)
  const asked = [...stretches.values()].flat().map(one => one.characteristics)
  const input: PerilRatesInput = {
    operation,
    policy: asPluginInput(policy) as PluginPolicy,
    policyExposurePerils: asked.map(one => ({
      policyCharacteristicsLocator: one.policyCharacteristicsLocator,
      exposureCharacteristicsLocator: one.exposureCharacteristicsLocator,
      perilCharacteristicsLocator: one.locator,
    })),
    tenantTimeZone: timeZone,
    ...(operation === 'new_business' && { quoteLocator: String(quote.locator) }),
    ...transaction,
  }
  const { PerilRatesResult } = await import('../plugins/contract.ts')
  const result = readAnswer('getPerilRates', PerilRatesResult, await callPlugin('getPerilRates', input))
  const { exceptionMessage, pricedPerilCharacteristics: priced } = result
  if (exceptionMessage !== undefined) throw new Refusal('pluginRefused', exceptionMessage)
  const wanted = new Set(asked.map(one => one.locator))
  const problems = [
    ...[...wanted].filter(one => !Object.hasOwn(priced, one)).map(one => `no rate for ${one}`),
    ...Object.keys(priced)
      .filter(one => !wanted.has(one))
      .map(one => `a rate for ${one}, which is not among policyExposurePerils`),
  ]
  if (problems.length > 0) throw nonsense('getPerilRates', problems)
  const { currency } = aggregate.policy
  return new Map(
    [...stretches].map(([run, parts]) => [
      run,
      ratesOf(
        parts.map(part => ({ months: part.months, rate: priced[part.characteristics.locator]! })),
        currency,
      ),
    ]),
  )
}

/** The characteristics that stand for each run: one, or several where the run reaches over policy segments. */
function stretchesOf(
  policy: PolicyResponse,
  runs: readonly PerilRun[],
  { timeZone }: RatingContext,
): Map<Uuid, Stretch[]> {
  const ofPeril = new Map(
    policy.exposures.flatMap(exposure =>
      exposure.perils.map(peril => [peril.locator, peril.characteristics]),
    ),
  )
  return new Map(
    runs.map(run => {
      const own = (ofPeril.get(run.perilLocator) ?? []).filter(
        one =>
          one.policyModificationLocator === run.madeBy &&
          one.replacedTimestamp === undefined &&
          Number(one.coverageStartTimestamp) >= run.start &&
          Number(one.coverageStartTimestamp) < run.end,
      )
      if (own.length === 0) throw new Error(`Run ${run.locator} has no characteristics to rate.`)
      const spanOf = (one: Characteristics) =>
        months(
          Number(one.coverageStartTimestamp) as PerilRun['start'],
          Number(one.coverageEndTimestamp) as PerilRun['end'],
          timeZone,
        )
      return [run.locator, own.map(one => ({ characteristics: one, months: spanOf(one) }))]
    }),
  )
}

type Part = { readonly months: Decimal; readonly rate: PerilRate }

const isSameRate = (a: RecordedRate, b: RecordedRate): boolean =>
  a.exact === undefined && b.exact === undefined && a.yearly !== undefined && b.yearly?.eq(a.yearly) === true

/**
 * The rates of a run of its parts. The same yearly rate in all of them is the run's; of different ones, and of amounts
 * for each, the run costs their sum.
 */
function ratesOf(parts: readonly Part[], currency: CurrencyCode): RecordedRates {
  const together = (rates: readonly RecordedRate[]): RecordedRate => {
    const [first] = rates as [RecordedRate]
    if (rates.length === 1 || rates.every(rate => isSameRate(first, rate))) return first
    const amounts = rates.flatMap((rate, at) => {
      const amount = scaled(rate, parts[at]!.months, currency)
      return amount ? [amount.amount] : []
    })
    return amounts.length === 0 ? {} : { exact: toDecimal(sum(amounts, currency)) }
  }
  const recipients = new Set(parts.flatMap(({ rate }) => (rate.commissions ?? []).map(one => one.recipient)))
  const isPlain = parts.length === 1
  return {
    premium: together(parts.map(({ rate }) => ({ yearly: rate.yearlyPremium, exact: rate.exactPremium }))),
    technicalPremium: together(
      parts.map(({ rate }) => ({ yearly: rate.yearlyTechnicalPremium, exact: rate.exactTechnicalPremium })),
    ),
    commissions: isPlain
      ? (parts[0]!.rate.commissions ?? []).map(({ recipient, yearlyAmount, exactAmount }) => ({
          recipient,
          yearly: yearlyAmount,
          exact: exactAmount,
        }))
      : [...recipients].map(recipient => ({
          recipient,
          ...together(
            parts.map(({ rate, months: length }) => commissionOf(rate, recipient, length, currency)),
          ),
        })),
  }
}

/** All lines of a recipient in one part, as one. */
function commissionOf(
  { commissions = [] }: PerilRate,
  recipient: string,
  length: Decimal,
  currency: CurrencyCode,
): RecordedRate {
  const own = commissions.filter(one => one.recipient === recipient)
  const [only] = own
  if (own.length === 1) return { yearly: only!.yearlyAmount, exact: only!.exactAmount }
  const amounts = own.flatMap(({ yearlyAmount, exactAmount }) => {
    const amount = scaled({ yearly: yearlyAmount, exact: exactAmount }, length, currency)
    return amount ? [amount.amount] : []
  })
  return { exact: toDecimal(sum(amounts, currency)) }
}
