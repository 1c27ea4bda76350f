// Decides each operation on a new policy: pure plans over the loaded records, in the order validate, price, underwrite, bill.

import { billAcceptedQuote, billOnAcceptance, planUnbilledQuote } from '../../billing/billing.ts'
import { planVoidInvoices } from '../../billing/payments.ts'
import { Refusal, wrongState } from '../../kernel/errors.ts'
import {
  locatorSupply,
  type PolicyLocator,
  type QuoteLocator,
  shardOfDigits,
  supplyOf,
} from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { type JsonAnswer, jsonAnswer } from '../../platform/commit.ts'
import type {
  AutomatedUnderwritingResultResponse,
  PolicyPriceResponse,
} from '../../policy/contract/billing.ts'
import type { PolicyCreateRequest, PolicyUpdateRequest } from '../../policy/contract/requests.ts'
import {
  type DraftContext,
  type DraftResult,
  type ReportedProblems,
  requestedDraft,
} from '../../policy/draft/draft.ts'
import { isIssued } from '../../policy/fold/line.ts'
import { assertWithinLimits } from '../../policy/limits.ts'
import { underwritingResponse } from '../../policy/projection/characteristics.ts'
import { policyView } from '../../policy/projection/policy.ts'
import {
  acceptedQuote,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import { digitsForChanges, digitsForNewDraft, quoteOf } from '../../policy/records/transactions.ts'
import type { Loaded, NewPolicyContext } from '../../policy/surroundings.ts'
import {
  assertPolicyAllows,
  combineSteps,
  type Planned,
  policyEvent,
  policyState,
  quoteEvent,
  versionProperties,
} from '../../policy/transitions.ts'
import { getPolicyPriceResponse, policyPriceResponse } from '../../rating/price.ts'
import {
  type Attempt,
  NOTHING_REPORTED,
  priceQuote,
  ratingContext,
  underwriteQuote,
} from '../../rating/rate.ts'
import type { RatingContext } from '../../rating/rater.ts'
import type { Selection } from '../../rating/worksheet/record.ts'
import { assertQuoteValid } from '../constraints/validation.ts'
import { rateAgain } from '../endorsements/rerating.ts'
import {
  defineKind,
  type FirstKind,
  type PolicyOperations,
  type Run,
  showNothing,
  showPolicy,
} from '../mechanism/kind.ts'
import { explainingOf } from '../mechanism/price-change.ts'
import { changeQuote, planAcceptance, planQuoting } from '../quotes/plans.ts'
import { isPriced, notPriced } from '../quotes/projection.ts'
import { newEndTimers } from '../term-end.ts'

/** Plans a new policy. With `finalize`, also prices and underwrites it. */
export async function decideCreation(
  request: PolicyCreateRequest,
  context: NewPolicyContext,
  attempt: Attempt,
): Promise<Planned> {
  const { aggregate, reported } = requestedDraft(request, context, attempt)
  const created = planCreation(aggregate)
  return await validateAndFinalize(created, reported, request.finalize, { ...context, aggregate }, attempt)
}

/** Plans the change of a policy that is not issued. Throws 409 unless its state is `created`. */
export async function decideUpdate(
  request: PolicyUpdateRequest,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const { product, aggregate } = loaded
  const { timeZone } = aggregate.policy
  const { reported, ...updated } = planUpdate(aggregate, request, { product, timeZone, ...attempt })
  return await validateAndFinalize(updated, reported, request.finalize, loaded, attempt)
}

/** Prices, underwrites and accepts the selected quote. Throws 409 if the policy's state does not allow it. */
export async function decideFinalization(loaded: Loaded, attempt: Attempt): Promise<Planned> {
  assertPolicyAllows(loaded.aggregate, 'finalize')
  return await validateAndFinalize(
    { aggregate: loaded.aggregate, events: [] },
    NOTHING_REPORTED,
    true,
    loaded,
    attempt,
  )
}

async function validateAndFinalize(
  draft: Planned,
  reported: ReportedProblems,
  finalize: boolean,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const { aggregate } = draft
  assertWithinLimits(aggregate)
  if (policyState(aggregate) === 'created')
    await assertQuoteValid(aggregate, selectedQuote(aggregate), loaded, attempt, finalize, reported)
  if (!finalize) return draft
  const finalized = await planFinalization(aggregate, ratingContext(loaded, attempt))
  const after = finalized.aggregate
  const billed = await billOnAcceptance(after, loaded, attempt)
  return combineSteps(
    draft,
    finalized,
    billed ?? (await planUnbilledQuote(after, selectedQuote(after).locator, loaded, attempt)),
  )
}

/** Issues the policy: bills its accepted quote and sets the timers of its end. */
export async function decideIssue(loaded: Loaded, attempt: Attempt): Promise<Planned> {
  const issued = planIssue(loaded.aggregate, attempt.now)
  const timers = newEndTimers(issued.aggregate.policy, undefined, loaded.product, attempt.now)
  return combineSteps({ ...issued, timers }, await billAcceptedQuote(issued.aggregate, loaded, attempt))
}

/** Discards the policy and its quotes, and reverses what was paid. Throws 409 once it is issued or discarded. */
export const decideDiscard = (loaded: Loaded, attempt: Attempt): Planned =>
  planDiscard(loaded.aggregate, attempt.now)

/** Returns the stored price, or the present price of a valid draft. Stores nothing. */
export async function decidePrice(loaded: Loaded, attempt: Attempt): Promise<PolicyPriceResponse> {
  const quote = selectedQuote(loaded.aggregate)
  const priced = await ensurePriced(loaded, quote, attempt)
  return policyPriceResponse(policyView(priced, quote, loaded.product, isIssued))
}

/** Returns the stored underwriting result, or underwrites a valid draft now. Stores nothing. */
async function decideUnderwriting(
  loaded: Loaded,
  attempt: Attempt,
): Promise<AutomatedUnderwritingResultResponse> {
  const quote = selectedQuote(loaded.aggregate)
  const result =
    quote.underwriting ??
    (await underwriteQuote(await ensurePriced(loaded, quote, attempt), quote, ratingContext(loaded, attempt)))
  return underwritingResponse(result)
}

async function ensurePriced(loaded: Loaded, quote: Quote, attempt: Attempt): Promise<PolicyAggregate> {
  const { aggregate } = loaded
  if (isPriced(aggregate, quote)) return aggregate
  if (quote.state !== 'draft')
    throw wrongState(`Policy ${aggregate.policy.locator} is ${policyState(aggregate)} and was never priced.`)
  await assertQuoteValid(aggregate, quote, loaded, attempt, true)
  return await priceQuote(aggregate, quote, ratingContext(loaded, attempt))
}

type Written = { readonly due: boolean; readonly answer: JsonAnswer }

/**
 * The last price answer of each policy in memory. A stored price depends only on the policy, and a `Loaded` never changes: a
 * change creates a new one, and the old answer is collected with the old one. object/memory.ts limits its size, and
 * object/execution.ts its age.
 */
const writtenOf = new WeakMap<Loaded, Written>()

/**
 * Returns the stored price, or the present price of a valid draft, with `due` in the form of GET. A stored price is serialized
 * once and repeated while the object remembers the policy.
 */
async function priceAnswer(loaded: Loaded, due: boolean, attempt: Attempt): Promise<JsonAnswer> {
  const written = writtenOf.get(loaded)
  if (written?.due === due) return written.answer
  const price = await decidePrice(loaded, attempt)
  const answer = jsonAnswer(due ? getPolicyPriceResponse(price) : price)
  const { aggregate } = loaded
  if (isPriced(aggregate, selectedQuote(aggregate))) writtenOf.set(loaded, { due, answer })
  return answer
}

function planCreation(draft: PolicyAggregate): Planned {
  return {
    aggregate: draft,
    events: [
      policyEvent(draft, 'policy.create', versionProperties(draft)),
      quoteEvent(draft, selectedQuote(draft), 'policy.quote.create'),
    ],
  }
}

/** Updates the selected quote. Problems of its content are in `reported`. */
function planUpdate(
  before: PolicyAggregate,
  request: PolicyUpdateRequest,
  context: DraftContext,
): Planned & Pick<DraftResult, 'reported'> {
  assertPolicyAllows(before, 'update')
  const { aggregate, reported } = changeQuote(before, selectedQuote(before), request, context)
  return {
    aggregate,
    reported,
    events: [
      policyEvent(aggregate, 'policy.update', versionProperties(aggregate)),
      quoteEvent(aggregate, selectedQuote(aggregate), 'policy.quote.update'),
    ],
  }
}

/** Quotes and accepts the selected quote (brief 1.2). Expects valid data. */
async function planFinalization(before: PolicyAggregate, context: RatingContext): Promise<Planned> {
  assertPolicyAllows(before, 'finalize')
  const { policyholder, now } = context
  if (!policyholder.completed)
    throw new Refusal(
      'policyholderIncomplete',
      `Policyholder '${policyholder.locator}' is not completed; update it with completed=true, then finalize.`,
    )
  const selected = selectedQuote(before)
  const quoting = selected.state === 'draft' ? await planQuoting(before, selected, context) : undefined
  const quoted = selectedQuote(quoting?.aggregate ?? before)
  const accepting =
    quoted.state === 'quoted' ? planAcceptance(quoting?.aggregate ?? before, quoted, now) : undefined
  const { aggregate, events } = combineSteps({ aggregate: before, events: [] }, quoting, accepting)
  const quote = selectedQuote(aggregate)
  const data = { ...versionProperties(aggregate), decision: quote.underwriting!.decision }
  return { aggregate, events: [...events, policyEvent(aggregate, 'policy.finalize', data)] }
}

/** Issues the accepted quote, and with it its modification and everything that the modification created. */
function planIssue(before: PolicyAggregate, now: Instant): Planned {
  assertPolicyAllows(before, 'issue')
  const quote: Quote = { ...acceptedQuote(before)!, issuedAt: now, updatedAt: now }
  const { modification } = quoteParts(before, quote)
  const after: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, issuedAt: now, updatedAt: now },
    quotes: putRecords(before.quotes, [quote]),
    modifications: putRecords(before.modifications, [{ ...modification, issuedAt: now, updatedAt: now }]),
  }
  const data = { ...versionProperties(after), issuedTimestamp: String(now) }
  return { aggregate: after, events: [policyEvent(after, 'policy.issue', data)] }
}

