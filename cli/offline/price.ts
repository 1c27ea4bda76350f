// Rates a policy with no service: the draft is made, filled in, checked, priced and underwritten by the code that POST /policy
// runs, over a configuration in memory and nothing that is stored.
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid, type PolicyLocator, transientLocators } from '../../src/kernel/locators.ts'
import { memoByObject } from '../../src/kernel/maps.ts'
import { zero } from '../../src/kernel/money.ts'
import { type Instant, now as realTime } from '../../src/kernel/time.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import type {
  AutomatedUnderwritingResultResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import type { Worksheet } from '../../src/policy/contract/worksheet.ts'
import { requestedDraft } from '../../src/policy/draft/draft.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { underwritingResponse } from '../../src/policy/projection/characteristics.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { selectedQuote } from '../../src/policy/records/aggregate.ts'
import { assertWithinLimits, type Loaded, type NewPolicyContext } from '../../src/policy/surroundings.ts'
import { changePolicyholderValues } from '../../src/policyholders/values.ts'
import { loadedConfiguration } from '../../src/product/cache.ts'
import type { Configuration, ProductDefinition } from '../../src/product/configuration.ts'
import { graphOfProduct } from '../../src/product/constraint-graph.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import {
  type Attempt,
  assertValid,
  priceQuote,
  ratingContext,
  underwriteQuote,
} from '../../src/rating/rate.ts'
import { worksheetOf } from '../../src/rating/worksheet/build.ts'
import { type Explaining, RatingRecord, type Selection } from '../../src/rating/worksheet/record.ts'
import { Autofill } from '../../src/transactions/autofill/fill.ts'
import { GivenTables, NOTHING_GIVEN, type WatchLookup } from './given.ts'
import type { PolicyCase } from './policy-file.ts'
import { offlineSession } from './sandbox.ts'

export type Priced = {
  readonly name?: string
  readonly productName: string
  /** Milliseconds, in `timeZone`. */
  readonly policyStartTimestamp: number
  readonly policyEndTimestamp: number
  readonly timeZone: string
  readonly price: PolicyPriceResponse
  /** Where it was asked for. */
  readonly worksheet?: Worksheet
  readonly underwriting: AutomatedUnderwritingResultResponse
  /** What a service would have looked at beside. */
  readonly notes: string[]
}

export type OfflineOptions = {
  /** The time of the request; by default the real one. */
  readonly now?: Instant
  /** Told of each look-up in a table. */
  readonly watchLookup?: WatchLookup
}

/** Compiled once for all policies of a run, under a name of its own: the sandbox keeps programs by it. */
const worldOf = memoByObject((configuration: Configuration) => ({
  loaded: loadedConfiguration(configuration, 'offline', compileTemplate),
  tenant: newUuid(0),
}))

/** A checked draft, and what it is rated with. Throws a Refusal, as the service would, for what the product does not take. */
export async function draftOffline(
  configuration: Configuration,
  asked: PolicyCase,
  explaining?: Explaining,
  { now = realTime(), watchLookup }: OfflineOptions = {},
) {
  const notes = new Set<string>()
  const context = offlineContext(now, worldOf(configuration).tenant)
  const ground = groundOf(configuration, asked, now)
  const { product } = ground
  const plugins = offlineSession(context, what =>
    notes.add(`A plugin asked for ${what}, of which there is none without a service.`),
  )
  const tables = new GivenTables(context, NOTHING_GIVEN, watchLookup)
  const supply = transientLocators(0)
  const attempt: Attempt = {
    now,
    supply,
    digits: async () => supply,
    plugins,
    tables,
    ...(explaining && { explaining }),
  }
  const autofill = new Autofill(context, supply.digits() as PolicyLocator, plugins, tables)
  for (const note of unknownHere(product, configuration, ground)) notes.add(note)

  const request = await autofill.creation(requestOf(asked, ground), ground)
  const { aggregate: draft, reported } = requestedDraft(request, ground, attempt)
  assertWithinLimits(draft)
  const quote = selectedQuote(draft)
  assertValid(draft, quote, ground, attempt, true, reported)
  const loaded: Loaded = { ...ground, aggregate: draft }
  return { draft, quote, ground, notes, rating: ratingContext(loaded, attempt), autofill }
}

