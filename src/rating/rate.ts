// Prices and underwrites by the templates of the configuration, or by its plugins, which win over them, or the external
// rater of the product, which wins over both: perils with their taxes, standard fees, then the decision
// (docs/design.md, section 4).
import type { UnderwritingInput } from '../extension/plugins/contract.ts'
import type { PluginSession } from '../extension/plugins/session.ts'
import type { ExternalRater } from '../extension/plugins/sessions.ts'
import { asPluginInput, readAnswer } from '../extension/plugins/translation.ts'
import { Refusal } from '../kernel/errors.ts'
import type { LocatorSupply } from '../kernel/locators.ts'
import { money, sum } from '../kernel/money.ts'
import type { Instant, Span } from '../kernel/time.ts'
import type { RequestContext } from '../platform/context.ts'
import type { UnderwritingDecisionRequest } from '../policy/contract/prices.ts'
import type { ReportedProblems } from '../policy/draft/draft.ts'
import { summary, validateQuote } from '../policy/draft/validation.ts'
import type { Prorated } from '../policy/fold/shares.ts'
import { policyToRead } from '../policy/projection/policy.ts'
import {
  type Fee,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../policy/records/aggregate.ts'
import type { UnderwritingResult } from '../policy/records/transactions.ts'
import {
  basisAt,
  jurisdictionOf,
  type Loaded,
  NeedsWholePolicy,
  selectionBasis,
} from '../policy/surroundings.ts'
import { policyholderResponse } from '../policyholders/values.ts'
import { hasPlugin, type ProductDefinition } from '../product/configuration.ts'
import type { SelectionBasis } from '../product/resources.ts'
import type { ReadTables } from '../reference/constraints/force.ts'
import {
  type RatingTables,
  type TransactionTables,
  tablesOfConfiguration,
} from '../reference/data-tables/rating-tables.ts'
import { PerilRating } from './peril-rating.ts'
import { givenRates, Rater, type RatingContext } from './rater.ts'

/** The quote with every peril priced and its standard fees; what was priced before is replaced. */
export async function priceQuote(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): Promise<PolicyAggregate> {
  const { modification, segment, exposureRuns, perilRuns } = quoteParts(aggregate, quote)
  const exposureRunOf = new Map(exposureRuns.map(run => [run.exposureLocator, run]))
  const rates = await givenRates(aggregate, quote, perilRuns, context)
  const rating = new PerilRating(new Rater(aggregate, quote, context), aggregate, context, rates)
  const priced = perilRuns.map((run): PerilRun => {
    const peril = aggregate.perils.get(run.perilLocator)!
    const exposure = aggregate.exposures.get(peril.exposureLocator)!
    const exposureRun = exposureRunOf.get(exposure.locator)!
    return { ...run, price: rating.price({ run, peril, exposure, segment, exposureRun }) }
  })
  const premiumChange = sum(
    priced.map(run => run.price!.premium.amount),
    aggregate.policy.currency,
  )
  const withoutFees = {
    ...aggregate,
    perilRuns: putRecords(aggregate.perilRuns, priced),
    modifications: putRecords(aggregate.modifications, [
      { ...modification, premiumChange, updatedAt: context.now },
    ]),
    fees: new Map([...aggregate.fees].filter(([, fee]) => fee.quoteLocator !== quote.locator)),
  }
  const span = { start: quote.contractStart, end: quote.contractEnd }
  const fees = standardFees(withoutFees, quote, modification, span, context)
  return { ...withoutFees, fees: putRecords(withoutFees.fees, fees) }
}

/** Fees by policy.calculations.liquid over the span, made by the modification (brief 3.3). */
export function standardFees(
  aggregate: PolicyAggregate,
  quote: Quote,
  modification: Modification,
  span: Span,
  context: RatingContext,
): Fee[] {
  const { product, supply, operation } = context
  if (!product.calculations) return []
  const { path } = product.calculations
  const { fees } = new Rater(aggregate, quote, context).run(product.calculations, { operation })
  return fees.map((fee): Fee => {
    const definition = product.fees.find(one => one.name === fee.name)
    if (!definition)
      throw new Refusal(
        'templateFailed',
        `${path} adds the fee '${fee.name}', which fees.json does not declare; declare it and deploy.`,
      )
    return {
      ...span,
      locator: supply.uuid(),
      quoteLocator: quote.locator,
      name: fee.name,
      description: fee.description ?? definition.displayName,
      amount: money(fee.amount, aggregate.policy.currency),
      madeBy: modification.locator,
      changes: [],
    }
  })
}

/**
 * The decision on a priced quote (brief 5.4): a guidelines file that sets nothing decides `none`; without a
 * file everything is accepted. A plugin decides in its place.
 */
export async function underwriteQuote(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): Promise<UnderwritingResult> {
  const decided = await pluginDecision(aggregate, quote, context)
  if (decided) return decided
  const { underwriting } = context.product
  if (!underwriting) return { decision: 'accept', notes: [], at: context.now }
  const { decision, notes } = new Rater(aggregate, quote, context).run(underwriting, {
    operation: context.operation,
  })
  return { decision: decision ?? 'none', notes, at: context.now }
}

/** The decision on a priced quote; undefined where the product has no such plugin. */
export async function pluginDecision(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): Promise<UnderwritingResult | undefined> {
  const { product, operation, policyholder, callPlugin, now } = context
  if (!hasPlugin(product, 'getUnderwritingResult')) return undefined
  if (context.unread) throw new NeedsWholePolicy()
  const input: UnderwritingInput = {
    operation,
    policy: asPluginInput(context.project(aggregate, quote)) as UnderwritingInput['policy'],
    policyholder: asPluginInput(policyholderResponse(policyholder)) as UnderwritingInput['policyholder'],
  }
  const contract = await import('../extension/plugins/contract.ts')
  const answer = await callPlugin('getUnderwritingResult', input)
  const { path } = product.plugins.getUnderwritingResult!
  return { ...readAnswer('getUnderwritingResult', contract.UnderwritingResult, answer, path), at: now }
}

// What a decision works with: time, locators, and what templates and checks need to know of the policy.
/** Time and locators for one attempt. `digits` leases display ids whose number only a plan can tell. */
export type Attempt = {
  now: Instant
  supply: LocatorSupply
  digits(count: number): Promise<LocatorSupply>
  /** Where plugins are called; absent where none is to be, as for products that have none. */
  plugins?: PluginSession
  /** Finds external raters for the policy; absent where none is to be called. */
  externalRater?(name: string, policyLocator: string): Promise<ExternalRater | undefined>
  /** The tenant's tables; absent where nothing is looked up. */
  tables?: RatingTables
  /** Reads constraint tables; absent where values are not held against any. */
  readTables?: ReadTables
}

export const NOTHING_REPORTED: ReportedProblems = { byOwner: new Map(), strays: [], added: new Map() }

/** Look-ups of a transaction of the policy: in the tenant's tables, else in those of the configuration. */
export const tablesOf = (
  { configuration, product }: Pick<Loaded, 'configuration' | 'product'>,
  { tables }: Attempt,
  basis: SelectionBasis,
): TransactionTables =>
  tables?.of(configuration, product.name, basis) ?? tablesOfConfiguration(configuration.lookup(product.name))

/**
 * What rating needs beside the quote itself, for a transaction that `loaded` has, or for one that is not made yet and
 * takes effect then; left out, for new business.
 */
export function ratingContext(
  loaded: Loaded,
  attempt: Attempt,
  of: Modification | Instant = quoteParts(loaded.aggregate, selectedQuote(loaded.aggregate)).modification,
): RatingContext {
  const { product, configuration, policyholder, aggregate, unread } = loaded
  const { now } = attempt
  const basis = typeof of === 'number' ? basisAt(loaded, of, now) : selectionBasis(loaded, of, now)
  const tables = tablesOf(loaded, attempt, basis)
  return {
    product,
    policyholder,
    policyholderFields: configuration.configuration.policyholderFields,
    operation: 'new_business',
    timeZone: aggregate.policy.timeZone,
    now,
    supply: attempt.supply,
    template: source => configuration.template(source),
    lookup: tables.lookup,
    lookupIn: data =>
      product.jurisdictionField === undefined
        ? tables.lookup
        : tables.in(jurisdictionOf(product, data)).lookup,
    project: (current, quote) => policyToRead(current, product, quote),
    unread: unread !== undefined,
    externalRater: async name => attempt.externalRater?.(name, String(aggregate.policy.locator)),
    callPlugin: async (name, ...given) => {
      if (!attempt.plugins) throw new Error(`Plugin ${name} has no sandbox to be called in.`)
      const { locator, configVersion } = aggregate.policy
      const subject = { configuration, configVersion, product, policyLocator: String(locator), tables }
      return await attempt.plugins.call(subject, name, given)
    },
  }
}

/** Refuses with every problem of the quote at once. `requireMissing` on quote and finalize (brief 6.2). */
export function assertValid(
  aggregate: PolicyAggregate,
  quote: Quote,
  { product }: Pick<Loaded, 'product'>,
  { now }: Pick<Attempt, 'now'>,
  requireMissing: boolean,
  reported: ReportedProblems = NOTHING_REPORTED,
): void {
  const { timeZone } = aggregate.policy
  const errors = validateQuote(aggregate, quote, { product, timeZone, now, requireMissing }, reported)
  if (errors.hasErrors) throw new Refusal('policyValidation', summary(errors), { policyFieldErrors: errors })
}

/** `prorated` is what a plugin said of the amounts that are split; without it they are shared out in proportion. */
export type EffectContext = {
  product: ProductDefinition
  now: Instant
  supply: LocatorSupply
  prorated?: Prorated
}

// What underwriting did not accept is referred to a person, whose decision takes its place.
/** What a person decided; the notes, which are kept with the decision, say who and why. */
export type Referral = Pick<UnderwritingResult, 'decision' | 'notes'>

/** The caller's decision, in the form in which it is kept. */
export const referralBy = (
  { caller }: Pick<RequestContext, 'caller'>,
  { decision, note }: UnderwritingDecisionRequest,
): Referral => ({ decision, notes: [`${caller.username}: ${decision}${note ? `, ${note}` : ''}`] })

/** Whom to ask when underwriting does not accept; nobody can be asked about a reinstatement. */
const ADVICE = {
  endorsement: 'A person may decide on its application: POST /endorsements/{locator}/underwriting.',
  renewal: 'A person may decide on its application: POST /renewals/{locator}/underwriting.',
  reinstatement: '',
} as const

/** Refuses (409), with the notes, what underwriting or a person did not accept. */
export function assertUnderwritten(
  kind: keyof typeof ADVICE,
  { decision, notes }: Pick<UnderwritingResult, 'decision' | 'notes'>,
): void {
  if (decision === 'accept') return
  const said = [`Underwriting decided '${decision}' on the ${kind}.`, ...notes, ADVICE[kind]]
  throw new Refusal('underwritingRefused', said.filter(text => text !== '').join(' '))
}