/**
 * Discards the policy with all its quotes, voids their invoices and reverses the payments, since nothing is owed for a policy
 * that never existed. Brief 1.2 mentions only unpaid invoices; paid ones are treated as in 1.3.
 */
function planDiscard(before: PolicyAggregate, now: Instant): Planned {
  assertPolicyAllows(before, 'discard')
  const voided = planVoidInvoices(before, [...before.invoices.values()], now)
  const open = [...before.quotes.values()].filter(quote => quote.state !== 'discarded')
  const discarded = open.map((quote): Quote => ({ ...quote, state: 'discarded', updatedAt: now }))
  const after: PolicyAggregate = {
    ...voided.aggregate,
    policy: { ...before.policy, discardedAt: now, updatedAt: now },
    quotes: putRecords(before.quotes, discarded),
  }
  return {
    aggregate: after,
    events: [
      ...voided.events,
      ...discarded.map(quote => quoteEvent(after, quote, 'policy.quote.discard')),
      policyEvent(after, 'policy.discard', versionProperties(after)),
    ],
  }
}

/**
 * Returns the price with its worksheet: of the quote, or of the policy with everything issued. Recorded transactions are rated
 * again with the inputs of that time; a draft of the policy is priced as of now.
 */
async function explainedPrice(
  loaded: Loaded,
  { due, quote: locator, explain = {} }: PolicyOperations['price'],
  { attempt, context, database }: Run,
): Promise<JsonAnswer> {
  const quote = locator === undefined ? selectedQuote(loaded.aggregate) : quoteOf(loaded.aggregate, locator)
  const isRecorded = isPriced(loaded.aggregate, quote)
  if (!isRecorded && locator !== undefined) throw notPriced(quote)
  const policy = loaded.aggregate.policy.locator
  const explaining = await explainingOf(context, explain, { attempt, database, policy })
  const asked = { ...attempt, explaining }
  const aggregate = await ensurePriced(loaded, quote, asked)
  const counts = locator === undefined ? isIssued : () => false
  const view = policyView(aggregate, quote, loaded.product, counts)
  if (isRecorded) await rateAgain({ view, loaded, attempt }, explaining)
  const { worksheetOf } = await import('../../rating/worksheet/build.ts')
  const worksheet = worksheetOf({ view, record: explaining.record, isRecorded })
  const price = policyPriceResponse(view)
  return jsonAnswer({ ...(due ? getPolicyPriceResponse(price) : price), worksheet })
}

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** `digits` are the leased locators. The first is the policy's. */
    create: { request: PolicyCreateRequest; digits: number[]; summarizeQuotes: boolean }
    update: { request: PolicyUpdateRequest }
    finalize: object
    issue: object
    discard: object
    /** Stores nothing. `due`: in the form of GET. `explain`: with a worksheet. `quote`: of that quote. */
    price: { due: boolean; quote?: QuoteLocator; explain?: Selection }
    underwriting: object
  }
  interface Previews {
    issue: object
  }
}

