// Plans new business: the aggregate after each action, with its events.
import { planVoidInvoices } from '../../billing/payments.ts'
import { Refusal } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/time.ts'
import type { PolicyUpdateRequest } from '../../policy/contract/requests.ts'
import type { DraftContext, DraftResult } from '../../policy/draft/draft.ts'
import {
  acceptedQuote,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  selectedQuote,
} from '../../policy/records/aggregate.ts'
import {
  assertPolicyAllows,
  chain,
  type Planned,
  policyEvent,
  quoteEvent,
  versioned,
} from '../../policy/transitions.ts'
import type { RatingContext } from '../../rating/rater.ts'
import { changeQuote, planAcceptance, planQuoting } from '../quotes/plans.ts'

export function planCreation(draft: PolicyAggregate): Planned {
  return {
    aggregate: draft,
    events: [
      policyEvent(draft, 'policy.create', versioned(draft)),
      quoteEvent(draft, selectedQuote(draft), 'policy.quote.create'),
    ],
  }
}

/** The draft after an update, which applies to the selected quote; problems of its content are in `reported`. */
export function planUpdate(
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
      policyEvent(aggregate, 'policy.update', versioned(aggregate)),
      quoteEvent(aggregate, selectedQuote(aggregate), 'policy.quote.update'),
    ],
  }
}

/** Finalize = quote and accept the selected quote (brief 1.2). Its data is valid. */
export async function planFinalization(before: PolicyAggregate, context: RatingContext): Promise<Planned> {
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
  const { aggregate, events } = chain({ aggregate: before, events: [] }, quoting, accepting)
  const quote = selectedQuote(aggregate)
  return {
    aggregate,
    events: [
      ...events,
      policyEvent(aggregate, 'policy.finalize', {
        ...versioned(aggregate),
        decision: quote.underwriting!.decision,
      }),
    ],
  }
}

/** Issues the accepted quote: with its modification, everything it made is issued. */
export function planIssue(before: PolicyAggregate, now: Instant): Planned {
  assertPolicyAllows(before, 'issue')
  const quote: Quote = { ...acceptedQuote(before)!, issuedAt: now, updatedAt: now }
  const { modification } = quoteParts(before, quote)
  const after: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, issuedAt: now, updatedAt: now },
    quotes: putRecords(before.quotes, [quote]),
    modifications: putRecords(before.modifications, [{ ...modification, issuedAt: now, updatedAt: now }]),
  }
  return {
    aggregate: after,
    events: [
      policyEvent(after, 'policy.issue', {
        ...versioned(after),
        issuedTimestamp: String(now),
      }),
    ],
  }
}

/**
 * Discards the policy with all its quotes. Its invoices are void, and payments of them are reversed: nothing is paid
 * for a policy that never was (brief 1.2 speaks of unpaid invoices; paid ones are no different, as in 1.3).
 */
export function planDiscard(before: PolicyAggregate, now: Instant): Planned {
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
      policyEvent(after, 'policy.discard', versioned(after)),
    ],
  }
}
