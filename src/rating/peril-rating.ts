// Rates one peril over one run: its premium, commissions and taxes by the scripts of the configuration.
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { type Decimal, money, zero } from '../kernel/money.ts'
import { months, type TimeZone } from '../kernel/time.ts'
import type {
  Commission,
  Exposure,
  ExposureRun,
  Peril,
  PerilPrice,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Tax,
} from '../policy/records/aggregate.ts'
import type { PerilDefinition, ProductDefinition } from '../product/configuration.ts'
import type { Rater, RatingContext } from './rater.ts'
import { type RecordedRates, scaled } from './rates-asked.ts'
import { exposureRunData, perilRunData, policySegmentData } from './template-data.ts'

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
  readonly #data = new WeakMap<object, object>()
  readonly #monthsOf = new Map<string, Decimal>()

  /** `rates` are those that an external rater or a plugin gave; then no premium template is asked. */
  constructor(
    rater: Rater,
    aggregate: PolicyAggregate,
    context: RatingContext,
    rates?: ReadonlyMap<Uuid, RecordedRates>,
  ) {
    this.#rater = rater
    this.#aggregate = aggregate
    this.#context = context
    this.#rates = rates
  }

  /** The run's price. Refuses (422) when a script fails, or gives an amount that is too large to keep. */
  price(rateable: Rateable): PerilPrice {
    const { peril, exposure } = rateable
    try {
      return this.#price(rateable, perilDefinition(this.#context.product, exposure, peril))
    } catch (problem) {
      if (!(problem instanceof Refusal) || problem.code !== 'amountOutOfRange') throw problem
      throw new Refusal(problem.code, `Peril '${peril.name}' of '${exposure.name}': ${problem.message}`)
    }
  }

  #price({ run, peril, exposure, segment, exposureRun }: Rateable, definition: PerilDefinition): PerilPrice {
    const { product, timeZone, operation } = this.#context
    const { currency } = this.#aggregate.policy
    const given = this.#rates?.get(run.locator)
    if (!given && !definition.premium)
      throw new Refusal(
        'templateFailed',
        `Peril '${peril.name}' of '${exposure.name}' has no premium template; add ${peril.name}.premium.liquid and deploy.`,
      )
    const shared = {
      policy_characteristics: this.#shared(segment, () =>
        policySegmentData(this.#aggregate, segment, product),
      ),
      exposure_characteristics: this.#shared(exposureRun, () =>
        exposureRunData(exposure, exposureRun, exposureFields(product, exposure)),
      ),
      operation,
    }
    const runMonths = this.#months(run, timeZone)
    const nothing = { month: '0', amount: zero(currency) }
    const rated =
      given ??
      this.#rater.run(
        definition.premium!,
        { ...shared, peril_characteristics: perilRunData(peril, run, definition.fields) },
        segment,
      )
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
    const priced = { ...shared, peril_characteristics: perilRunData(peril, run, definition.fields, price) }
    const taxes = product.taxes.flatMap((tax): Tax[] => {
      const recorded = tax.premium && this.#rater.run(tax.premium, priced, segment).tax
      if (!recorded) return []
      return [{ name: tax.name, amount: money(recorded.amount, currency), description: recorded.description }]
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

  #shared(record: object, make: () => object): object {
    const known = this.#data.get(record) ?? make()
    this.#data.set(record, known)
    return known
  }
}

const exposureFields = (product: ProductDefinition, exposure: Exposure): ProductDefinition['fields'] =>
  product.exposures.find(one => one.name === exposure.name)?.fields ?? []

function perilDefinition(product: ProductDefinition, exposure: Exposure, peril: Peril): PerilDefinition {
  const definition = product.exposures
    .find(one => one.name === exposure.name)
    ?.perils.find(one => one.name === peril.name)
  if (definition) return definition
  throw new Refusal(
    'templateFailed',
    `The configuration no longer has the peril '${peril.name}' of exposure '${exposure.name}'.`,
  )
}
