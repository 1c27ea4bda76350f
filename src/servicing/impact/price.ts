// Prices a risk by a configuration, as new business or a renewal is priced, without stored records. Nothing is written or called:
// no autofill, no integrations, and no external rater.
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, sumOf, zero } from '../../kernel/money.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import { newDraft } from '../../policy/draft/draft.ts'
import { assertWithinLimits } from '../../policy/limits.ts'
import {
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import type { Version } from '../../policy/surroundings.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { type Attempt, assertValid, priceQuote, ratingContext, underwriteQuote } from '../../rating/rate.ts'
import { fitRiskToProduct, type Occasion, type Pricing, type Risk } from './risk.ts'

/** Amounts in minor units of the currency. `covers` has the premium by `exposure.peril`. */
export type Price = {
  readonly covers: ReadonlyMap<string, number>
  readonly premium: number
  readonly taxes: number
  readonly fees: number
  readonly total: number
}

export type Rated = {
  readonly price: Price
  readonly decision: 'accept' | 'reject' | 'none'
  readonly notes: readonly string[]
  /** Parts of the policy that the configuration does not know. */
  readonly leftOut: readonly string[]
}

/** A configuration that prices. `isNew`: the policy must be valid by it, as for a renewal. */
export type Side = Version & { readonly isNew: boolean }

/** Prices and underwrites a risk. Throws a Refusal if the configuration does not accept the risk or cannot rate it. */
export async function ratedRisk(
  risk: Risk,
  { term }: Pick<Pricing, 'term'>,
  occasion: Occasion,
  version: Side,
  zone: TimeZone,
  attempt: Attempt,
): Promise<Rated> {
  const product = productOf(risk, version)
  const fit = fitRiskToProduct(risk, product)
  const { aggregate: draft, quote } = draftOf(fit.risk, term, product, version, zone, attempt)
  assertWithinLimits(draft)
  const { configuration } = version
  if (version.isNew) assertValid(draft, quote, { product, configuration }, attempt, true)
  const currency = risk.currency as CurrencyCode
  const loaded = {
    aggregate: draft,
    configuration,
    product,
    credit: zero(currency),
    policyholder: policyholderOf(risk, attempt.now),
  }
  const context = {
    ...ratingContext(loaded, attempt),
    operation: occasion === 'renewal' ? ('renewal' as const) : ('new_business' as const),
  }
  const priced = await priceQuote(draft, quote, context)
  const { decision, notes } = await underwriteQuote(priced, quote, context)
  return { price: priceOf(priced, currency), decision, notes: [...notes], leftOut: fit.leftOut }
}

function productOf(
  { productName, currency }: Risk,
  { configuration: { configuration } }: Version,
): ProductDefinition {
  const { products } = configuration
  if (!Object.hasOwn(products, productName))
    throw new Refusal('invalidRequest', `The configuration has no product '${productName}'.`)
  if (configuration.currency !== currency)
    throw new Refusal(
      'invalidRequest',
      `The policy is in ${currency}, but the configuration is in ${configuration.currency}.`,
    )
  const product = products[productName]!
  if (product.externalRater !== undefined)
    throw new Refusal(
      'externalRaterFailed',
      `The external rater '${product.externalRater}' prices the product, and comparisons do not call it.`,
    )
  return product
}

/** Returns the risk as a policy with one quote over the term. Amounts are those of the risk, because defaults are for new cover. */
function draftOf(
  risk: Risk,
  contract: Pricing['term'],
  product: ProductDefinition,
  { configVersion }: Version,
  timeZone: TimeZone,
  { now, supply }: Attempt,
): { aggregate: PolicyAggregate; quote: Quote } {
  const { originalStart, originalEnd } = risk
  const schedule = product.paymentSchedules.find(({ name }) => name === risk.paymentScheduleName)
  const { aggregate: empty } = newDraft(
    {
      policyholderLocator: supply.uuid(),
      configVersion,
      currency: risk.currency as CurrencyCode,
      contract,
      paymentScheduleName: (schedule ?? product.paymentSchedules[0]!).name,
      premiumReportName: undefined,
      exposures: [],
    },
    { product, timeZone, now, supply },
  )
  const quote = selectedQuote(empty)
  const { segment } = quoteParts(empty, quote)
  const aggregate: PolicyAggregate = {
    ...empty,
    ...coverOf(risk, contract, empty, quote, supply),
    policy: { ...empty.policy, originalStart, originalEnd },
    segments: putRecords(empty.segments, [{ ...segment, data: risk.data }]),
  }
  return { aggregate, quote }
}

/** Returns the exposures and perils of the risk as records of the quote. They keep the locators that they have in the book. */
function coverOf(
  { exposures }: Risk,
  term: Pricing['term'],
  empty: PolicyAggregate,
  quote: Quote,
  supply: Attempt['supply'],
): Pick<PolicyAggregate, 'exposures' | 'exposureRuns' | 'perils' | 'perilRuns'> {
  const { modification } = quoteParts(empty, quote)
  const { createdAt, updatedAt } = modification
  const record = { createdAt, updatedAt, displayId: modification.displayId }
  const run = () => ({
    createdAt,
    updatedAt,
    ...term,
    locator: supply.uuid(),
    madeBy: modification.locator,
    cuts: [],
  })
  const perils = exposures.flatMap(({ locator: exposureLocator, perils }) =>
    perils.map(peril => ({ ...peril, exposureLocator })),
  )
  return {
    exposures: putRecords(
      empty.exposures,
      exposures.map(({ locator, name }) => ({
        ...record,
        locator: locator as Uuid,
        quoteLocator: quote.locator,
        name,
      })),
    ),
    exposureRuns: putRecords(
      empty.exposureRuns,
      exposures.map(({ locator, data }) => ({ ...run(), exposureLocator: locator as Uuid, data })),
    ),
    perils: putRecords(
      empty.perils,
      perils.map(({ locator, exposureLocator, name }) => ({
        ...record,
        locator: locator as Uuid,
        exposureLocator: exposureLocator as Uuid,
        name,
        renewalGroup: locator as Uuid,
      })),
    ),
    perilRuns: putRecords(
      empty.perilRuns,
      perils.map(({ locator, data, amounts }) => ({
        ...run(),
        perilLocator: locator as Uuid,
        data,
        amounts,
      })),
    ),
  }
}

function policyholderOf({ policyholder: values }: Risk, now: Instant): Policyholder {
  const locator = '00000000-0000-4000-8000-000000000000' as Uuid
  return {
    locator,
    version: 1,
    completed: true,
    accountLocator: locator,
    entity: { locator, values, subEntities: [] },
    createdAt: now,
    updatedAt: now,
  }
}

function priceOf({ perilRuns, perils, exposures, fees }: PolicyAggregate, currency: CurrencyCode): Price {
  const covers = new Map<string, number>()
  const runs = [...perilRuns.values()]
  for (const run of runs) {
    const peril = perils.get(run.perilLocator)!
    const name = `${exposures.get(peril.exposureLocator)!.name}.${peril.name}`
    covers.set(name, (covers.get(name) ?? 0) + run.price!.premium.amount.minor)
  }
  const premium = sumOf(runs, run => run.price!.premium.amount, currency).minor
  const taxes = sumOf(
    runs.flatMap(run => [...run.price!.taxes]),
    tax => tax.amount,
    currency,
  ).minor
  const charged = sumOf([...fees.values()], fee => fee.amount, currency).minor
  return { covers, premium, taxes, fees: charged, total: premium + taxes + charged }
}
