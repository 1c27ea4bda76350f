// A formula that is tried out in the place of a peril's own: read, and rendered by what rates policies.

import { Refusal } from '../../kernel/errors.ts'
import { type Money, plus, toNumber } from '../../kernel/money.ts'
import { taxGroupResponses } from '../../policy/projection/characteristics.ts'
import type { PerilPrice, PolicyAggregate, Quote } from '../../policy/records/aggregate.ts'
import type { Finding, ProductDefinition, TemplateSource } from '../../product/configuration.ts'
import type { CompiledTemplate, compileTemplate, Rendering } from '../../product/templates/liquid.ts'
import { PerilRating, type Rateable } from '../../rating/peril-rating.ts'
import { Rater, type RatingContext } from '../../rating/rater.ts'
import type { CalculationResponse } from './contract.ts'

/** What errors call the formula, as they call a file. */
const PATH = 'calculation'

/** Problems of a formula that one answer tells; the rest is counted. */
const MOST_TOLD = 10

/** A formula that was read, with what is untidy about it. */
export type Formula = { readonly template: CompiledTemplate; readonly warnings: readonly Finding[] }

/** Refuses (422) text that cannot be read, with every place that is wrong. */
export function readFormula(source: string, compile: typeof compileTemplate): Formula {
  const { template, findings } = compile({ path: PATH, source })
  if (template) return { template, warnings: findings }
  const errors = findings.filter(one => one.severity === 'ERROR').map(told)
  const more = errors.length > MOST_TOLD ? ` And ${errors.length - MOST_TOLD} more.` : ''
  throw new Refusal('templateFailed', `${errors.slice(0, MOST_TOLD).join(' ')}${more}`)
}

const told = ({ path, line, column, message }: Finding): string =>
  line === undefined ? `${path}: ${message}` : `${path}:${line}:${column}: ${message}`

/** A peril as it is rated, and the policy and quote that it is of. */
export type Subject = {
  readonly aggregate: PolicyAggregate
  readonly quote: Quote
  readonly rateable: Rateable
}

/**
 * What the formula comes to in the place of the peril's own. Refuses (422), with the line, where it fails or passes a
 * counted limit, and where a tax of the product does, which runs on every priced peril.
 */
export function calculated(
  { template, warnings }: Formula,
  { aggregate, quote, rateable }: Subject,
  context: RatingContext,
): CalculationResponse {
  let rendering: Rendering | undefined
  const watched: CompiledTemplate = {
    ...template,
    render: (data, environment) => {
      rendering = template.render(data, environment)
      return rendering
    },
  }
  const source: TemplateSource = { path: PATH, source: '' }
  const trying: RatingContext = {
    ...context,
    product: withFormula(context.product, rateable, source),
    template: asked => (asked === source ? watched : context.template(asked)),
  }
  const rater = new Rater(aggregate, quote, trying)
  const price = new PerilRating(rater, aggregate, trying).price(rateable)
  return {
    ...priceResponse(price),
    assignedVariables: rendering?.variables() ?? {},
    warnings: warnings.map(({ line = 0, column = 0, message }) => ({ line, column, message })),
  }
}

/** The product with the formula for the peril. */
const withFormula = (
  product: ProductDefinition,
  { exposure, peril }: Rateable,
  premium: TemplateSource,
): ProductDefinition => ({
  ...product,
  exposures: product.exposures.map(one =>
    one.name !== exposure.name
      ? one
      : { ...one, perils: one.perils.map(of => (of.name === peril.name ? { ...of, premium } : of)) },
  ),
})

function priceResponse({ premium, technicalPremium, commissions, taxes }: PerilPrice) {
  const { currency } = premium.amount
  const sums = new Map<string, Money>()
  for (const { recipient, amount } of commissions) {
    const earlier = sums.get(recipient)
    sums.set(recipient, earlier ? plus(earlier, amount) : amount)
  }
  return {
    premium: toNumber(premium.amount),
    premiumCurrency: currency,
    monthPremium: Number(premium.month),
    ...(technicalPremium && {
      technicalPremium: toNumber(technicalPremium.amount),
      technicalPremiumCurrency: currency,
      monthTechnicalPremium: Number(technicalPremium.month),
    }),
    commissions: [...sums].map(([recipient, amount]) => ({
      recipient,
      amount: toNumber(amount),
      amountCurrency: currency,
    })),
    taxGroups: taxGroupResponses(taxes),
  }
}
