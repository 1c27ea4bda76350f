// Prices and underwrites: perils with taxes, then standard fees, then the decision (docs/design.md, section 4). The external rater
// takes precedence over plugins, and plugins over templates.
import type { z } from 'zod'
import type { ExternalRater } from '../extension/integrations/external-rater.ts'
import type { AttemptCalls, PluginSubject } from '../extension/plugins/attempt-calls.ts'
import type { PolicyInfo, UnderwritingInput } from '../extension/plugins/contract.ts'
import { asPluginInput, pluginPolicy, readAnswer } from '../extension/plugins/translation.ts'
import { type ErrorCode, Refusal } from '../kernel/errors.ts'
import type { LocatorSupply } from '../kernel/locators.ts'
import { money, sumOf } from '../kernel/money.ts'
import { asSentences } from '../kernel/text.ts'
import type { Instant, Span } from '../kernel/time.ts'
import type { RequestContext } from '../platform/context.ts'
import type { UnderwritingDecisionRequest } from '../policy/contract/billing.ts'
import type { ReportedProblems } from '../policy/draft/draft.ts'
import { summary, validateQuote } from '../policy/draft/validation.ts'
import type { Prorated } from '../policy/fold/shares.ts'
import { lazyPolicyResponse } from '../policy/projection/policy.ts'
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
import { basisAt, jurisdictionOf, selectionBasis } from '../policy/selection-basis.ts'
import { type Loaded, NeedsWholePolicy } from '../policy/surroundings.ts'
import { policyholderResponse } from '../policyholders/values.ts'
import { hasPlugin, type PluginFunction, type ProductDefinition } from '../product/configuration.ts'
import type { SelectionBasis } from '../product/resources.ts'
import type { ReadTables } from '../reference/constraints/force.ts'
import {
  type RatingTables,
  type TransactionTables,
  tablesOfConfiguration,
} from '../reference/data-tables/rating-tables.ts'
import { requestRates } from './given-rates.ts'
import { PerilRating, Rater, type RatingContext } from './rater.ts'
import type { Explaining } from './worksheet/record.ts'

