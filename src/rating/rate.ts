// Prices and underwrites a quote by the templates of its configuration: perils, their taxes, standard fees,
// then the decision (docs/design.md, section 4). Pure: everything that a template may ask for is handed in.
import type { ProductDefinition, TemplateSource } from '../configuration/configuration.ts'
import { Refusal } from '../platform/errors.ts'
import type { LocatorSupply } from '../platform/locators.ts'
import { money, sum, zero } from '../platform/money.ts'
import { type Instant, months, type TimeZone } from '../platform/time.ts'
import {
  type Commission,
  type Exposure,
  type Fee,
  type Peril,
  type PerilPrice,
  type PerilRun,
  type PolicyAggregate,
  type Quote,
  type Tax,
  type UnderwritingResult,
  withRecords,
} from '../policies/aggregate.ts'
import type { PolicyResponse } from '../policies/contract/response.ts'
import { quoteParts } from '../policies/quote-parts.ts'
import type { Policyholder } from '../policyholders/policyholder.ts'
import type { CompiledTemplate } from './liquid/compile.ts'
import type { RatingEffects } from './liquid/effects.ts'
import type { RenderingEnvironment } from './liquid/environment.ts'
import { renderTemplate } from './liquid/render.ts'
import { TemplateError } from './liquid/template-error.ts'
import { scaled } from './scale.ts'
import {
  exposureRunData,
  type Operation,
  perilRunData,
  policyData,
  policyholderData,
  policySegmentData,
  withLazy,
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
  lookup: RenderingEnvironment['lookup']
  /** The policy as its answer shows it, for templates that read `data.policy`. */
  project(aggregate: PolicyAggregate, quote: Quote): PolicyResponse
}

/** The quote with every peril priced and its standard fees; what was priced before is replaced. */
export function priceQuote(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): PolicyAggregate {
  const { product, timeZone } = context
  const { currency } = aggregate.policy
  const parts = quoteParts(aggregate, quote)
  const rater = new Rater(aggregate, quote, context)
  const segment = policySegmentData(aggregate, parts.segment, product)
  const runMonths = months(quote.contractStart, quote.contractEnd, timeZone)
  const exposureDataOf = new Map(
    parts.exposureRuns.flatMap(run => {
      const exposure = aggregate.exposures.get(run.exposureLocator)
      const fields = product.exposures.find(one => one.name === exposure?.name)?.fields ?? []
      return exposure ? [[exposure.locator, exposureRunData(exposure, run, fields)] as const] : []
    }),
  )

  const priced = parts.perilRuns.map((run): PerilRun => {
    const peril = aggregate.perils.get(run.perilLocator)!
    const exposure = aggregate.exposures.get(peril.exposureLocator)!
    const definition = perilDefinition(product, exposure, peril)
    const shared = {
      policy_characteristics: segment,
      exposure_characteristics: exposureDataOf.get(exposure.locator),
      operation: context.operation,
    }
    if (!definition.premium)
      throw new Refusal(
        'templateFailed',
        `Peril '${peril.name}' of '${exposure.name}' has no premium template; add ${peril.name}.premium.liquid and deploy.`,
      )
    const rated = rater.run(definition.premium, {
      ...shared,
      peril_characteristics: perilRunData(peril, run, definition.fields),
    })
    const price: PerilPrice = {
      premium: scaled(rated.premium, runMonths, currency) ?? { month: '0', amount: zero(currency) },
      technicalPremium: scaled(rated.technicalPremium, runMonths, currency),
      commissions: rated.commissions.map(
        ({ recipient, ...rate }): Commission => ({
          recipient,
          ...(scaled(rate, runMonths, currency) ?? { month: '0', amount: zero(currency) }),
        }),
      ),
      taxes: [],
    }
    const withPremium = perilRunData(peril, run, definition.fields, price)
    const taxes = product.taxes.flatMap((tax): Tax[] => {
      if (!tax.premium) return []
      const recorded = rater.run(tax.premium, { ...shared, peril_characteristics: withPremium }).tax
      if (!recorded) return []
      return [{ name: tax.name, amount: money(recorded.amount, currency), description: recorded.description }]
    })
    return { ...run, price: { ...price, taxes } }
  })

  const perilRuns = withRecords(aggregate.perilRuns, priced)
  const premiumChange = sum(
    priced.map(run => run.price!.premium.amount),
    currency,
  )
  const modification = { ...parts.modification, premiumChange, updatedAt: context.now }
  const withoutFees = {
    ...aggregate,
    perilRuns,
    modifications: withRecords(aggregate.modifications, [modification]),
    fees: new Map([...aggregate.fees].filter(([, fee]) => fee.quoteLocator !== quote.locator)),
  }
  return { ...withoutFees, fees: withRecords(withoutFees.fees, standardFees(withoutFees, quote, context)) }
}

