// Renders the templates of a configuration over one policy: perils, their taxes, fees, decisions. Pure: everything
// that a template may ask for is handed in.
import Big from 'big.js'
import { TemplateError } from '../../packages/liquid/limits.ts'
import type { TransactionNames } from '../extension/plugins/contract.ts'
import type { ExternalRater } from '../extension/plugins/sessions.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply, Uuid } from '../kernel/locators.ts'
import { memoByObject } from '../kernel/maps.ts'
import { type CurrencyCode, type Decimal, money, RATE_PLACES, zero } from '../kernel/money.ts'
import { type Instant, months, type TimeZone } from '../kernel/time.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import type {
  Commission,
  Exposure,
  ExposureRun,
  Peril,
  PerilPrice,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
  RatedAmount,
  Tax,
} from '../policy/records/aggregate.ts'
import { NeedsWholePolicy } from '../policy/surroundings.ts'
import type { Policyholder } from '../policyholders/values.ts'
import type { PluginCaller, ProductDefinition, TemplateSource } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import type { RatingEffects, TemplateEnvironment } from '../product/templates/effects.ts'
import type { CompiledTemplate } from '../product/templates/liquid.ts'
import {
  exposureRunData,
  type Operation,
  perilRunData,
  policyData,
  policyholderData,
  policySegmentData,
} from './template-data.ts'

export type RatingContext = {
  product: ProductDefinition
  policyholderFields: ProductDefinition['fields']
  policyholder: Policyholder
  operation: Operation
  timeZone: TimeZone
  now: Instant
  supply: LocatorSupply
  /** The template of a source, parsed once for each configuration. */
  template(source: TemplateSource): CompiledTemplate
  /** A row of the archive's tables, the product's own before those of the tenant. */
  lookup: TemplateEnvironment['lookup']
  /** The same in the jurisdiction that this data of a policy segment names. */
  lookupIn(data: FieldData): TemplateEnvironment['lookup']
  /** The policy as its answer shows it, for templates that read `data.policy`; parts that are work are made when they are read. */
  project(aggregate: PolicyAggregate, quote: Quote): PolicyResponse
  /** Exposures of the policy were not read: what takes all of them is not in its answer. */
  unread: boolean
  /** Calls a plugin of the product. */
  callPlugin: PluginCaller
  /** The external rater of that name; undefined where the tenant has none. */
  externalRater(name: string): Promise<ExternalRater | undefined>
  /** What plugins are told of the transaction that is rated; of new business they are told its quote. */
  transaction?: TransactionNames
}

/** Renders templates over one aggregate; `data.policy` and `data.policyholder` are made when first read. */
export class Rater {
  readonly #context: RatingContext
  readonly #aggregate: PolicyAggregate
  readonly #quote: Quote
  readonly #environment: TemplateEnvironment
  #policy: ReturnType<typeof policyData> | undefined
  #needsWhole = false
  #policyholder: ReturnType<typeof policyholderData> | undefined

  constructor(aggregate: PolicyAggregate, quote: Quote, context: RatingContext) {
    this.#context = context
    this.#aggregate = aggregate
    this.#quote = quote
    this.#environment = {
      timeZone: context.timeZone,
      currency: aggregate.policy.currency,
      now: context.now,
      lookup: context.lookup,
      policyholderInfo: locator =>
        locator === context.policyholder.locator ? this.#policyholderData() : undefined,
    }
  }

  /**
   * Runs the template over `data` of its own and the policy's, and returns what it records. `segment` is the one that it is
   * run for. Refuses when the template fails.
   */
  run(source: TemplateSource, own: object, segment?: PolicySegment): RatingEffects {
    const policy = () => this.#policyData()
    const policyholder = () => this.#policyholderData()
    const data = {
      ...own,
      get policy() {
        return policy()
      },
      get policyholder() {
        return policyholder()
      },
    }
    try {
      // Where rows of tables are missing what comes of it is provisional; they are fetched, and all is rated again
      // (reference/data-tables/rating-tables.ts).
      return this.#context.template(source).render(data, this.#environmentFor(segment)).effects
    } catch (problem) {
      if (this.#needsWhole) throw new NeedsWholePolicy()
      if (!(problem instanceof TemplateError)) throw problem
      const at = problem.line === undefined ? '' : `:${problem.line}`
      throw new Refusal(problem.code, `${problem.path ?? source.path}${at}: ${problem.message}`)
    }
  }

  #environmentFor(segment: PolicySegment | undefined): TemplateEnvironment {
    const lookup = segment ? this.#context.lookupIn(segment.data) : this.#environment.lookup
    return lookup === this.#environment.lookup ? this.#environment : { ...this.#environment, lookup }
  }

  #policyData() {
    const { project, product, unread } = this.#context
    this.#policy ??= policyData(
      project(this.#aggregate, this.#quote),
      product,
      unread ? () => this.#missWhole() : undefined,
    )
    return this.#policy
  }

  #missWhole(): never {
    this.#needsWhole = true
    throw new NeedsWholePolicy()
  }

  #policyholderData() {
    this.#policyholder ??= policyholderData(this.#context.policyholder, this.#context.policyholderFields)
    return this.#policyholder
  }
}

