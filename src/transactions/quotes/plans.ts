// Plans the actions on a quote, with their events (brief 1.3). Pure.
import { planNewBusiness } from '../../billing/billing.ts'
import { planVoidInvoices } from '../../billing/payments.ts'
import { wrongState } from '../../kernel/errors.ts'
import type { DisplayId, QuoteLocator } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import type { QuoteState } from '../../policy/contract/response.ts'
import { changeDraft } from '../../policy/draft/changes.ts'
import { type DraftContext, type DraftResult, spanDraft, withParents } from '../../policy/draft/draft.ts'
import {
  acceptedQuote,
  type Modification,
  type PolicyAggregate,
  putRecords,
  type Quote,
  quoteParts,
  withTermsOf,
} from '../../policy/records/aggregate.ts'
import type { DraftChanges, UnderwritingResult } from '../../policy/records/transactions.ts'
import { paymentSchedule, validSpan } from '../../policy/surroundings.ts'
import { type Planned, quoteEvent, underwritingNotesText } from '../../policy/transitions.ts'
import { hasPlugin } from '../../product/configuration.ts'
import { priceQuote, type Referral, underwriteQuote } from '../../rating/rate.ts'
import type { RatingContext } from '../../rating/rater.ts'

export type QuoteAction =
  | 'update'
  | 'quote'
  | 'accept'
  | 'invalidate'
  | 'discard'
  | 'select'
  | 'copy'
  | 'refer'

const DECIDED = ['policy.quote.quoted', 'policy.quote.declined'] as const

/** Every action also needs a policy that is neither issued nor discarded (decision.ts). */
export const QUOTE_TRANSITIONS: TransitionTable<QuoteAction, QuoteState> = {
  update: { from: ['draft'], to: 'draft', event: 'policy.quote.update', past: 'updated' },
  quote: { from: ['draft'], to: ['quoted', 'declined'], event: DECIDED, past: 'quoted' },
  accept: { from: ['quoted'], to: 'accepted', event: 'policy.quote.accept', past: 'accepted' },
  invalidate: { from: ['accepted'], to: 'quoted', event: 'policy.quote.update', past: 'invalidated' },
  /** An accepted quote must be invalidated first. */
  discard: {
    from: ['draft', 'quoted', 'declined'],
    to: 'discarded',
    event: 'policy.quote.discard',
    past: 'discarded',
  },
  select: { from: ['draft', 'quoted', 'declined', 'accepted'], to: 'same', past: 'selected' },
  copy: {
    from: ['draft', 'quoted', 'declined', 'accepted', 'discarded'],
    to: 'same',
    event: 'policy.quote.create',
    past: 'copied',
  },
  /** A person overrides underwriting: an acceptance turns a declined quote into a quoted one, and a refusal the reverse. */
  refer: {
    from: ['quoted', 'declined'],
    to: ['quoted', 'declined'],
    event: DECIDED,
    past: 'decided by a person',
  },
}

/** Rejects with 409 an action that the quote's state does not allow. The message for a declined quote has underwriting's notes. */
function assertQuoteAllows(quote: Quote, action: QuoteAction): void {
  const because = quote.state === 'declined' ? underwritingNotesText(quote.underwriting?.notes) : ''
  assertAllowed(QUOTE_TRANSITIONS, `Quote ${quote.locator}`, quote.state, action, because)
}

export type QuoteChanges = DraftChanges & {
  name?: string
  policyStartTimestamp?: Instant
  policyEndTimestamp?: Instant
  paymentScheduleName?: string
}

/** Stores the quote. The policy follows its selected quote. */
function withQuote(aggregate: PolicyAggregate, quote: Quote): PolicyAggregate {
  const after = { ...aggregate, quotes: putRecords(aggregate.quotes, [quote]) }
  if (!quote.selected) return after
  return { ...after, policy: { ...withTermsOf(after.policy, quote), updatedAt: quote.updatedAt } }
}

/** Changes content, span, name and schedule. Problems of the content are returned in `reported`, not thrown. */
export function changeQuote(
  before: PolicyAggregate,
  quote: Quote,
  changes: QuoteChanges,
  context: DraftContext,
): DraftResult {
  const contract = validSpan({
    start: changes.policyStartTimestamp ?? quote.contractStart,
    end: changes.policyEndTimestamp ?? quote.contractEnd,
  })
  const spanned = spanDraft(before, quote, contract)
  const { aggregate, reported } = changeDraft(spanned, spanned.quotes.get(quote.locator)!, changes, context)
  const changed: Quote = {
    ...aggregate.quotes.get(quote.locator)!,
    name: changes.name ?? quote.name,
    paymentScheduleName:
      changes.paymentScheduleName === undefined
        ? quote.paymentScheduleName
        : paymentSchedule(context.product, changes.paymentScheduleName),
    updatedAt: context.now,
  }
  return { aggregate: withQuote(aggregate, changed), reported }
}