/** Throws a Refusal, as the service would, for what the product does not take or cannot rate. */
export async function pricedOffline(
  configuration: Configuration,
  asked: PolicyCase,
  explain?: Selection,
  options?: OfflineOptions,
): Promise<Priced> {
  const record = explain && new RatingRecord(explain)
  const explaining: Explaining | undefined = record && { record, configurationOf: onlyVersion }
  const { draft, quote, ground, notes, rating, autofill } = await draftOffline(
    configuration,
    asked,
    explaining,
    options,
  )
  const { product } = ground
  const aggregate = await autofill.explaining(priceQuote(draft, quote, rating))
  const underwriting = await underwriteQuote(aggregate, quote, rating)
  const view = policyView(aggregate, quote, product, isIssued)
  return {
    ...(asked.name !== undefined && { name: asked.name }),
    productName: product.name,
    policyStartTimestamp: quote.contractStart,
    policyEndTimestamp: quote.contractEnd,
    timeZone: ground.timeZone,
    price: policyPriceResponse(view),
    ...(record && { worksheet: worksheetOf({ view, record, isRecorded: false }) }),
    underwriting: underwritingResponse(underwriting),
    notes: [...notes],
  }
}

/** Nothing is recorded here that an earlier version rated. */
const onlyVersion = (): never => {
  throw new Error('There is one version of the configuration without a service.')
}

/** A tenant with nothing but its configuration. Rating reads of it what is here: it has no tables and no services of its own. */
export function offlineContext(now = realTime(), locator = newUuid(0)): RequestContext {
  const tenant = { locator, generation: 1, hasTables: false, shards: [] }
  return { tenant, now } as unknown as RequestContext
}

function groundOf(
  configuration: Configuration,
  { policy, values }: PolicyCase,
  now: RequestContext['now'],
): NewPolicyContext {
  const { timeZone, currency, policyholderFields } = configuration
  const context = { completed: true, timeZone, now }
  const holder = changePolicyholderValues(policyholderFields, {}, values, context)
  if (holder.errors.length > 0)
    throw new Refusal('invalidRequest', holder.errors.map(({ message }) => message).join(' '))
  const locator = newUuid(0)
  return {
    policyholder: {
      locator,
      version: 1,
      completed: true,
      accountLocator: newUuid(0),
      entity: { locator, values: holder.values, subEntities: [] },
      createdAt: now,
      updatedAt: now,
    },
    configuration: worldOf(configuration).loaded,
    configVersion: 1,
    timeZone,
    currency,
    product: productNamed(configuration, policy.productName),
    credit: zero(currency),
  }
}

/** The product of that name; the only one need not be named. */
function productNamed({ products }: Configuration, name: unknown): ProductDefinition {
  const known = Object.keys(products)
  const chosen = name ?? (known.length === 1 ? known[0] : undefined)
  if (typeof chosen === 'string' && Object.hasOwn(products, chosen)) return products[chosen]!
  throw new Refusal(
    'invalidRequest',
    chosen === undefined
      ? `'productName' is missing; the configuration has ${known.join(', ')}.`
      : `There is no product '${String(chosen)}'; the configuration has ${known.join(', ')}.`,
  )
}

function requestOf({ policy }: PolicyCase, { policyholder, product }: NewPolicyContext): PolicyCreateRequest {
  const read = PolicyCreateRequest.safeParse({
    ...policy,
    policyholderLocator: policyholder.locator,
    productName: product.name,
  })
  if (read.success) return read.data
  throw new Refusal('invalidRequest', read.error.issues.map(({ message }) => message).join(' '))
}

function unknownHere(
  product: ProductDefinition,
  { resources }: Configuration,
  ground: NewPolicyContext,
): string[] {
  const tables = Object.keys({ ...resources?.tables, ...resources?.rangeTables })
  return [
    ...(product.externalRater === undefined
      ? []
      : [`Rated without the external rater '${product.externalRater}'.`]),
    ...(tables.length === 0 ? [] : [`Tables that are resources were not looked at: ${tables.join(', ')}.`]),
    ...(graphOfProduct(ground.configuration.configuration, product).tables.length === 0
      ? []
      : ['Values were not held against constraint tables.']),
  ]
}
