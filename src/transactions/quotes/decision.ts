// Decides each action on a quote: pure plans over the loaded policy.
import { billOnAcceptance, planUnbilledQuote } from '../../billing/billing.ts'
import { Refusal, wrongState } from '../../kernel/errors.ts'
import type { QuoteLocator } from '../../kernel/locators.ts'
import { assertWithinLimits } from '../../policy/limits.ts'
import { type PolicyAggregate, quoteParts } from '../../policy/records/aggregate.ts'
import { digitsForChanges, quoteOf } from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { combineSteps, type Planned, policyState } from '../../policy/transitions.ts'
import { type Attempt, type Referral, ratingContext } from '../../rating/rate.ts'
import { assertQuoteValid } from '../constraints/validation.ts'
import { defineKind, type Response, showNothing, showRecord } from '../mechanism/kind.ts'
import type { PolicyQuoteUpdateRequest } from './contract-quote.ts'
import {
  digitsForCopy,
  planAcceptance,
  planCopy,
  planInvalidation,
  planQuoteDiscard,
  planQuoteUpdate,
  planQuoting,
  planReferral,
  planSelection,
} from './plans.ts'
import { QUOTES, quotePrice } from './projection.ts'

export type QuoteOperation =
  | { action: 'update'; request: PolicyQuoteUpdateRequest }
  | { action: 'copy'; request: PolicyQuoteUpdateRequest }
  | { action: 'quote' | 'accept' | 'invalidate' | 'discard' | 'select' }
  | ({ action: 'refer' } & Referral)

/** The result, and the quote that the answer shows. */
export type QuoteDecision = { planned: Planned; quote: QuoteLocator }

/** Rejects with 404 a quote of another policy, and with 409 an action that the state of the quote or the policy does not allow. */
export async function decideQuote(
  loaded: Loaded,
  locator: QuoteLocator,
  operation: QuoteOperation,
  attempt: Attempt,
): Promise<QuoteDecision> {
  const { aggregate } = loaded
  const quote = quoteOf(aggregate, locator)
  assertUnbound(aggregate)
  const { now } = attempt
  if (operation.action === 'copy') {
    const digits = digitsForCopy(aggregate, quote) + 2 * digitsForChanges(operation.request)
    const context = await draftContext(loaded, attempt, digits)
    const { reported, quote: copy, ...planned } = planCopy(aggregate, quote, operation.request, context)
    assertWithinLimits(planned.aggregate)
    await assertQuoteValid(planned.aggregate, copy, loaded, attempt, false, reported)
    return { planned, quote: copy.locator }
  }
  const rating = () => ratingContext(loaded, attempt, quoteParts(aggregate, quote).modification)
  const withBills = async (planned: Planned): Promise<Planned> =>
    combineSteps(planned, await planUnbilledQuote(planned.aggregate, locator, loaded, attempt))
  const planned = async (): Promise<Planned> => {
    switch (operation.action) {
      case 'update': {
        const context = await draftContext(loaded, attempt, digitsForChanges(operation.request))
        const { reported, ...planned } = planQuoteUpdate(aggregate, quote, operation.request, context)
        assertWithinLimits(planned.aggregate)
        const changed = quoteOf(planned.aggregate, locator)
        await assertQuoteValid(planned.aggregate, changed, loaded, attempt, false, reported)
        return planned
      }
      case 'quote':
        await assertQuoteValid(aggregate, quote, loaded, attempt, true)
        return await withBills(await planQuoting(aggregate, quote, rating()))
      case 'accept': {
        assertCompleted(loaded)
        const accepted = planAcceptance(aggregate, quote, now)
        return combineSteps(accepted, await billOnAcceptance(accepted.aggregate, loaded, attempt))
      }
      case 'invalidate':
        return planInvalidation(aggregate, quote, now)
      case 'discard':
        return planQuoteDiscard(aggregate, quote, now)
      case 'select':
        return planSelection(aggregate, quote, now)
      case 'refer':
        return await withBills(planReferral(aggregate, quote, operation, rating()))
    }
  }
  return { planned: await planned(), quote: locator }
}

const draftContext = async ({ product, aggregate }: Loaded, { now, digits }: Attempt, count: number) => ({
  product,
  timeZone: aggregate.policy.timeZone,
  now,
  supply: await digits(count),
})

/** Rejects an issued or discarded policy, whose quotes are read-only. */
function assertUnbound(aggregate: PolicyAggregate): void {
  const state = policyState(aggregate)
  if (state === 'issued' || state === 'withdrawn' || state === 'discarded')
    throw wrongState(
      `Policy ${aggregate.policy.locator} is ${state}; its quotes can be read but no longer changed.`,
    )
}

/** Rejects an incomplete policyholder: as on finalization, the account that accepts must be known (brief 1.2). */
function assertCompleted({ policyholder }: Loaded): void {
  if (!policyholder.completed)
    throw new Refusal(
      'policyholderIncomplete',
      `Policyholder '${policyholder.locator}' is not completed; update it with completed=true, then accept.`,
    )
}

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    quote: { quote: QuoteLocator; operation: QuoteOperation }
  }
}

const showPrice =
  (locator: QuoteLocator): Response =>
  ({ aggregate, product }) =>
    quotePrice(aggregate, quoteOf(aggregate, locator), product)

export const quoteKind = defineKind<'quote'>({
  name: 'quote',
  record: ({ quote }) => showRecord(QUOTES, quote),
  async decide(loaded, { quote: locator, operation }, { attempt }) {
    const { planned, quote } = await decideQuote(loaded, locator, operation, attempt)
    return { planned, response: responseTo(operation, quote), subject: String(quote) }
  },
})

function responseTo({ action }: QuoteOperation, quote: QuoteLocator): Response {
  if (action === 'select') return showNothing
  return action === 'quote' ? showPrice(quote) : showRecord(QUOTES, quote)
}
