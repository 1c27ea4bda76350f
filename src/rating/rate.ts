// Prices and underwrites by the templates of the configuration, or by its plugins, which win over them, or the external
// rater of the product, which wins over both: perils with their taxes, standard fees, then the decision
// (docs/design.md, section 4).

import type { UnderwritingInput } from '../extension/plugins/contract.ts'
import { asPluginInput, readAnswer } from '../extension/plugins/translation.ts'
import { Refusal } from '../kernel/errors.ts'
import { money, sum } from '../kernel/money.ts'
import type { Span } from '../kernel/time.ts'
import {
  type Fee,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
} from '../policy/records/aggregate.ts'
import type { UnderwritingResult } from '../policy/records/transactions.ts'
import { NeedsWholePolicy } from '../policy/surroundings.ts'
import { policyholderResponse } from '../policyholders/values.ts'
import { hasPlugin } from '../product/plugins.ts'
import { givenRates } from './given-rates.ts'
import { PerilRating } from './peril-rating.ts'
import { Rater, type RatingContext } from './rater.ts'

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
