// Renders the templates of a configuration over one policy: perils, their taxes, fees, decisions. Pure: everything
// that a template may ask for is handed in.
import { TemplateError } from '../../packages/liquid/limits.ts'
import type { PerilRate, TransactionNames } from '../extension/plugins/contract.ts'
import type { ExternalRater } from '../extension/plugins/sessions.ts'
import { nonsense, problemOf, readPerilRates } from '../extension/plugins/translation.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply, Uuid } from '../kernel/locators.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import type { PerilRun, PolicyAggregate, PolicySegment, Quote } from '../policy/records/aggregate.ts'
import { NeedsWholePolicy } from '../policy/surroundings.ts'
import type { Policyholder } from '../policyholders/values.ts'
import {
  hasPlugin,
  type PluginCaller,
  type ProductDefinition,
  type TemplateSource,
} from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import type { RatingEffects, TemplateEnvironment } from '../product/templates/effects.ts'
import type { CompiledTemplate } from '../product/templates/liquid.ts'
import type { SegmentRate } from './contract-external.ts'
import { type RecordedRates, ratesAsked } from './rates-asked.ts'
import { type Operation, policyData, policyholderData } from './template-data.ts'

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
   * What the template records over `data` of its own and the policy's; `segment` is the one that it is run for. Refuses
   * when the template fails.
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

// Rates that templates do not give: those of the product's external rater (resources brief 6), else of its plugin (brief 5.6).
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
