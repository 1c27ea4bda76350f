// Rates that are asked of the tenant's own code or service: one call for all runs that are to be rated (brief 5.6).

import Big from 'big.js'
import type { PerilRatesInput, PluginPolicy } from '../extension/plugins/contract.ts'
import { asPluginInput } from '../extension/plugins/translation.ts'
import type { Uuid } from '../kernel/locators.ts'
import { type CurrencyCode, type Decimal, money, RATE_PLACES, sum, toDecimal } from '../kernel/money.ts'
import { months } from '../kernel/time.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import type { PerilRun, PolicyAggregate, Quote, RatedAmount } from '../policy/records/aggregate.ts'
import type { RatingEffects } from '../product/templates/effects.ts'
import type { SegmentRate } from './contract-external.ts'
import type { RatingContext } from './rater.ts'

/** What a script records of a run: the part that is given in its place. Taxes are templates' in any case. */
export type RecordedRates = Pick<RatingEffects, 'premium' | 'technicalPremium' | 'commissions'>

export type RatesAsked = {
  readonly input: PerilRatesInput
  /** Locators of the characteristics that are to be priced, all of them and no others. */
  readonly wanted: ReadonlySet<string>
  /** The rates of the runs by their locators, from those of all that is wanted. */
  ratesOfRuns(given: ReadonlyMap<string, SegmentRate>): ReadonlyMap<Uuid, RecordedRates>
}

/** What a rater is asked for the runs, which are not priced yet. */
export function ratesAsked(
  aggregate: PolicyAggregate,
  quote: Quote,
  runs: readonly PerilRun[],
  context: RatingContext,
): RatesAsked {
  const { operation, timeZone, transaction } = context
  const policy = context.project(aggregate, quote)
  const stretches = stretchesOf(policy, runs, context)
  const asked = [...stretches.values()].flat().map(one => one.characteristics)
  const { currency } = aggregate.policy
  return {
    input: {
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
    },
    wanted: new Set(asked.map(one => one.locator)),
    ratesOfRuns: given =>
      new Map(
        [...stretches].map(([run, parts]) => [
          run,
          ratesOf(
            parts.map(part => ({ months: part.months, rate: given.get(part.characteristics.locator)! })),
            currency,
          ),
        ]),
      ),
  }
}

type Characteristics = PolicyResponse['exposures'][number]['perils'][number]['characteristics'][number]

/** A stretch of a run in one policy segment, as the rater is asked of it. */
type Stretch = { readonly characteristics: Characteristics; readonly months: Decimal }

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

type Part = { readonly months: Decimal; readonly rate: SegmentRate }

const isSameRate = (a: RecordedRate, b: RecordedRate): boolean =>
  a.exact === undefined &&
  b.exact === undefined &&
  (a.yearly !== undefined || a.monthly !== undefined) &&
  isSame(a.yearly, b.yearly) &&
  isSame(a.monthly, b.monthly)

const isSame = (a: Decimal | undefined, b: Decimal | undefined): boolean =>
  a === undefined || b === undefined ? a === b : a.eq(b)

/**
 * The rates of a run of its parts. The same yearly or monthly rate in all of them is the run's; of different ones, and
 * of amounts for each, the run costs their sum.
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
  const recipients = new Set(parts.flatMap(({ rate }) => rate.commissions.map(one => one.recipient)))
  return {
    premium: together(parts.map(({ rate }) => rate.premium)),
    technicalPremium: together(parts.map(({ rate }) => rate.technicalPremium)),
    commissions:
      parts.length === 1
        ? [...parts[0]!.rate.commissions]
        : [...recipients].map(recipient => ({
            recipient,
            ...together(parts.map(({ rate, months }) => commissionOf(rate, recipient, months, currency))),
          })),
  }
}

/** All lines of a recipient in one part, as one. */
function commissionOf(
  { commissions }: SegmentRate,
  recipient: string,
  length: Decimal,
  currency: CurrencyCode,
): RecordedRate {
  const own = commissions.filter(one => one.recipient === recipient)
  if (own.length === 1) {
    const { recipient: _, ...rate } = own[0]!
    return rate
  }
  const amounts = own.flatMap(rate => {
    const amount = scaled(rate, length, currency)
    return amount ? [amount.amount] : []
  })
  return { exact: toDecimal(sum(amounts, currency)) }
}

// From what a rate calculation recorded to the amount of a run (brief 3.1). A yearly or monthly figure is
// scaled to the run's months and rounded once; the month rate that is kept has 7 places and is for display
// and later splits, so that a whole year costs exactly what the year was said to cost.
/**
 * A recorded figure in major units; `exact` is for the run as it is, and charged where there is one. `added` comes
 * on top of a yearly or monthly figure, unscaled.
 */
export type RecordedRate = { yearly?: Decimal; monthly?: Decimal; exact?: Decimal; added?: Decimal }

const rateText = (rate: Decimal): string => rate.round(RATE_PLACES, Big.roundHalfUp).toFixed()

/** The amount over `months` (positive) and the month rate; undefined when nothing was recorded. */
export function scaled(
  { yearly, monthly, exact, added = new Big(0) }: RecordedRate,
  months: Decimal,
  currency: CurrencyCode,
): RatedAmount | undefined {
  const month = monthly ?? yearly?.div(12)
  if (exact) return { month: rateText(month ?? exact.div(months)), amount: money(exact, currency) }
  if (monthly) return { month: rateText(monthly), amount: money(monthly.times(months).plus(added), currency) }
  if (yearly && month)
    return { month: rateText(month), amount: money(yearly.times(months).div(12).plus(added), currency) }
  return undefined
}
