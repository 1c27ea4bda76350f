// Renders the templates of a configuration over one policy: perils, their taxes, fees, decisions. Pure: everything
// that a template may ask for is handed in.

import { TemplateError } from '../../packages/liquid/limits.ts'
import type { TransactionNames } from '../extension/plugins/contract.ts'
import type { ExternalRater } from '../extension/plugins/sessions.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply } from '../kernel/locators.ts'
import type { Instant, TimeZone } from '../kernel/time.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import type { PolicyAggregate, PolicySegment, Quote } from '../policy/records/aggregate.ts'
import { NeedsWholePolicy } from '../policy/surroundings.ts'
import type { Policyholder } from '../policyholders/policyholder.ts'
import type { ProductDefinition, TemplateSource } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import type { PluginCaller } from '../product/plugins.ts'
import type { RatingEffects } from '../product/templates/effects.ts'
import type { CompiledTemplate } from '../product/templates/liquid.ts'
import type { TemplateEnvironment } from '../product/templates/lookups.ts'
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
