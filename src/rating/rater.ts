// Renders a configuration's templates over one policy: perils, taxes, fees, decisions. Pure: the caller supplies everything that a
// template may read.
import { TemplateError } from '../../packages/liquid/limits.ts'
import type { RenderingObserver } from '../../packages/liquid/observation.ts'
import type { ExternalRater } from '../extension/integrations/external-rater.ts'
import type { PluginExplained } from '../extension/plugins/attempt-calls.ts'
import type { TransactionNames } from '../extension/plugins/contract.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply, Uuid } from '../kernel/locators.ts'
import { memoByObject } from '../kernel/maps.ts'
import { type Decimal, money, zero } from '../kernel/money.ts'
import { type Instant, months, type TimeZone } from '../kernel/time.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import { withLazy } from '../policy/projection/characteristics.ts'
import {
  type Commission,
  type Exposure,
  type ExposureRun,
  type Peril,
  type PerilPrice,
  type PerilRun,
  type PolicyAggregate,
  type PolicySegment,
  policyOfQuote,
  type Quote,
  type Tax,
} from '../policy/records/aggregate.ts'
import { NeedsWholePolicy } from '../policy/surroundings.ts'
import type { Policyholder } from '../policyholders/values.ts'
import type { PluginFunction, ProductDefinition, TemplateSource } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import type { RatingEffects, TemplateEnvironment } from '../product/templates/effects.ts'
import type { CompiledTemplate } from '../product/templates/liquid.ts'
import { type RecordedRates, scaleRate } from './rates.ts'
import { noPremiumMessage, problemOfRead } from './strictness.ts'
import {
  exposureRunData,
  type Operation,
  perilRunData,
  policyData,
  policyholderData,
  policySegmentData,
} from './template-data.ts'
import type { RatingRecord, TaxRecord } from './worksheet/record.ts'

/** Calls the function and returns its result unchecked. Throws 422 if it fails. `explain` receives its lookups and notes. */
type PluginCaller = (
  name: PluginFunction,
  input: object,
  explain?: (explained: PluginExplained) => void,
) => Promise<unknown>

export type RatingContext = {
  product: ProductDefinition
  policyholderFields: ProductDefinition['fields']
  policyholder: Policyholder
  operation: Operation
  timeZone: TimeZone
  now: Instant
  supply: LocatorSupply
  /** Parsed once for each configuration. */
  template(source: TemplateSource): CompiledTemplate
  /** Looks up tables. The product's own take precedence over the tenant's. */
  lookup: TemplateEnvironment['lookup']
  /** Looks up tables in the jurisdiction that this data of a policy segment names. */
  lookupIn(data: FieldData): TemplateEnvironment['lookup']
  /** Returns the policy's response for `data.policy`. Expensive parts are made when first read. */
  project(aggregate: PolicyAggregate, quote: Quote): PolicyResponse
  /** Whether exposures were not loaded. The response then lacks what depends on all of them. */
  unread: boolean
  callPlugin: PluginCaller
  /** Undefined if the tenant has no rater of that name. */
  externalRater(name: string): Promise<ExternalRater | undefined>
  /** What plugins receive about the transaction. For new business, its quote. */
  transaction?: TransactionNames
  /** The endorsement or renewal in progress, for scripts that run once for a policy. Its data is made when a script reads it. */
  changing?: {
    readonly kind: 'endorsement' | 'renewal'
    data(aggregate: PolicyAggregate): object
  }
  /** Set if a worksheet is requested: the transaction that is rated, and the record in which rating shows its steps. */
  explaining?: {
    readonly record: RatingRecord
    readonly configVersion: number
    readonly modification: Uuid
  }
}

/** Whether the product's strictness applies. It applies only to what is priced again: a reinstatement gives back what was sold. */
const isStrict = ({ product, operation }: RatingContext): boolean =>
  product.strict === true && operation !== 'reinstatement'

