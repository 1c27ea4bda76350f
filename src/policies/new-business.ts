// The plans of new business: what each action makes of the aggregate and which events tell of it. Pure; the
// service loads, commits and answers (docs/design.md, section 4).
import { amountsDue, type Invoicing, invoiceWhatIsDue, planNewBusiness } from '../billing/bill.ts'
import { afterAction, isOutstanding } from '../billing/invoice.ts'
import type { ProductDefinition } from '../configuration/configuration.ts'
import type { NewEvent } from '../events/outbox.ts'
import type { NewTimer } from '../platform/commit.ts'
import { Refusal } from '../platform/errors.ts'
import type { LocatorSupply } from '../platform/locators.ts'
import { add, type Instant, type Span, startOfDay, type TimeZone } from '../platform/time.ts'
import { priceQuote, type RatingContext, underwriteQuote } from '../rating/rate.ts'
import { POLICY_LIMITS, type PolicyAggregate, type Quote, selectedQuote, withRecords } from './aggregate.ts'
import type { PolicyUpdateRequest } from './contract/requests.ts'
import { changeDraft } from './draft/changes.ts'
import { spanDraft } from './draft/draft.ts'
import type { DraftContext, DraftResult } from './draft/request.ts'
import { invoiceEvent, invoiceEvents, policyEvent, quoteEvent, versioned } from './events.ts'
import { quoteParts } from './quote-parts.ts'
import { assertAllowed } from './transitions.ts'

/** What an action makes: the aggregate after it, and its events in the order of the state changes. */
export type Planned = { aggregate: PolicyAggregate; events: NewEvent[]; timers?: NewTimer[] }

/** The contract's span: from midnight today, for a calendar year, unless told (brief 7). */
export function contractSpan(
  start: Instant | undefined,
  end: Instant | undefined,
  timeZone: TimeZone,
  now: Instant,
): Span {
  const from = start ?? startOfDay(now, timeZone)
  const to = end ?? add(from, 1, 'year', timeZone)
  assertSpan({ start: from, end: to })
  return { start: from, end: to }
}

function assertSpan({ start, end }: Span): void {
  if (end <= start)
    throw new Refusal(
      'invalidRequest',
      `policyEndTimestamp ${end} must lie after policyStartTimestamp ${start}.`,
    )
}

/** The payment schedule of that name, or the product's first. */
export function paymentSchedule(product: ProductDefinition, name: string | undefined): string {
  const { paymentSchedules } = product
  const found = name === undefined ? paymentSchedules[0] : paymentSchedules.find(one => one.name === name)
  if (found) return found.name
  const known = paymentSchedules.map(one => `'${one.name}'`).join(', ')
  throw new Refusal(
    'invalidRequest',
    `Product '${product.name}' has no payment schedule '${name}'; it has ${known}.`,
  )
}

/** Refuses what would pass the limits of a policy. */
export function assertWithinLimits({ exposures, perils }: PolicyAggregate): void {
  const over =
    exposures.size > POLICY_LIMITS.exposures
      ? `${exposures.size} exposures; the limit is ${POLICY_LIMITS.exposures}`
      : perils.size > POLICY_LIMITS.perils
        ? `${perils.size} perils; the limit is ${POLICY_LIMITS.perils}`
        : undefined
  if (over) throw new Refusal('policyLimit', `The policy would have ${over}. Split it into several policies.`)
}

export function planCreation(draft: PolicyAggregate): Planned {
  const quote = selectedQuote(draft)
  return {
    aggregate: draft,
    events: [
      policyEvent(draft, 'policy.create', versioned(draft)),
      quoteEvent(draft, quote, 'policy.quote.create'),
    ],
  }
}

/** The draft after an update; problems of its content are in `reported`. */
export function planUpdate(
  before: PolicyAggregate,
  request: PolicyUpdateRequest,
  context: DraftContext,
): Planned & Pick<DraftResult, 'reported'> {
  assertAllowed(before, 'update')
  const { now, product } = context
  const quote = selectedQuote(before)
  const contract = {
    start: request.policyStartTimestamp ?? quote.contractStart,
    end: request.policyEndTimestamp ?? quote.contractEnd,
  }
  assertSpan(contract)
  const spanned = spanDraft(before, quote, contract)
  const { aggregate, reported } = changeDraft(spanned, selectedQuote(spanned), request, context)
  const paymentScheduleName =
    request.paymentScheduleName === undefined
      ? quote.paymentScheduleName
      : paymentSchedule(product, request.paymentScheduleName)
  const changed: Quote = { ...selectedQuote(aggregate), paymentScheduleName, updatedAt: now }
  const after: PolicyAggregate = {
    ...aggregate,
    policy: { ...aggregate.policy, paymentScheduleName, updatedAt: now },
    quotes: withRecords(aggregate.quotes, [changed]),
  }
  return {
    aggregate: after,
    reported,
    events: [
      policyEvent(after, 'policy.update', versioned(after)),
      quoteEvent(after, changed, 'policy.quote.update'),
    ],
  }
}

