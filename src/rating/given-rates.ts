// Rates from the product's external rater (resources brief 6) or plugin (brief 5.6), in one call for all runs.

import type { ExternalRater } from '../extension/integrations/external-rater.ts'
import type { PluginExplained } from '../extension/plugins/attempt-calls.ts'
import type { PerilRate, PerilRatesInput } from '../extension/plugins/contract.ts'
import { invalidAnswer, pluginPolicy, problemOf, readPerilRates } from '../extension/plugins/translation.ts'
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { type CurrencyCode, type Decimal, sum, toDecimal } from '../kernel/money.ts'
import { type Instant, months } from '../kernel/time.ts'
import { issuesOf } from '../platform/wire-problem.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import type { PerilRun, PolicyAggregate, Quote } from '../policy/records/aggregate.ts'
import { NeedsWholePolicy } from '../policy/surroundings.ts'
import { hasPlugin } from '../product/configuration.ts'
import type { SegmentRate } from './contract-external.ts'
import type { RatingContext } from './rater.ts'
import { type RecordedRate, type RecordedRates, scaleRate } from './rates.ts'

type RatesByLocator = ReadonlyMap<string, SegmentRate>

/**
 * Returns rates by the locator of the run: those of the product's external rater, or those of the plugin if the tenant has no rater
 * of that name. Undefined if templates rate (brief 5.5). Throws 502 (422 for a plugin) for failures, missing rates and invalid
 * answers. Throws 409 with the `exceptionMessage` of the rater or plugin if it returns one. Negative amounts are allowed.
 */
export async function requestRates(
  aggregate: PolicyAggregate,
  quote: Quote,
  runs: readonly PerilRun[],
  context: RatingContext,
): Promise<ReadonlyMap<Uuid, RecordedRates> | undefined> {
  const { product, operation, timeZone, transaction } = context
  if (runs.length === 0) return undefined
  const rater =
    product.externalRater === undefined ? undefined : await context.externalRater(product.externalRater)
  if (!rater && !hasPlugin(product, 'getPerilRates')) return undefined
  if (context.unread) throw new NeedsWholePolicy()
  const policy = context.project(aggregate, quote)
  const stretches = stretchesOf(policy, runs, context)
  const requested = [...stretches.values()].flat().map(one => one.characteristics)
  const input: PerilRatesInput = {
    operation,
    policy: pluginPolicy(policy, aggregate, operation === 'new_business' ? quote : undefined),
    policyExposurePerils: requested.map(one => ({
      policyCharacteristicsLocator: one.policyCharacteristicsLocator,
      exposureCharacteristicsLocator: one.exposureCharacteristicsLocator,
      perilCharacteristicsLocator: one.locator,
    })),
    tenantTimeZone: timeZone,
    ...(operation === 'new_business' && { quoteLocator: String(quote.locator) }),
    ...transaction,
  }
  const wanted = new Set(requested.map(one => one.locator))
  const rates = await (rater
    ? externalRates(rater, input, wanted, context)
    : pluginRates(context, input, wanted))
  const ratedBy = rater ? 'externalRater' : 'plugin'
  const source = rater ? product.externalRater! : product.plugins.getPerilRates!.path
  const { currency } = aggregate.policy
  return new Map(
    [...stretches].map(([run, parts]) => {
      const rated = parts.map(part => ({
        months: part.months,
        rate: rates.get(part.characteristics.locator)!,
        characteristicsLocator: part.characteristics.locator,
      }))
      context.explaining?.record.given(run, { ratedBy, source, parts: rated })
      return [run, ratesOf(rated, currency)]
    }),
  )
}

async function externalRates(
  rater: ExternalRater,
  input: PerilRatesInput,
  wanted: ReadonlySet<string>,
  { explaining, product }: Pick<RatingContext, 'explaining' | 'product'>,
): Promise<RatesByLocator> {
  const contract = await import('./contract-external.ts')
  const perilOf = perilNames(input.policy)
  const read = (answer: unknown, warn: (warning: string) => void) =>
    readRates(contract, answer, { wanted, perilOf }, rater, warn)
  if (!explaining) return await rater.call(input, read)
  const { record, modification } = explaining
  return await rater.call(input, read, ({ request, response }) =>
    record.call({
      modification,
      ratedBy: 'externalRater',
      source: product.externalRater!,
      request,
      ...(response !== null && { answer: response }),
    }),
  )
}