/** Prices the quote. Replaces earlier prices and fees. */
export async function priceQuote(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): Promise<PolicyAggregate> {
  const { modification, segment, exposureRuns, perilRuns } = quoteParts(aggregate, quote)
  const exposureRunOf = new Map(exposureRuns.map(run => [run.exposureLocator, run]))
  const rates = await requestRates(aggregate, quote, perilRuns, context)
  const rating = new PerilRating(aggregate, quote, context, rates)
  const priced = perilRuns.map((run): PerilRun => {
    const peril = aggregate.perils.get(run.perilLocator)!
    const exposure = aggregate.exposures.get(peril.exposureLocator)!
    const exposureRun = exposureRunOf.get(exposure.locator)!
    return { ...run, price: rating.price({ run, peril, exposure, segment, exposureRun }) }
  })
  const premiumChange = sumOf(priced, run => run.price!.premium.amount, aggregate.policy.currency)
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

/** Returns the fees that policy.calculations.liquid adds (brief 3.3). */
export function standardFees(
  aggregate: PolicyAggregate,
  quote: Quote,
  modification: Modification,
  span: Span,
  context: RatingContext,
): Fee[] {
  const { product, supply, explaining } = context
  if (!product.calculations) return []
  const { path } = product.calculations
  const steps = explaining?.record.stepsOf(path)
  const rater = new Rater(aggregate, quote, context)
  const { fees } = rater.runForPolicy(product.calculations, steps?.observer)
  if (steps) explaining?.record.feeScripts.push({ modification: modification.locator, steps, fees })
  return fees.map((fee): Fee => {
    const definition = product.fees.find(one => one.name === fee.name)
    if (!definition)
      throw new Refusal(
        'templateFailed',
        `${path} adds the fee '${fee.name}', which is not declared in fees.json; declare it and deploy.`,
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
 * Returns the decision on a priced quote (brief 5.4). The plugin decides, otherwise the guidelines file; a file that sets nothing
 * decides `none`. Without either, everything is accepted.
 */
export async function underwriteQuote(
  aggregate: PolicyAggregate,
  quote: Quote,
  context: RatingContext,
): Promise<UnderwritingResult> {
  const { product, operation, policyholder, callPlugin, now } = context
  const { underwriting, plugins } = product
  if (hasPlugin(product, 'getUnderwritingResult')) {
    if (context.unread) throw new NeedsWholePolicy()
    const input: UnderwritingInput = {
      operation,
      policy: pluginPolicy(
        context.project(aggregate, quote),
        aggregate,
        operation === 'new_business' ? quote : undefined,
      ),
      policyholder: asPluginInput(policyholderResponse(policyholder)) as UnderwritingInput['policyholder'],
    }
    const contract = await import('../extension/plugins/contract.ts')
    const answer = await callPlugin('getUnderwritingResult', input)
    const { path } = plugins.getUnderwritingResult!
    return { ...readAnswer('getUnderwritingResult', contract.UnderwritingResult, answer, path), at: now }
  }
  if (!underwriting) return { decision: 'accept', notes: [], at: now }
  const { decision, notes } = new Rater(aggregate, quote, context).runForPolicy(underwriting)
  return { decision: decision ?? 'none', notes, at: now }
}

/** What one attempt uses. `digits` leases display ids when only a plan knows how many it needs. */
export type Attempt = {
  now: Instant
  supply: LocatorSupply
  digits(count: number): Promise<LocatorSupply>
  /** Absent if no plugin is called. */
  plugins?: AttemptCalls
  /** Absent if no external rater is called. */
  externalRater?(name: string, policyLocator: string): Promise<ExternalRater | undefined>
  /** Absent if nothing is looked up. */
  tables?: RatingTables
  /** Absent if constraints are not checked. */
  readTables?: ReadTables
  /** Set if a worksheet is requested. */
  explaining?: Explaining
  /** Set if a recorded transaction is rated again: the table contents with which it was rated. */
  recordedTables?: Awaited<ReturnType<RatingTables['recalled']>>
}

export const NOTHING_REPORTED: ReportedProblems = {
  byOwner: new Map(),
  strays: [],
  added: new Map(),
  names: new Map(),
}

/** Returns the tenant's tables, otherwise those of the configuration. */
export const tablesOf = (
  { configuration, product }: Pick<Loaded, 'configuration' | 'product'>,
  { tables, recordedTables }: Attempt,
  basis: SelectionBasis,
): TransactionTables =>
  tables?.of(configuration, product.name, basis, recordedTables) ??
  tablesOfConfiguration(configuration.lookup(product.name))

const pluginSubject = (
  { aggregate: { policy }, configuration, product }: Loaded,
  tables: TransactionTables,
): PluginSubject => ({
  configuration,
  product,
  configVersion: policy.configVersion,
  policyLocator: String(policy.locator),
  tables,
})

/**
 * Returns what rating needs in addition to the quote. `of` is a transaction that `loaded` has, or the effective time of one that is
 * not made yet. By default it is new business.
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
    project: (current, quote) => lazyPolicyResponse(current, product, quote),
    unread: unread !== undefined,
    ...(attempt.explaining && { explaining: explainedBy(attempt.explaining, loaded, of) }),
    externalRater: async name => attempt.externalRater?.(name, String(aggregate.policy.locator)),
    callPlugin: async (name, given, explain) => {
      if (!attempt.plugins) throw new Error(`There is no sandbox in which to call plugin ${name}.`)
      return await attempt.plugins.call(pluginSubject(loaded, tables), name, [given], explain)
    },
  }
}

/** A transaction that is not made yet has no locator and rates nothing that a worksheet shows. */
function explainedBy(
  { record }: Explaining,
  { aggregate }: Pick<Loaded, 'aggregate'>,
  of: Modification | Instant,
): RatingContext['explaining'] {
  if (typeof of === 'number') return undefined
  record.transactions.add(of.locator)
  return { record, configVersion: aggregate.policy.configVersion, modification: of.locator }
}

type PluginContract = typeof import('../extension/plugins/contract.ts')

export type PluginQuestion<S extends z.ZodType, A> = {
  readonly name: PluginFunction
  readonly input: object
  readonly answer: (contract: PluginContract) => S
  /** A missing answer is read as an empty one. */
  readonly accept: (answer: z.output<S>) => A
  /**
   * Set if no client waits that could receive a refusal. A failure then goes into the plugin's log with this sentence, which says
   * what happens instead.
   */
  readonly onFailure?: string
}

/**
 * Returns the accepted answer of the plugin. Throws 422 for failures and invalid answers; with `onFailure`, returns undefined
 * instead. Rethrows errors that are not the plugin's fault.
 */
export async function requestPluginAnswer<S extends z.ZodType, A>(
  loaded: Loaded,
  attempt: Attempt,
  { name, input, answer, accept, onFailure }: PluginQuestion<S, A>,
): Promise<A | undefined> {
  // There is no transaction, so this uses the tables in force when the policy or its term began, or now.
  const tables = tablesOf(loaded, attempt, basisAt(loaded, attempt.now, attempt.now))
  const subject = pluginSubject(loaded, tables)
  if (!attempt.plugins) throw new Error(`There is no sandbox in which to call plugin ${name}.`)
  try {
    const given = (await attempt.plugins.call(subject, name, [input])) ?? {}
    const contract = answer(await import('../extension/plugins/contract.ts'))
    return accept(readAnswer(name, contract, given, loaded.product.plugins[name]!.path))
  } catch (problem) {
    const isOfPlugin = problem instanceof Refusal && PLUGIN_FAILURES.has(problem.code)
    if (!isOfPlugin || onFailure === undefined) throw problem
    attempt.plugins.disregard(subject, name, `${problem.message.replace(/\.?$/, '.')} ${onFailure}`)
    return undefined
  }
}

const PLUGIN_FAILURES: ReadonlySet<ErrorCode> = new Set(['pluginFailed', 'pluginLimit'])

/** For plugins that do not get the whole policy (brief 5.6). */
export const policyInfo = (aggregate: PolicyAggregate): PolicyInfo => ({
  locator: String(aggregate.policy.locator),
  policyholderLocator: aggregate.policy.policyholderLocator,
  productName: aggregate.policy.productName,
  originalContractStartTimestamp: String(aggregate.policy.originalStart),
  currency: aggregate.policy.currency,
  quoteLocator: String(selectedQuote(aggregate).locator),
})

/** Throws 400 with every problem. Set `requireMissing` on quote and finalize (brief 6.2). */
export function assertValid(
  aggregate: PolicyAggregate,
  quote: Quote,
  { product, configuration: { configuration } }: Pick<Loaded, 'product' | 'configuration'>,
  { now }: Pick<Attempt, 'now'>,
  requireMissing: boolean,
  reported: ReportedProblems = NOTHING_REPORTED,
): void {
  const { timeZone } = aggregate.policy
  const validation = { product, configuration, timeZone, now, requireMissing }
  const errors = validateQuote(aggregate, quote, validation, reported)
  if (errors.hasErrors) throw new Refusal('policyValidation', summary(errors), { policyFieldErrors: errors })
}

/** `prorated` is the plugin's answer. Without it, amounts are split in proportion. */
export type EffectContext = {
  product: ProductDefinition
  now: Instant
  supply: LocatorSupply
  prorated?: Prorated
}

/** A person's decision that replaces underwriting's. The notes say who decided and why. */
export type Referral = Pick<UnderwritingResult, 'decision' | 'notes'>

/** Returns the caller's underwriting decision, with a note that names the caller. */
export const referralBy = (
  { caller }: Pick<RequestContext, 'caller'>,
  { decision, note }: UnderwritingDecisionRequest,
): Referral => ({ decision, notes: [`${caller.username}: ${decision}${note ? `, ${note}` : ''}`] })

/**
 * Throws 409, with the notes, unless underwriting accepted. `advice` says what a person can do about the decision: nobody can
 * decide on a reinstatement.
 */
export function assertUnderwritten(
  kind: 'endorsement' | 'renewal' | 'reinstatement',
  { decision, notes }: Pick<UnderwritingResult, 'decision' | 'notes'>,
  advice = '',
): void {
  if (decision === 'accept') return
  const sentences = [`Underwriting decided '${decision}' on the ${kind}.`, ...notes, advice]
  throw new Refusal('underwritingRefused', asSentences(sentences))
}
