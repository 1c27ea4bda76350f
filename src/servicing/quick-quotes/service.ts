// Quick quotes are priced like a policy's draft, but not checked, and kept for 30 days.

import { externalRaters } from '../../extension/integrations/external-rater.ts'
import { OperationCalls } from '../../extension/plugins/operation-calls.ts'
import { invalidRequest, notFound, Refusal, tooLarge } from '../../kernel/errors.ts'
import {
  derivedUuid,
  type LocatorSupply,
  newUuid,
  type PolicyLocator,
  shardOfUuid,
  transientLocators,
  type Uuid,
} from '../../kernel/locators.ts'
import { decimal } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import {
  type AnswerBySubject,
  commit,
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  storedAnswer,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { recordPlace, shardDatabase } from '../../platform/tenancy.ts'
import type { PolicyPriceResponse } from '../../policy/contract/billing.ts'
import type { PolicyCreateRequest } from '../../policy/contract/requests.ts'
import type { Worksheet } from '../../policy/contract/worksheet.ts'
import { requestedDraft } from '../../policy/draft/draft.ts'
import { isIssued, lineUpTo } from '../../policy/fold/line.ts'
import { assertWithinLimits } from '../../policy/limits.ts'
import { policyView } from '../../policy/projection/policy.ts'
import { type PolicyAggregate, quoteParts, selectedQuote } from '../../policy/records/aggregate.ts'
import { selectionBasis } from '../../policy/selection-basis.ts'
import { loadNewPolicyContext } from '../../policy/store/loading.ts'
import type { Loaded, NewPolicyContext } from '../../policy/surroundings.ts'
import { placeOf } from '../../policyholders/store.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { policyPriceResponse } from '../../rating/price.ts'
import { type Attempt, priceQuote, ratingContext } from '../../rating/rate.ts'
import type { Selection } from '../../rating/worksheet/record.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { Autofill } from '../../transactions/autofill/fill.ts'
import type { Constrainable } from '../../transactions/constraints/service.ts'
import { elementsAt } from '../../transactions/constraints/validation.ts'
import { explainingOf } from '../../transactions/mechanism/price-change.ts'
import type { QuickQuoteResponse } from './contract.ts'
import { expiryTimer, findQuickQuote, type QuickQuote, quickQuoteRows } from './store.ts'

/** In the tenant's time. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1000

/** UTF-8 bytes. A row of D1 holds 2 MB. */
const LARGEST_STORED_BYTES = 1_800_000

/** Creates a quick quote. One round trip reads what the request names, one records it. */
export async function createQuickQuote(
  context: RequestContext,
  request: PolicyCreateRequest,
  explain?: Selection,
): Promise<JsonText> {
  const { idempotency } = context
  const { shard, database } = placeOf(context, request.policyholderLocator)
  const earlier = await storedAnswer(context, database)
  if (earlier) return await answerOf(context, earlier, explain)
  const locator = idempotency
    ? derivedUuid(shard, 'quickQuote', idempotency.key, idempotency.bodyHash)
    : newUuid(shard)
  const quickQuote = await priceRequest(context, request, locator, shard)
  const text = JSON.stringify(quickQuote.answer)
  if (Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(quickQuote.request)) > LARGEST_STORED_BYTES)
    throw tooLarge(
      `A quick quote can have at most ${LARGEST_STORED_BYTES} bytes including its price. Price a larger one as a policy.`,
    )
  return answerOf(
    context,
    await commit(context, database, {
      shard,
      guards: [],
      facts: quickQuoteRows(database, quickQuote),
      timers: [expiryTimer(quickQuote)],
      answer: { status: 200, text },
      subject: locator,
    }),
    explain,
  )
}

/** The worksheet is derived from what is stored, so that it need not be stored, and a repeated request has it too. */
async function answerOf(
  context: RequestContext,
  answer: JsonAnswer | AnswerBySubject,
  explain: Selection | undefined,
): Promise<JsonText> {
  if (!isBySubject(answer) && !explain) return jsonText(answer)
  const locator = isBySubject(answer)
    ? answer.subject
    : (JSON.parse(answer.text) as QuickQuoteResponse).locator
  return jsonText(jsonAnswer(await readQuickQuote(context, locator, explain)))
}

/** Returns a quick quote as it was created: one round trip, or two with a worksheet, which requires rating it again. */
export async function readQuickQuote(
  context: RequestContext,
  text: string,
  explain?: Selection,
): Promise<QuickQuoteResponse> {
  const stored = await findStored(context, text)
  const { answer } = stored
  if (!explain || !answer.price) return answer
  return { ...answer, price: { ...answer.price, worksheet: await worksheetAgain(context, stored, explain) } }
}