const creation: FirstKind<'create'> = {
  name: 'create',
  async begin(operation, { surroundings, autofill, lease, attemptWith }) {
    const newPolicy = await surroundings(operation.request)
    const request = await autofill.creation(operation.request, newPolicy)
    const { digits } = operation
    const more = await lease(digitsForNewDraft(request.exposures) - digits.length)
    const locator = digits[0] as PolicyLocator
    const supply = locatorSupply(shardOfDigits(locator), [...digits, ...more])
    const attempt = attemptWith(supplyOf(locator, supply))
    const planned = await autofill.explaining(decideCreation(request, newPolicy, attempt))
    const loaded = { ...newPolicy, aggregate: planned.aggregate }
    return { planned, loaded, attempt, response: showPolicy(operation) }
  },
}

const update = defineKind<'update'>({
  name: 'update',
  fill: async (operation, loaded, autofill) => ({
    ...operation,
    request: await autofill.update(operation.request, loaded),
  }),
  locators: ({ request }) => digitsForChanges(request),
  decide: async (loaded, { request }, { attempt }) => ({
    planned: await decideUpdate(request, loaded, attempt),
  }),
})

const finalization = defineKind<'finalize'>({
  name: 'finalize',
  decide: async (loaded, _, { attempt }) => ({ planned: await decideFinalization(loaded, attempt) }),
})

