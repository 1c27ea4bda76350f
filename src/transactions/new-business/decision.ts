// What each operation on a policy decides: pure plans over what was loaded, in the order validate, price,
// underwrite, bill.
import { bill, billOnAcceptance, showBills } from '../../billing/billing.ts'
import { wrongState } from '../../kernel/errors.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type {
  AutomatedUnderwritingResultResponse,
  PolicyPriceResponse,
} from '../../policy/contract/prices.ts'
import type { PolicyCreateRequest, PolicyUpdateRequest } from '../../policy/contract/requests.ts'
import { type ReportedProblems, requestedDraft } from '../../policy/draft/draft.ts'
import { isIssued } from '../../policy/fold/line.ts'
import { underwritingResponse } from '../../policy/projection/characteristics.ts'
import { policyView } from '../../policy/projection/policy.ts'
import { type PolicyAggregate, type Quote, selectedQuote } from '../../policy/records/aggregate.ts'
import { assertWithinLimits, type Ground, type Loaded } from '../../policy/surroundings.ts'
import { assertPolicyAllows, chain, type Planned, policyState } from '../../policy/transitions.ts'
import { getPolicyPriceResponse, policyPriceResponse } from '../../rating/price.ts'
import {
  type Attempt,
  NOTHING_REPORTED,
  priceQuote,
  ratingContext,
  underwriteQuote,
} from '../../rating/rate.ts'
import { assertQuoteValid } from '../constraints/validation.ts'
import { json } from '../mechanism/kind.ts'
import { isPriced } from '../quotes/projection.ts'
import { termEndTimers } from '../term-end.ts'
import { planCreation, planDiscard, planFinalization, planIssue, planUpdate } from './issue.ts'

export async function decideCreation(
  request: PolicyCreateRequest,
  ground: Ground,
  attempt: Attempt,
): Promise<Planned> {
  const { aggregate, reported } = requestedDraft(request, ground, attempt)
  const created = planCreation(aggregate)
  return await completed(created, reported, request.finalize, { ...ground, aggregate }, attempt)
}

export async function decideUpdate(
  request: PolicyUpdateRequest,
  loaded: Loaded,
  attempt: Attempt,
): Promise<Planned> {
  const { product, aggregate } = loaded
  const { timeZone } = aggregate.policy
  const { reported, ...updated } = planUpdate(aggregate, request, { product, timeZone, ...attempt })
  return await completed(updated, reported, request.finalize, loaded, attempt)
}

export async function decideFinalization(loaded: Loaded, attempt: Attempt): Promise<Planned> {
  assertPolicyAllows(loaded.aggregate, 'finalize')
  return await completed({ aggregate: loaded.aggregate, events: [] }, NOTHING_REPORTED, true, loaded, attempt)
}

/** The draft checked, and finalized if so asked. */
async function completed(
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
  return chain(
    draft,
    finalized,
    billed ?? (await showBills(after, selectedQuote(after).locator, loaded, attempt)),
  )
}

export async function decideIssue(loaded: Loaded, attempt: Attempt): Promise<Planned> {
  const issued = planIssue(loaded.aggregate, attempt.now)
  const timers = termEndTimers(issued.aggregate.policy, loaded.product, attempt.now)
  return chain({ ...issued, timers }, await bill(issued.aggregate, loaded, attempt))
}

export const decideDiscard = (loaded: Loaded, attempt: Attempt): Planned =>
  planDiscard(loaded.aggregate, attempt.now)

/** The price of the selected quote: as stored, or of a valid draft as it would be now (nothing is stored). */
export async function decidePrice(loaded: Loaded, attempt: Attempt): Promise<PolicyPriceResponse> {
  const quote = selectedQuote(loaded.aggregate)
  const priced = await pricedNow(loaded, quote, attempt)
  return policyPriceResponse(policyView(priced, quote, loaded.product, isIssued))
}

/** The underwriting result: as stored, or of a valid draft as it would be now (nothing is stored). */
export async function decideUnderwriting(
  loaded: Loaded,
  attempt: Attempt,
): Promise<AutomatedUnderwritingResultResponse> {
  const quote = selectedQuote(loaded.aggregate)
  const result =
    quote.underwriting ??
    (await underwriteQuote(await pricedNow(loaded, quote, attempt), quote, ratingContext(loaded, attempt)))
  return underwritingResponse(result)
}

async function pricedNow(loaded: Loaded, quote: Quote, attempt: Attempt): Promise<PolicyAggregate> {
  const { aggregate } = loaded
  if (isPriced(aggregate, quote)) return aggregate
  if (quote.state !== 'draft')
    throw wrongState(`Policy ${aggregate.policy.locator} is ${policyState(aggregate)} and was never priced.`)
  await assertQuoteValid(aggregate, quote, loaded, attempt, true)
  return await priceQuote(aggregate, quote, ratingContext(loaded, attempt))
}

type Written = { readonly due: boolean; readonly answer: JsonAnswer }

/**
 * What was answered last of a policy that an object remembers. What is stored of a price follows from the policy alone, which
 * never changes: another one takes its place, and this one's answer goes with it (object/execution.ts says when, and how large it may be).
 */
const writtenOf = new WeakMap<Loaded, Written>()

/** The price, `due` in the form of GET: as stored, or of a valid draft as it would be now. */
export async function priceAnswer(loaded: Loaded, due: boolean, attempt: Attempt): Promise<JsonAnswer> {
  const written = writtenOf.get(loaded)
  if (written?.due === due) return written.answer
  const price = await decidePrice(loaded, attempt)
  const answer = json(due ? getPolicyPriceResponse(price) : price)
  const { aggregate } = loaded
  if (isPriced(aggregate, selectedQuote(aggregate))) writtenOf.set(loaded, { due, answer })
  return answer
}