/** Rates a quick quote again, with the version of the configuration and the time of its creation. */
async function worksheetAgain(
  context: RequestContext,
  { request, configVersion, createdAt, locator, answer }: QuickQuote,
  explain: Selection,
): Promise<Worksheet> {
  const { database } = recordPlace(context, locator, 'quick quote')
  const shard = shardOfUuid(locator as Uuid)
  const surroundings = await loadNewPolicyContext(context, database, { ...request, configVersion })
  const now = createdAt as Instant
  const pluginCalls = new OperationCalls({ context, database, shard })
  const tables = new RatingTables(context)
  await tables.open()
  const externalRater = externalRaters(context, shard)
  try {
    return await tables.inRounds(async () => {
      const supply = locatorsOf(locator as Uuid)
      const explaining = await explainingOf(context, explain)
      const aggregate = quickDraft(request, surroundings, { now, supply })
      const loaded: Loaded = { ...surroundings, aggregate }
      const plugins = pluginCalls.begin()
      const attempt: Attempt = {
        now,
        supply,
        digits: async () => supply,
        plugins,
        externalRater,
        tables,
        explaining,
      }
      const quote = selectedQuote(aggregate)
      const priced = await priceQuote(aggregate, quote, ratingContext(loaded, attempt))
      const view = policyView(priced, quote, surroundings.product, isIssued)
      const { worksheetOf } = await import('../../rating/worksheet/build.ts')
      const worksheet = worksheetOf({ view, record: explaining.record, isRecorded: true })
      return withRecorded(worksheet, answer.price!)
    })
  } catch (problem) {
    throw pluginCalls.failed(problem)
  } finally {
    pluginCalls.keepLogs()
  }
}

/** Adds a note if rating again gives a total other than the stored one. */
function withRecorded(worksheet: Worksheet, recorded: PolicyPriceResponse): Worksheet {
  const { total, totalCurrency } = recorded
  if (decimal(worksheet.total).eq(decimal(total))) return worksheet
  const note = `Rating again yields ${worksheet.total}, but ${total} ${totalCurrency} was recorded and applies.`
  return { ...worksheet, differs: true, notes: [...worksheet.notes, note] }
}

async function findStored(context: RequestContext, text: string): Promise<QuickQuote> {
  const { database, locator } = recordPlace(context, text, 'quick quote')
  const found = await findQuickQuote(database, locator, context.now)
  if (!found) throw notFound('quick quote', text)
  return found
}

/** Returns the content for constraints: two round trips. */
export async function quickQuoteContent(context: RequestContext, text: string): Promise<Constrainable> {
  const { request, configVersion, createdAt, locator } = await findStored(context, text)
  const { database } = recordPlace(context, locator, 'quick quote')
  const surroundings = await loadNewPolicyContext(context, database, { ...request, configVersion })
  const supply = locatorsOf(locator as Uuid)
  const aggregate = quickDraft(request, surroundings, { now: createdAt as Instant, supply })
  const quote = selectedQuote(aggregate)
  const { modification } = quoteParts(aggregate, quote)
  const line = lineUpTo(aggregate, quote, modification)
  const { configuration } = surroundings.configuration
  return {
    elements: elementsAt(
      aggregate,
      line,
      modification.effectiveAt,
      { ...surroundings, configuration },
      locator,
    ),
    configuration,
    basis: selectionBasis({ aggregate, product: surroundings.product }, modification, context.now),
  }
}

async function priceRequest(
  context: RequestContext,
  requested: PolicyCreateRequest,
  locator: Uuid,
  shard: number,
): Promise<QuickQuote> {
  const { env, tenant, calls, now } = context
  const database = shardDatabase(env, tenant, shard, calls)
  const tables = new RatingTables(context)
  const surroundings = await tables.openWith(loadNewPolicyContext(context, database, requested))
  const supply = locatorsOf(locator)
  const policy = transientLocators(shard).digits() as PolicyLocator
  const pluginCalls = new OperationCalls({ context, database, shard }, policy)
  const externalRater = externalRaters(context, shard)
  try {
    const { request, loaded, price } = await tables.inRounds(async () => {
      const plugins = pluginCalls.begin()
      const autofill = new Autofill(context, policy, plugins, tables)
      const { finalize: _, ...request } = await autofill.creation(requested, surroundings)
      const aggregate = quickDraft({ ...request, finalize: false }, surroundings, { now, supply })
      const loaded: Loaded = { ...surroundings, aggregate }
      const attempt: Attempt = { now, supply, digits: async () => supply, plugins, externalRater, tables }
      return { request, loaded, price: await autofill.explaining(priceOf(loaded, attempt)) }
    })
    const expiresAt = now + KEEP_MS
    return {
      locator,
      policyholderLocator: surroundings.policyholder.locator,
      configVersion: surroundings.configVersion,
      createdAt: now,
      expiresAt,
      request: { ...request, finalize: false },
      answer: { ...contentResponse(loaded, locator, now, expiresAt), ...price },
    }
  } catch (problem) {
    throw pluginCalls.failed(problem)
  } finally {
    pluginCalls.keepLogs()
  }
}