/** Maximum number of problems in a message. A rater that is wrong in one peril is usually wrong in a thousand. */
const MOST_LISTED = 5

const joinFirstProblems = (all: readonly string[]): string => {
  const first = all.slice(0, MOST_LISTED).join('; ')
  return all.length > MOST_LISTED ? `${first}; and ${all.length - MOST_LISTED} more` : first
}

function readRates(
  { RaterReply, SegmentRateReply }: typeof import('./contract-external.ts'),
  answer: unknown,
  { wanted, perilOf }: { wanted: ReadonlySet<string>; perilOf: PerilNames },
  rater: ExternalRater,
  warn: (warning: string) => void,
): RatesByLocator {
  const invalidAnswer = (problems: readonly string[]): Refusal =>
    rater.failed(`its response is invalid: ${joinFirstProblems(problems)}`)
  const reply = RaterReply.safeParse(answer)
  if (!reply.success) throw invalidAnswer(issuesOf(reply.error).map(one => problemOf(one)))
  const { exceptionMessage, pricedPerilCharacteristics: priced } = reply.data
  if (exceptionMessage !== undefined) throw new Refusal('externalRaterRefused', exceptionMessage)

  const unexpected = Object.keys(priced).filter(one => !wanted.has(one))
  if (unexpected.length > 0) warn(`Ignored rates that were not requested: ${joinFirstProblems(unexpected)}.`)
  const rates = new Map<string, SegmentRate>()
  const problems: string[] = []
  for (const locator of wanted) {
    if (!Object.hasOwn(priced, locator)) {
      problems.push(`no rate for ${locator}${perilOf(locator)}`)
      continue
    }
    const rate = SegmentRateReply.safeParse(priced[locator])
    if (rate.success) rates.set(locator, rate.data)
    else problems.push(...issuesOf(rate.error).map(one => `${problemOf(one, locator)}${perilOf(locator)}`))
  }
  if (problems.length > 0) throw invalidAnswer(problems)
  return rates
}

async function pluginRates(
  { product, callPlugin, explaining }: RatingContext,
  input: PerilRatesInput,
  wanted: ReadonlySet<string>,
): Promise<RatesByLocator> {
  const { path } = product.plugins.getPerilRates!
  const explain =
    explaining &&
    ((explained: PluginExplained): void =>
      explaining.record.call({
        modification: explaining.modification,
        ratedBy: 'plugin',
        source: path,
        explained,
      }))
  const answer = await callPlugin('getPerilRates', input, explain)
  const perilOf = perilNames(input.policy)
  const { exceptionMessage, rates } = await readPerilRates(answer, path, perilOf)
  if (exceptionMessage !== undefined) throw new Refusal('pluginRefused', exceptionMessage)
  const others = [...rates.keys()].filter(one => !wanted.has(one))
  // Some raters price the whole policy, even if an endorsement only needs a part of it.
  const known = others.length === 0 ? new Set<string>() : segmentsOf(input.policy)
  const problems = [
    ...[...wanted].filter(one => !rates.has(one)).map(one => `no rate for ${one}${perilOf(one)}`),
    ...others
      .filter(one => !known.has(one))
      .map(one => `a rate for ${one}, which is not among policyExposurePerils`),
  ]
  if (problems.length > 0) throw invalidAnswer('getPerilRates', problems, path)
  return new Map([...wanted].map(locator => [locator, segmentRate(rates.get(locator)!)]))
}

type PerilNames = (locator: string) => string

/**
 * Returns a function that names the peril of characteristics, for the end of a message, and its place in the input. A rejected
 * request stores no locators, so the author of a rater could not look them up. Empty for unknown locators.
 */