/** Runs templates over one policy. `data.policy` and `data.policyholder` are made when first read. */
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

  /** Runs the template over `own` and the policy's data. `segment` decides the jurisdiction. Throws 422 if the template fails. */
  run(
    source: TemplateSource,
    own: object,
    segment?: PolicySegment,
    observer?: RenderingObserver,
  ): RatingEffects {
    return this.#render(source, own, this.#dataWith(own), segment, observer)
  }

  /** Runs a template that is about the policy as a whole and also sees the transaction (brief 5.3). */
  runForPolicy(source: TemplateSource, observer?: RenderingObserver): RatingEffects {
    const { operation, changing, unread } = this.#context
    const own = { operation, endorsement: null, renewal: null }
    const data = this.#dataWith(own)
    if (changing)
      withLazy(data, changing.kind, () => (unread ? this.#missWhole() : changing.data(this.#aggregate)))
    return this.#render(source, own, data, undefined, observer)
  }

  #dataWith(own: object): object {
    const policy = () => this.#policyData()
    const policyholder = () => this.#policyholderData()
    return {
      ...own,
      get policy() {
        return policy()
      },
      get policyholder() {
        return policyholder()
      },
    }
  }

  #render(
    source: TemplateSource,
    own: object,
    data: object,
    segment: PolicySegment | undefined,
    observer: RenderingObserver | undefined,
  ): RatingEffects {
    try {
      // If table rows are missing, this result is provisional: the rows are fetched, and everything is rated again
      // (reference/data-tables/rating-tables.ts).
      const environment = this.#environmentFor(segment, observer)
      return this.#context.template(source).render(data, this.#strictly(environment, own, data)).effects
    } catch (problem) {
      if (this.#needsWhole) throw new NeedsWholePolicy()
      if (!(problem instanceof TemplateError)) throw problem
      const at = problem.line === undefined ? '' : `:${problem.line}`
      throw new Refusal(problem.code, `${problem.path ?? source.path}${at}: ${problem.message}`)
    }
  }

  #environmentFor(
    segment: PolicySegment | undefined,
    observer: RenderingObserver | undefined,
  ): TemplateEnvironment {
    const lookup = segment ? this.#context.lookupIn(segment.data) : this.#environment.lookup
    if (observer) return { ...this.#environment, lookup, observer }
    return lookup === this.#environment.lookup ? this.#environment : { ...this.#environment, lookup }
  }

  #strictly(environment: TemplateEnvironment, own: object, data: object): TemplateEnvironment {
    const { product } = this.#context
    if (!isStrict(this.#context)) return environment
    return { ...environment, withoutValue: read => problemOfRead(read, product, { data, own }) }
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

/** A run to be rated, with the records that its scripts read. */
export type Rateable = {
  readonly run: PerilRun
  readonly peril: Peril
  readonly exposure: Exposure
  readonly segment: PolicySegment
  readonly exposureRun: ExposureRun
}

/** Rates the runs of one policy and shares what they have in common. */
export class PerilRating {
  readonly #rater: Rater
  readonly #aggregate: PolicyAggregate
  readonly #context: RatingContext
  readonly #rates: ReadonlyMap<Uuid, RecordedRates> | undefined
  readonly #segmentData: (segment: PolicySegment) => object
  readonly #exposureData = new WeakMap<ExposureRun, object>()
  readonly #monthsOf = new Map<string, Decimal>()

  /** `rates`, from an external rater or plugin, replace premium templates. */
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
    const policy = policyOfQuote(aggregate.policy, quote)
    this.#segmentData = memoByObject(segment => policySegmentData(policy, segment, context.product))
  }

  /** Prices the run. Throws 422 if a script fails or an amount is too large to store. */
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
    const { product, timeZone, operation, explaining } = this.#context
    const { currency } = this.#aggregate.policy
    const exposureDefinition = product.exposures.find(one => one.name === exposure.name)
    const definition = exposureDefinition?.perils.find(one => one.name === peril.name)
    if (!definition)
      throw new Refusal(
        'templateFailed',
        `The configuration no longer has the peril '${peril.name}' of exposure '${exposure.name}'.`,
      )
    const { premium: template, fields } = definition
    const suppliedRates = this.#rates?.get(run.locator)
    if (!suppliedRates && !template)
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
    const record = explaining?.record.isExplained(peril) ? explaining.record : undefined
    const steps = suppliedRates ? undefined : record?.stepsOf(template!.path)
    const rated = suppliedRates ?? this.#rater.run(template!, dataWith(), segment, steps?.observer)
    const premium = scaleRate(rated.premium, runMonths, currency)
    if (!premium && isStrict(this.#context))
      throw new Refusal('templateFailed', noPremiumMessage(template?.path, peril.name, exposure.name))
    const price: PerilPrice = {
      premium: premium ?? nothing,
      technicalPremium: scaleRate(rated.technicalPremium, runMonths, currency),
      commissions: rated.commissions.map(
        ({ recipient, ...rate }): Commission => ({
          recipient,
          ...(scaleRate(rate, runMonths, currency) ?? nothing),
        }),
      ),
      taxes: [],
    }
    const taxRecords: TaxRecord[] = []
    const priced = product.taxes.length === 0 ? undefined : dataWith(price)
    const taxes = product.taxes.flatMap(({ name, premium: template }): Tax[] => {
      const taxSteps = template && record?.stepsOf(template.path)
      const recorded = template && this.#rater.run(template, priced!, segment, taxSteps?.observer).tax
      if (taxSteps) taxRecords.push({ name, steps: taxSteps, amount: recorded?.amount })
      if (!recorded) return []
      return [{ name, amount: money(recorded.amount, currency), description: recorded.description }]
    })
    const whole = taxes.length === 0 ? price : { ...price, taxes }
    if (record) {
      const { configVersion } = explaining!
      const made = { configVersion, steps, rates: rated, months: runMonths, price: whole, taxes: taxRecords }
      record.rated(run, made, template?.path ?? '')
    }
    return whole
  }

  /** Caches the months: most runs have the same length, and walking the calendar costs as much as a template. */
  #months({ start, end }: PerilRun, timeZone: TimeZone): Decimal {
    const span = `${start} ${end}`
    const known = this.#monthsOf.get(span) ?? months(start, end, timeZone)
    this.#monthsOf.set(span, known)
    return known
  }
}
