// Rates a policy without a service: the draft is created, filled in, checked, priced and underwritten by the code of POST
// /policy, with a configuration in memory and no stored data.
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid, type PolicyLocator, transientLocators } from '../../src/kernel/locators.ts'
import { memoByObject } from '../../src/kernel/maps.ts'
import { zero } from '../../src/kernel/money.ts'
import { type Instant, now as realTime } from '../../src/kernel/time.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import { issuesOf } from '../../src/platform/wire-problem.ts'
import type {
  AutomatedUnderwritingResultResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import type { Worksheet } from '../../src/policy/contract/worksheet.ts'
import { requestedDraft } from '../../src/policy/draft/draft.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { assertWithinLimits } from '../../src/policy/limits.ts'
import { underwritingResponse } from '../../src/policy/projection/characteristics.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { selectedQuote } from '../../src/policy/records/aggregate.ts'
import type { Loaded, NewPolicyContext } from '../../src/policy/surroundings.ts'
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
import { offlineCalls } from './sandbox.ts'

export type Priced = {
  readonly name?: string
  readonly productName: string
  /** Milliseconds, in `timeZone`. */
  readonly policyStartTimestamp: number
  readonly policyEndTimestamp: number
  readonly timeZone: string
  readonly price: PolicyPriceResponse
  /** Present if requested. */
  readonly worksheet?: Worksheet
  readonly underwriting: AutomatedUnderwritingResultResponse
  /** Data that a service would have used in addition. */
  readonly notes: string[]
}

export type OfflineOptions = {
  /** The time of the request. By default the current time. */
  readonly now?: Instant
  /** Receives each lookup in a table. */
  readonly watchLookup?: WatchLookup
}

/** Compiled once for all policies of a run, under a separate name by which the sandbox caches programs. */
const worldOf = memoByObject((configuration: Configuration) => ({
  loaded: loadedConfiguration(configuration, 'offline', compileTemplate),
  tenant: newUuid(0),
}))

/**
 * Returns a checked draft, and the context to rate it. Throws a Refusal, as the service would, for a request that the product
 * does not permit.
 */
export async function draftOffline(
  configuration: Configuration,
  asked: PolicyCase,
  explaining?: Explaining,
  { now = realTime(), watchLookup }: OfflineOptions = {},
) {
  const notes = new Set<string>()
  const context = offlineContext(now, worldOf(configuration).tenant)
  const ground = newPolicyContext(configuration, asked, now)
  const { product } = ground
  const plugins = offlineCalls(context, what =>
    notes.add(`A plugin requested ${what}, which is not available without a service.`),
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
  for (const note of offlineNotes(product, configuration, ground)) notes.add(note)

  const request = await autofill.creation(requestOf(asked, ground), ground)
  const { aggregate: draft, reported } = requestedDraft(request, ground, attempt)
  assertWithinLimits(draft)
  const quote = selectedQuote(draft)
  assertValid(draft, quote, ground, attempt, true, reported)
  const loaded: Loaded = { ...ground, aggregate: draft }
  return { draft, quote, ground, notes, rating: ratingContext(loaded, attempt), autofill }
}

/** Throws a Refusal, as the service would, for a request that the product does not permit or cannot rate. */
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

/** Without a service, nothing was rated by an earlier version. */
const onlyVersion = (): never => {
  throw new Error('Without a service, there is only one version of the configuration.')
}

/**
 * Returns a context with a tenant that consists only of its configuration. It contains all that rating reads: the tenant has no
 * tables and no services.
 */
export function offlineContext(now = realTime(), locator = newUuid(0)): RequestContext {
  const tenant = { locator, generation: 1, hasTables: false, shards: [] }
  return { tenant, now } as unknown as RequestContext
}

function newPolicyContext(
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

/** Returns the product of that name. The name may be omitted if there is only one product. */
function productNamed({ products }: Configuration, name: unknown): ProductDefinition {
  const known = Object.keys(products)
  const chosen = name ?? (known.length === 1 ? known[0] : undefined)
  if (typeof chosen === 'string' && Object.hasOwn(products, chosen)) return products[chosen]!
  throw new Refusal(
    'invalidRequest',
    chosen === undefined
      ? `'productName' is missing. The configuration has ${known.join(', ')}.`
      : `There is no product '${String(chosen)}'. The configuration has ${known.join(', ')}.`,
  )
}

function requestOf({ policy }: PolicyCase, { policyholder, product }: NewPolicyContext): PolicyCreateRequest {
  const read = PolicyCreateRequest.safeParse({
    ...policy,
    policyholderLocator: policyholder.locator,
    productName: product.name,
  })
  if (read.success) return read.data
  throw new Refusal(
    'invalidRequest',
    issuesOf(read.error)
      .map(({ message }) => message)
      .join(' '),
  )
}

function offlineNotes(
  product: ProductDefinition,
  { resources }: Configuration,
  ground: NewPolicyContext,
): string[] {
  const tables = Object.keys({ ...resources?.tables, ...resources?.rangeTables })
  return [
    ...(product.externalRater === undefined
      ? []
      : [`Rated without the external rater '${product.externalRater}'.`]),
    ...(tables.length === 0 ? [] : [`Tables that are resources were not used: ${tables.join(', ')}.`]),
    ...(graphOfProduct(ground.configuration.configuration, product).tables.length === 0
      ? []
      : ['Values were not checked against constraint tables.']),
  ]
}