function perilNames({ exposures }: PerilRatesInput['policy']): PerilNames {
  let names: Map<string, string> | undefined
  return locator => {
    names ??= new Map(
      exposures.flatMap((exposure, at) =>
        exposure.perils.flatMap(({ name, characteristics }, index) =>
          characteristics.map(one => [
            one.locator,
            ` (peril '${name}' of '${exposure.name}', policy.exposures[${at}].perils[${index}])`,
          ]),
        ),
      ),
    )
    return names.get(locator) ?? ''
  }
}

const segmentsOf = ({ exposures }: PerilRatesInput['policy']): ReadonlySet<string> =>
  new Set(
    exposures.flatMap(({ perils }) => perils.flatMap(peril => peril.characteristics.map(one => one.locator))),
  )

const segmentRate = (rate: PerilRate): SegmentRate => ({
  premium: { yearly: rate.yearlyPremium, exact: rate.exactPremium },
  technicalPremium: { yearly: rate.yearlyTechnicalPremium, exact: rate.exactTechnicalPremium },
  commissions: (rate.commissions ?? []).map(({ recipient, yearlyAmount, exactAmount }) => ({
    recipient,
    yearly: yearlyAmount,
    exact: exactAmount,
  })),
})

type Characteristics = PolicyResponse['exposures'][number]['perils'][number]['characteristics'][number]

/** The part of a run in one policy segment. */
type Stretch = { readonly characteristics: Characteristics; readonly months: Decimal }

function stretchesOf(
  policy: PolicyResponse,
  runs: readonly PerilRun[],
  { timeZone }: RatingContext,
): Map<Uuid, Stretch[]> {
  const perils = policy.exposures.flatMap(exposure => exposure.perils)
  const characteristicsOf = new Map(perils.map(peril => [peril.locator, peril.characteristics]))
  return new Map(
    runs.map(run => {
      const own = (characteristicsOf.get(run.perilLocator) ?? []).filter(
        one =>
          one.policyModificationLocator === run.madeBy &&
          one.replacedTimestamp === undefined &&
          Number(one.coverageStartTimestamp) >= run.start &&
          Number(one.coverageStartTimestamp) < run.end,
      )
      if (own.length === 0) throw new Error(`Run ${run.locator} has no characteristics to rate.`)
      const monthsOf = ({ coverageStartTimestamp: start, coverageEndTimestamp: end }: Characteristics) =>
        months(Number(start) as Instant, Number(end) as Instant, timeZone)
      return [run.locator, own.map(one => ({ characteristics: one, months: monthsOf(one) }))]
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
 * Combines the rates of a run's parts; a run that spans several policy segments has several. A yearly or monthly rate that is the
 * same in all of them is the run's rate. With different rates, or amounts for each part, the run costs the sum of its parts.
 */
function ratesOf(parts: readonly Part[], currency: CurrencyCode): RecordedRates {
  const combineRates = (rates: readonly RecordedRate[]): RecordedRate => {
    const [first] = rates as [RecordedRate]
    if (rates.length === 1 || rates.every(rate => isSameRate(first, rate))) return first
    const amounts = rates.flatMap((rate, at) => scaleRate(rate, parts[at]!.months, currency)?.amount ?? [])
    return amounts.length === 0 ? {} : { exact: toDecimal(sum(amounts, currency)) }
  }
  const recipients = new Set(parts.flatMap(({ rate }) => rate.commissions.map(one => one.recipient)))
  return {
    premium: combineRates(parts.map(({ rate }) => rate.premium)),
    technicalPremium: combineRates(parts.map(({ rate }) => rate.technicalPremium)),
    commissions:
      parts.length === 1
        ? [...parts[0]!.rate.commissions]
        : [...recipients].map(recipient => ({
            recipient,
            ...combineRates(parts.map(({ rate, months }) => commissionOf(rate, recipient, months, currency))),
          })),
  }
}

/** Merges all commission lines of the recipient in one part. */
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
  const amounts = own.flatMap(rate => scaleRate(rate, length, currency)?.amount ?? [])
  return { exact: toDecimal(sum(amounts, currency)) }
}