/** Changes a draft. Throws 409 for a quote in another state. */
export function planQuoteUpdate(
  before: PolicyAggregate,
  quote: Quote,
  changes: QuoteChanges,
  context: DraftContext,
): Planned & Pick<DraftResult, 'reported'> {
  assertQuoteAllows(quote, 'update')
  const { aggregate, reported } = changeQuote(before, quote, changes, context)
  const events = [quoteEvent(aggregate, aggregate.quotes.get(quote.locator)!, 'policy.quote.update')]
  return { aggregate, reported, events }
}

/** Prices, underwrites and locks a quote with valid data. Plans its payments, so that they are shown before it is accepted. */
export async function planQuoting(
  before: PolicyAggregate,
  draft: Quote,
  context: RatingContext,
): Promise<Planned> {
  assertQuoteAllows(draft, 'quote')
  const priced = await priceQuote(before, draft, context)
  return planDecision(priced, draft, await underwriteQuote(priced, draft, context), context)
}

/** Records a person's decision in place of underwriting's. Adds the person's note and keeps underwriting's notes. */
export function planReferral(
  before: PolicyAggregate,
  quote: Quote,
  { decision, notes }: Referral,
  context: RatingContext,
): Planned {
  assertQuoteAllows(quote, 'refer')
  const earlier = quote.underwriting?.notes ?? []
  const planned = planDecision(
    before,
    quote,
    { decision, notes: [...earlier, ...notes], at: context.now },
    context,
  )
  return {
    ...planned,
    events: planned.events.map(event => ({ ...event, newerType: 'policy.quote.manualunderwrite' })),
  }
}

function planDecision(
  priced: PolicyAggregate,
  quote: Quote,
  underwriting: UnderwritingResult,
  { product, now, supply }: RatingContext,
): Planned {
  const accepted = underwriting.decision === 'accept'
  const changed: Quote = { ...quote, state: accepted ? 'quoted' : 'declined', underwriting, updatedAt: now }
  const { modification } = quoteParts(priced, quote)
  const recorded = withQuote(
    {
      ...priced,
      modifications: putRecords(priced.modifications, [{ ...modification, underwriting, updatedAt: now }]),
    },
    changed,
  )
  // If a plugin plans the bills, that is a separate step (billing/billing.ts).
  const isPlanned = accepted && !hasPlugin(product, 'createInstallments')
  const aggregate = isPlanned ? planNewBusiness(recorded, changed, { product, now, supply }) : recorded
  const type = accepted ? 'policy.quote.quoted' : 'policy.quote.declined'
  return { aggregate, events: [quoteEvent(aggregate, changed, type, { decision: underwriting.decision })] }
}

/** Accepts a quoted quote, which becomes the selected one. Rejects with 409 a second accepted quote of the policy. */
export function planAcceptance(before: PolicyAggregate, quote: Quote, now: Instant): Planned {
  assertQuoteAllows(quote, 'accept')
  const other = acceptedQuote(before)
  if (other)
    throw wrongState(
      `Quote ${other.locator} of the policy is already accepted; invalidate it, then accept this one.`,
    )
  const selected = selectQuote(before, quote, now)
  const accepted: Quote = { ...selected.quotes.get(quote.locator)!, state: 'accepted', updatedAt: now }
  const aggregate = withQuote({ ...selected, policy: { ...selected.policy, finalizedAt: now } }, accepted)
  return { aggregate, events: [quoteEvent(aggregate, accepted, 'policy.quote.accept')] }
}

/** Undoes an acceptance: the quote is quoted again, its invoices become void, and their payments are reversed. */
export function planInvalidation(before: PolicyAggregate, quote: Quote, now: Instant): Planned {
  assertQuoteAllows(quote, 'invalidate')
  const { modification } = quoteParts(before, quote)
  const voided = planVoidInvoices(before, invoicesOf(before, modification), now)
  const changed: Quote = { ...quote, state: 'quoted', updatedAt: now }
  const aggregate = withQuote(
    { ...voided.aggregate, policy: { ...before.policy, finalizedAt: undefined } },
    changed,
  )
  const event = {
    ...quoteEvent(aggregate, changed, 'policy.quote.update'),
    newerType: 'policy.quote.reset',
  } as const
  return { aggregate, events: [...voided.events, event] }
}

/** Discards the quote, even if it is selected. The policy then follows none until another is selected (brief 1.3). */
export function planQuoteDiscard(before: PolicyAggregate, quote: Quote, now: Instant): Planned {
  assertQuoteAllows(quote, 'discard')
  const changed: Quote = { ...quote, state: 'discarded', selected: false, updatedAt: now }
  const discarded = withQuote(before, changed)
  const policy = quote.selected ? { ...before.policy, updatedAt: now } : before.policy
  const aggregate = { ...discarded, policy }
  return { aggregate, events: [quoteEvent(aggregate, changed, 'policy.quote.discard')] }
}