/** Returns the price, or the problem of the rating, because missing or wrong values may have no price. */
async function priceOf(
  loaded: Loaded,
  attempt: Attempt,
): Promise<{ price: PolicyPriceResponse } | { problem: { code: string; message: string } }> {
  const quote = selectedQuote(loaded.aggregate)
  try {
    const aggregate = await priceQuote(loaded.aggregate, quote, ratingContext(loaded, attempt))
    return { price: policyPriceResponse(policyView(aggregate, quote, loaded.product, isIssued)) }
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    const { code, message } = problem
    return { problem: { code, message: attempt.plugins?.shown(message) ?? message } }
  }
}

function contentResponse(
  { aggregate, product }: Loaded,
  locator: Uuid,
  createdAt: number,
  expiresAt: number,
): QuickQuoteResponse {
  const quote = selectedQuote(aggregate)
  const { segment, exposureRuns, perilRuns } = quoteParts(aggregate, quote)
  const perilsOf = Map.groupBy(
    perilRuns.map(run => ({ run, peril: aggregate.perils.get(run.perilLocator)! })),
    ({ peril }) => peril.exposureLocator,
  )
  return {
    locator,
    policyholderLocator: aggregate.policy.policyholderLocator,
    productName: product.name,
    configVersion: aggregate.policy.configVersion,
    createdTimestamp: String(createdAt),
    expiresTimestamp: String(expiresAt),
    policyStartTimestamp: String(quote.contractStart),
    policyEndTimestamp: String(quote.contractEnd),
    currency: aggregate.policy.currency,
    ...fieldsOf(segment.data),
    exposures: exposureRuns.map(({ exposureLocator, data }) => ({
      locator: exposureLocator,
      name: aggregate.exposures.get(exposureLocator)!.name,
      ...fieldsOf(data),
      perils: (perilsOf.get(exposureLocator) ?? []).map(({ run, peril }) => ({
        locator: peril.locator,
        name: peril.name,
        ...fieldsOf(run.data),
      })),
    })),
  }
}

const fieldsOf = ({ values, groups }: FieldData) => ({
  fieldValues: values,
  fieldGroupsByLocator: Object.fromEntries(groups.map(group => [group.locator, group.values])),
})

/** Supplies UUIDs derived from the quick quote's, so a repeat gets the same. Digits are only shown; no policy gets them. */
export function locatorsOf(quickQuote: Uuid): LocatorSupply {
  const shard = shardOfUuid(quickQuote)
  let count = 0
  return {
    ...transientLocators(shard),
    uuid: () => {
      count += 1
      return derivedUuid(shard, 'quickQuote', quickQuote, String(count))
    },
  }
}

/** Returns the draft. Values are not checked, but unreadable values and values that fit no part are rejected with 400. */
function quickDraft(
  request: PolicyCreateRequest,
  surroundings: NewPolicyContext,
  attempt: { now: Instant; supply: LocatorSupply },
): PolicyAggregate {
  const { aggregate, reported } = requestedDraft(request, surroundings, attempt)
  const problems = [
    ...reported.strays.map(({ message }) => message),
    ...[...reported.byOwner.values()].flatMap(({ errors, fieldGroupErrors }) =>
      [...errors, ...fieldGroupErrors.flatMap(group => group.errors)].map(({ message }) => message),
    ),
  ]
  if (problems.length > 0)
    throw invalidRequest(
      problems.slice(0, MOST_SHOWN).join(' ') +
        (problems.length > MOST_SHOWN ? ` And ${problems.length - MOST_SHOWN} more.` : ''),
    )
  assertWithinLimits(aggregate)
  return aggregate
}

const MOST_SHOWN = 5