/** Fees by policy.calculations.liquid, over the whole contract (brief 3.3). */
function standardFees(aggregate: PolicyAggregate, quote: Quote, context: RatingContext): Fee[] {
  const { product, supply } = context
  if (!product.calculations) return []
  const { path } = product.calculations
  const { fees } = new Rater(aggregate, quote, context).run(product.calculations, {
    operation: context.operation,
  })
  const { modification } = quoteParts(aggregate, quote)
  return fees.map((fee): Fee => {
    const definition = product.fees.find(one => one.name === fee.name)
    if (!definition)
      throw new Refusal(
        'templateFailed',
        `${path} adds the fee '${fee.name}', which fees.json does not declare; declare it and deploy.`,
      )
    return {
      locator: supply.uuid(),
      quoteLocator: quote.locator,
      name: fee.name,
      description: fee.description ?? definition.displayName,
      amount: money(fee.amount, aggregate.policy.currency),
      reversed: false,
      madeBy: modification.locator,
      start: quote.contractStart,
      end: quote.contractEnd,
    }
  })
}

/**
 * The decision on a priced quote (brief 5.4): a guidelines file that sets nothing decides `none`; without a
 * file everything is accepted.
 */
export function underwriteQuote(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): UnderwritingResult {
  const { underwriting } = context.product
  if (!underwriting) return { decision: 'accept', notes: [], at: context.now }
  const { decision, notes } = new Rater(aggregate, quote, context).run(underwriting, {
    operation: context.operation,
  })
  return { decision: decision ?? 'none', notes, at: context.now }
}

function perilDefinition(product: ProductDefinition, exposure: Exposure, peril: Peril) {
  const definition = product.exposures
    .find(one => one.name === exposure.name)
    ?.perils.find(one => one.name === peril.name)
  if (!definition)
    throw new Refusal(
      'templateFailed',
      `The configuration no longer has the peril '${peril.name}' of exposure '${exposure.name}'.`,
    )
  return definition
}

/** Renders templates over one aggregate; `data.policy` and `data.policyholder` are made when first read. */
class Rater {
  readonly #context: RatingContext
  readonly #aggregate: PolicyAggregate
  readonly #quote: Quote
  readonly #environment: RenderingEnvironment
  #policy: ReturnType<typeof policyData> | undefined
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

  /** What the template records over `data` of its own and the policy's. Refuses when the template fails. */
  run(source: TemplateSource, own: object): RatingEffects {
    const data = withLazy({ ...own }, 'policy', () => this.#policyData())
    withLazy(data, 'policyholder', () => this.#policyholderData())
    try {
      const { effects, missing } = renderTemplate(this.#context.template(source), data, this.#environment)
      const [first] = missing
      if (first)
        throw new Refusal('templateFailed', `${source.path}: table '${first.table}' could not be read.`)
      return effects
    } catch (problem) {
      if (!(problem instanceof TemplateError)) throw problem
      const at = problem.line === undefined ? '' : `:${problem.line}`
      throw new Refusal(problem.code, `${problem.path ?? source.path}${at}: ${problem.message}`)
    }
  }

  #policyData() {
    this.#policy ??= policyData(this.#context.project(this.#aggregate, this.#quote), this.#context.product)
    return this.#policy
  }

  #policyholderData() {
    this.#policyholder ??= policyholderData(this.#context.policyholder, this.#context.policyholderFields)
    return this.#policyholder
  }
}