/** Selects the quote that the policy shows and finalization binds. */
export function planSelection(before: PolicyAggregate, quote: Quote, now: Instant): Planned {
  assertQuoteAllows(quote, 'select')
  return { aggregate: selectQuote(before, quote, now), events: [] }
}

function selectQuote(before: PolicyAggregate, quote: Quote, now: Instant): PolicyAggregate {
  if (quote.selected) return before
  const others = [...before.quotes.values()].filter(one => one.selected)
  const unselected = others.map((one): Quote => ({ ...one, selected: false, updatedAt: now }))
  const quotes = putRecords(before.quotes, unselected)
  return withQuote({ ...before, quotes }, { ...quote, selected: true, updatedAt: now })
}

/**
 * Counts the digit locators for a copy, in addition to those for its changes: the quote, the modification and one for each part.
 */
export function digitsForCopy(aggregate: PolicyAggregate, quote: Quote): number {
  const { exposureRuns, perilRuns } = quoteParts(aggregate, quote)
  return 2 + exposureRuns.length + perilRuns.length
}

/**
 * Plans a new draft with the quote's content after the changes. The changes name the exposures and perils of the original; in the
 * copy all of them have new locators.
 */
export function planCopy(
  before: PolicyAggregate,
  source: Quote,
  changes: QuoteChanges,
  context: DraftContext,
): Planned & Pick<DraftResult, 'reported'> & { quote: Quote } {
  assertQuoteAllows(source, 'copy')
  const { now, supply } = context
  const changed = changeQuote(before, source, changes, context)
  const from = changed.aggregate.quotes.get(source.locator)!
  const quote: Quote = {
    ...from,
    createdAt: now,
    updatedAt: now,
    locator: supply.digits() as QuoteLocator,
    name: changes.name ?? `quote ${before.quotes.size + 1}`,
    state: 'draft',
    selected: false,
    underwriting: undefined,
  }
  const aggregate: PolicyAggregate = {
    ...before,
    ...copiedParts(before, quoteParts(changed.aggregate, from), changed.aggregate.perils, quote, context),
    policy: { ...before.policy, updatedAt: now },
    quotes: putRecords(before.quotes, [quote]),
  }
  const events = [quoteEvent(aggregate, quote, 'policy.quote.create')]
  return { aggregate, quote, reported: changed.reported, events }
}

/** Returns the policy's records with copies of the parts, which belong to the quote and have new locators and no price. */
function copiedParts(
  before: PolicyAggregate,
  parts: ReturnType<typeof quoteParts>,
  perils: PolicyAggregate['perils'],
  { locator: quoteLocator }: Quote,
  { now, supply }: DraftContext,
): Partial<PolicyAggregate> {
  const stamps = { createdAt: now, updatedAt: now }
  const withNewIds = () => ({ locator: supply.uuid(), displayId: supply.digits() as DisplayId, ...stamps })
  const modification: Modification = {
    ...parts.modification,
    ...withNewIds(),
    quoteLocator,
    underwriting: undefined,
    premiumChange: undefined,
  }
  const newRun = () => ({ ...stamps, locator: supply.uuid(), madeBy: modification.locator })
  const exposureOf = new Map(
    parts.exposures.map(exposure => [exposure.locator, { ...exposure, ...withNewIds(), quoteLocator }]),
  )
  const perilOf = new Map(
    parts.perilRuns.map(run => {
      const peril = perils.get(run.perilLocator)!
      const exposureLocator = exposureOf.get(peril.exposureLocator)!.locator
      const copy = { ...peril, ...withNewIds(), exposureLocator }
      return [peril.locator, { ...copy, renewalGroup: copy.locator }]
    }),
  )
  const segment = { ...parts.segment, ...newRun(), quoteLocator }
  const exposureRuns = parts.exposureRuns.map(run => ({
    ...run,
    ...newRun(),
    exposureLocator: exposureOf.get(run.exposureLocator)!.locator,
  }))
  const perilRuns = parts.perilRuns.map(run => ({
    ...run,
    ...newRun(),
    perilLocator: perilOf.get(run.perilLocator)!.locator,
    price: undefined,
  }))
  return {
    modifications: putRecords(before.modifications, [modification]),
    segments: putRecords(before.segments, [segment]),
    exposures: putRecords(before.exposures, exposureOf.values()),
    exposureRuns: putRecords(before.exposureRuns, exposureRuns),
    perils: putRecords(before.perils, withParents(perilOf)),
    perilRuns: putRecords(before.perilRuns, perilRuns),
  }
}