const issue = defineKind<'issue'>({
  name: 'issue',
  decide: async (loaded, _, { attempt }) => ({ planned: await decideIssue(loaded, attempt) }),
  previews: {
    issue: {
      async carryOut(loaded, _, attempt) {
        const planned = await decideIssue(loaded, attempt)
        const { modification } = quoteParts(planned.aggregate, acceptedQuote(planned.aggregate)!)
        return { planned, modificationLocator: modification.locator }
      },
      issuedBy: asked => (asked.kind === 'issue' ? { request: {}, at: () => asked } : undefined),
    },
  },
})

const discard = defineKind<'discard'>({
  name: 'discard',
  decide: (loaded, _, { attempt }) => ({ planned: decideDiscard(loaded, attempt), response: showNothing }),
})

const price = defineKind<'price'>({
  name: 'price',
  isReadOnly: () => true,
  decide: async (loaded, operation, run) => ({
    answer: operation.explain
      ? await explainedPrice(loaded, operation, run)
      : await priceAnswer(loaded, operation.due, run.attempt),
  }),
})

const underwriting = defineKind<'underwriting'>({
  name: 'underwriting',
  isReadOnly: () => true,
  decide: async (loaded, _, { attempt }) => ({
    answer: jsonAnswer(await decideUnderwriting(loaded, attempt)),
  }),
})

export const newBusinessKinds = [creation, update, finalization, issue, discard, price, underwriting]
