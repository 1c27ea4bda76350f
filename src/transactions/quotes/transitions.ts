// The state table of quotes (brief 1.3). Everything but `copy` also needs a policy that is not issued.

import { assertAllowed, type TransitionTable } from '../../platform/events/transitions.ts'
import type { QuoteState } from '../../policy/contract/response.ts'
import type { Quote } from '../../policy/records/aggregate.ts'

export type QuoteAction =
  | 'update'
  | 'quote'
  | 'accept'
  | 'invalidate'
  | 'discard'
  | 'select'
  | 'copy'
  | 'refer'

export const QUOTE_TRANSITIONS: TransitionTable<QuoteAction, QuoteState> = {
  update: { from: ['draft'], to: 'draft', event: 'policy.quote.update', past: 'updated' },
  quote: {
    from: ['draft'],
    to: ['quoted', 'declined'],
    event: ['policy.quote.quoted', 'policy.quote.declined'],
    past: 'quoted',
  },
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
  /** A person overrides underwriting: an acceptance makes a declined quote a quoted one, a refusal the reverse. */
  refer: {
    from: ['quoted', 'declined'],
    to: ['quoted', 'declined'],
    event: ['policy.quote.quoted', 'policy.quote.declined'],
    past: 'decided by a person',
  },
}

/** Refuses (409) an action that the quote's state does not allow; for a declined quote, with underwriting's notes. */
export function assertQuoteAllows(quote: Quote, action: QuoteAction): void {
  const notes = quote.underwriting?.notes ?? []
  const because =
    quote.state === 'declined' && notes.length > 0 ? ` Underwriting noted: ${notes.join(' ')}` : ''
  assertAllowed(QUOTE_TRANSITIONS, `Quote ${quote.locator}`, quote.state, action, because)
}