/** A run that is to be rated, with what its scripts read of the policy and the exposure. */
export type Rateable = {
  readonly run: PerilRun
  readonly peril: Peril
  readonly exposure: Exposure
  readonly segment: PolicySegment
  readonly exposureRun: ExposureRun
}

/** Rates runs of one policy. What several of them share is made once. */
export class PerilRating {
  readonly #rater: Rater
  readonly #aggregate: PolicyAggregate
  readonly #context: RatingContext
  readonly #rates: ReadonlyMap<Uuid, RecordedRates> | undefined
  readonly #segmentData: (segment: PolicySegment) => object
  readonly #exposureData = new WeakMap<ExposureRun, object>()
  readonly #monthsOf = new Map<string, Decimal>()

  /** `rates` are those that an external rater or a plugin gave; then no premium template is asked. */
  constructor(
    aggregate: PolicyAggregate,
    quote: Quote,
    context: RatingContext,
    rates?: ReadonlyMap<Uuid, RecordedRates>,
  ) {
    this.#rater = new Rater(aggregate, quote, context)
    this.#aggregate = aggregate
    this.#context = context
    this.#rates = rates
    this.#segmentData = memoByObject(segment => policySegmentData(aggregate, segment, context.product))
  }

  /** The run's price. Refuses (422) when a script fails, or gives an amount that is too large to keep. */
  price(rateable: Rateable): PerilPrice {
    const { peril, exposure } = rateable
    try {
      return this.#price(rateable)
    } catch (problem) {
      if (!(problem instanceof Refusal) || problem.code !== 'amountOutOfRange') throw problem
      throw new Refusal(problem.code, `Peril '${peril.name}' of '${exposure.name}': ${problem.message}`)
    }
  }

  #price({ run, peril, exposure, segment, exposureRun }: Rateable): PerilPrice {
    const { product, timeZone, operation } = this.#context
    const { currency } = this.#aggregate.policy
    const exposureDefinition = product.exposures.find(one => one.name === exposure.name)
    const definition = exposureDefinition?.perils.find(one => one.name === peril.name)
    if (!definition)
      throw new Refusal(
        'templateFailed',
        `The configuration no longer has the peril '${peril.name}' of exposure '${exposure.name}'.`,
      )
    const { premium: template, fields } = definition
    const given = this.#rates?.get(run.locator)
    if (!given && !template)
      throw new Refusal(
        'templateFailed',
        `Peril '${peril.name}' of '${exposure.name}' has no premium template; add ${peril.name}.premium.liquid and deploy.`,
      )
    const exposureData =
      this.#exposureData.get(exposureRun) ??
      exposureRunData(exposure, exposureRun, exposureDefinition!.fields)
    this.#exposureData.set(exposureRun, exposureData)
    const dataWith = (price?: PerilPrice) => ({
      policy_characteristics: this.#segmentData(segment),
      exposure_characteristics: exposureData,
      operation,
      peril_characteristics: perilRunData(peril, run, fields, price),
    })
    const runMonths = this.#months(run, timeZone)
    const nothing = { month: '0', amount: zero(currency) }
    const rated = given ?? this.#rater.run(template!, dataWith(), segment)
    const price: PerilPrice = {
      premium: scaled(rated.premium, runMonths, currency) ?? nothing,
      technicalPremium: scaled(rated.technicalPremium, runMonths, currency),
      commissions: rated.commissions.map(
        ({ recipient, ...rate }): Commission => ({
          recipient,
          ...(scaled(rate, runMonths, currency) ?? nothing),
        }),
      ),
      taxes: [],
    }
    if (product.taxes.length === 0) return price
    const priced = dataWith(price)
    const taxes = product.taxes.flatMap(({ name, premium: template }): Tax[] => {
      const recorded = template && this.#rater.run(template, priced, segment).tax
      if (!recorded) return []
      return [{ name, amount: money(recorded.amount, currency), description: recorded.description }]
    })
    return { ...price, taxes }
  }

  /** Most runs of a policy are as long as each other, and walking the calendar takes as long as a template. */
  #months({ start, end }: PerilRun, timeZone: TimeZone): Decimal {
    const span = `${start} ${end}`
    const known = this.#monthsOf.get(span) ?? months(start, end, timeZone)
    this.#monthsOf.set(span, known)
    return known
  }
}

/** What a script records of a run: the part that is given in its place. Taxes are templates' in any case. */
export type RecordedRates = Pick<RatingEffects, 'premium' | 'technicalPremium' | 'commissions'>

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