/** Finalize = quote and accept the selected quote: lock, price, underwrite (brief 1.2). The draft is valid. */
export function planFinalization(before: PolicyAggregate, context: RatingContext): Planned {
  assertAllowed(before, 'finalize')
  const { now, policyholder } = context
  if (!policyholder.completed)
    throw new Refusal(
      'policyholderIncomplete',
      `Policyholder '${policyholder.locator}' is not completed; update it with completed=true, then finalize.`,
    )
  const draft = selectedQuote(before)
  const priced = priceQuote(before, draft, context)
  const underwriting = underwriteQuote(priced, context)
  const accepted = underwriting.decision === 'accept'
  const quote: Quote = { ...draft, state: accepted ? 'accepted' : 'declined', underwriting, updatedAt: now }
  const { modification } = quoteParts(priced, draft)
  const after: PolicyAggregate = {
    ...priced,
    policy: { ...priced.policy, finalizedAt: now, updatedAt: now },
    quotes: withRecords(priced.quotes, [quote]),
    modifications: withRecords(priced.modifications, [{ ...modification, underwriting, updatedAt: now }]),
  }
  const decision = { decision: underwriting.decision }
  const decided = accepted
    ? [
        quoteEvent(after, quote, 'policy.quote.quoted', decision),
        quoteEvent(after, quote, 'policy.quote.accept'),
      ]
    : [quoteEvent(after, quote, 'policy.quote.declined', decision)]
  return {
    aggregate: after,
    events: [
      ...decided,
      policyEvent(after, 'policy.finalize', {
        ...versioned(after),
        quoteLocator: String(quote.locator),
        ...decision,
      }),
    ],
  }
}

/** The plan of the quote's payments, made with the transaction that invoices it. */
export function planBilling(
  before: PolicyAggregate,
  product: ProductDefinition,
  now: Instant,
  supply: LocatorSupply,
): PolicyAggregate {
  const quote = selectedQuote(before)
  const { modification } = quoteParts(before, quote)
  const planned = [...before.installments.values()].some(
    one => one.modificationLocator === modification.locator,
  )
  return planned ? before : planNewBusiness(before, quote, { product, now, supply })
}

/** Invoices what is due of the quote's plan, with the events of each invoice. */
export function planInvoices(before: PolicyAggregate, now: Instant, supply: LocatorSupply): Planned {
  const { modification } = quoteParts(before, selectedQuote(before))
  const { aggregate, made }: Invoicing = invoiceWhatIsDue(before, modification, { now, supply })
  return {
    aggregate,
    events: made.flatMap(({ invoice, totalDue }) => invoiceEvents(aggregate, invoice, totalDue)),
  }
}

/** Issues the accepted quote: with its modification, everything it made is issued. */
export function planIssue(before: PolicyAggregate, now: Instant): Planned {
  assertAllowed(before, 'issue')
  const quote: Quote = { ...selectedQuote(before), issuedAt: now, updatedAt: now }
  const { modification } = quoteParts(before, quote)
  const after: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, issuedAt: now, updatedAt: now },
    quotes: withRecords(before.quotes, [quote]),
    modifications: withRecords(before.modifications, [{ ...modification, issuedAt: now, updatedAt: now }]),
  }
  return {
    aggregate: after,
    events: [
      policyEvent(after, 'policy.issue', {
        ...versioned(after),
        quoteLocator: String(quote.locator),
        issuedTimestamp: String(now),
      }),
    ],
  }
}

/** Discards the policy with all its quotes; invoices that are not paid become void. */
export function planDiscard(before: PolicyAggregate, now: Instant): Planned {
  assertAllowed(before, 'discard')
  const outstanding = [...before.invoices.values()].filter(isOutstanding)
  const invalidated = outstanding.map(invoice => afterAction(invoice, 'invalidate', now))
  const open = [...before.quotes.values()].filter(quote => quote.state !== 'discarded')
  const discarded = open.map((quote): Quote => ({ ...quote, state: 'discarded', updatedAt: now }))
  const after: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, discardedAt: now, updatedAt: now },
    quotes: withRecords(before.quotes, discarded),
    invoices: withRecords(before.invoices, invalidated),
  }
  const due = amountsDue(after, quoteParts(after, selectedQuote(after)).modification)
  return {
    aggregate: after,
    events: [
      ...invalidated.map(invoice =>
        invoiceEvent(after, 'invoice.invalidate', invoice, due[invoice.installmentNumber - 1]!),
      ),
      ...discarded.map(quote => quoteEvent(after, quote, 'policy.quote.discard')),
      policyEvent(after, 'policy.discard', versioned(after)),
    ],
  }
}
