// State transitions of a policy, its events as flat maps of text (brief 9), and the plan to record.

import { invalidRequest, wrongState } from '../kernel/errors.ts'
import type { DisplayId, LocatorSupply } from '../kernel/locators.ts'
import { type Money, toText } from '../kernel/money.ts'
import { asSentences } from '../kernel/text.ts'
import type { Instant } from '../kernel/time.ts'
import type { NewTimer } from '../platform/commit.ts'
import type { EventType } from '../platform/events/catalogue.ts'
import type { NewEvent } from '../platform/events/outbox.ts'
import { assertAllowed, type TransitionTable } from '../platform/events/transitions.ts'
import type { CustomEventType } from '../platform/events/types.ts'
import { standingCancellations } from './fold/line.ts'
import type { Modification, PolicyAggregate, Quote } from './records/aggregate.ts'
import { SELECT_FIRST, selectedQuoteIfAny } from './records/aggregate.ts'
import { type Invoice, invoiceStatus } from './records/invoice.ts'

/** Returns an event of the policy. `data` is added to the properties that every policy event has. */
export function policyEvent(
  { policy }: PolicyAggregate,
  type: EventType | CustomEventType,
  data: Record<string, string> = {},
): NewEvent {
  return {
    type,
    policyholderLocator: policy.policyholderLocator,
    policyLocator: policy.locator,
    data: {
      policyLocator: String(policy.locator),
      policyholderLocator: policy.policyholderLocator,
      productName: policy.productName,
      ...data,
    },
  }
}

/** Returns further properties of events about the policy itself (brief 9). */
export function versionProperties(aggregate: PolicyAggregate): Record<string, string> {
  const quote = selectedQuoteIfAny(aggregate)
  return {
    configVersion: String(aggregate.policy.configVersion),
    ...(quote && { quoteLocator: String(quote.locator) }),
  }
}

/** Returns an event of the policy with the locator and the name of the quote. */
export const quoteEvent = (
  aggregate: PolicyAggregate,
  quote: Quote,
  type: EventType,
  data: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, type, { quoteLocator: String(quote.locator), quoteName: quote.name, ...data })

/** Returns an event of the policy about the invoice. `totalDue` becomes decimal text in major units. */
export const invoiceEvent = (
  aggregate: PolicyAggregate,
  type: EventType,
  invoice: Invoice,
  totalDue: Money,
): NewEvent =>
  policyEvent(aggregate, type, {
    invoiceLocator: invoice.locator,
    totalDue: toText(totalDue),
    currency: totalDue.currency,
    dueTimestamp: String(invoice.dueAt),
    invoiceType: invoice.type,
  })

/** Returns the events of a new invoice: its own, the legacy alias (brief 9), and the write-off if its plan states one. */
export const invoiceEvents = (aggregate: PolicyAggregate, invoice: Invoice, totalDue: Money): NewEvent[] => [
  invoiceEvent(aggregate, 'invoice.issue', invoice, totalDue),
  policyEvent(aggregate, 'policy.invoice', { invoiceLocator: invoice.locator }),
  ...(invoiceStatus(invoice) === 'writtenOff'
    ? [invoiceEvent(aggregate, 'invoice.writtenOff', invoice, totalDue)]
    : []),
]

/** The result of an action: the aggregate after it, its events in the order of the state changes, and its timers. */
export type Planned = {
  readonly aggregate: PolicyAggregate
  readonly events: readonly NewEvent[]
  readonly timers?: readonly NewTimer[]
}

/** Combines steps: the aggregate after the last step, and the events and timers of all. Skips undefined steps. */
export function combineSteps(first: Planned, ...rest: (Planned | undefined)[]): Planned {
  const steps = [first, ...rest.filter(step => step !== undefined)]
  return {
    aggregate: steps.at(-1)!.aggregate,
    events: steps.flatMap(step => step.events),
    timers: steps.flatMap(step => step.timers ?? []),
  }
}

type Terms = Pick<Modification, 'kind' | 'name' | 'effectiveAt' | 'policyEnd'> & Partial<Modification>

/** Returns the policy's next modification; issued, accepted and priced as the terms state. Uses one digit locator. */
export const newModification = (
  before: PolicyAggregate,
  { locator, ...terms }: Terms,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Modification => ({
  locator: locator ?? supply.uuid(),
  displayId: supply.digits() as DisplayId,
  number: nextNumber(before),
  createdAt: now,
  updatedAt: now,
  ...terms,
})

/**
 * Returns the number after the last modification that was not taken back. One that was taken back keeps its number, so a later
 * modification may have the same.
 */
const nextNumber = ({ modifications }: PolicyAggregate): number =>
  [...modifications.values()].reduce(
    (next, one) => (one.invalidatedAt === undefined ? Math.max(next, one.number + 1) : next),
    1,
  )

/** A policy after a transaction was applied to it, and the modification of that transaction. */
export type AppliedTransaction = { aggregate: PolicyAggregate; modification: Modification }

// New business as data: which action each state of a policy allows (brief 1.2). Finer states that clients derive (lapsed, expired,
// pending …) follow from dates and later transactions (brief 1.1) and do not affect the actions here.
/** `quoted`: priced and locked, but not accepted yet. `unselected`: the selected quote was discarded and no other is selected. */
export type PolicyState =
  | 'created'
  | 'quoted'
  | 'finalized'
  | 'declined'
  | 'unselected'
  | 'issued'
  | 'withdrawn'
  | 'discarded'

export const POLICY_TRANSITIONS = {
  update: { from: ['created'], to: 'same', event: 'policy.update', past: 'updated' },
  finalize: {
    from: ['created', 'quoted'],
    to: ['finalized', 'declined'],
    event: 'policy.finalize',
    past: 'finalized',
  },
  issue: { from: ['finalized'], to: 'issued', event: 'policy.issue', past: 'issued' },
  discard: {
    from: ['created', 'quoted', 'finalized', 'declined', 'unselected'],
    to: 'discarded',
    event: 'policy.discard',
    past: 'discarded',
  },
  endorse: { from: ['issued'], to: 'same', event: 'policy.endorse', past: 'endorsed' },
  renew: { from: ['issued'], to: 'same', event: 'policy.renew', past: 'renewed' },
  cancel: { from: ['issued'], to: 'issued', event: 'policy.cancel', past: 'cancelled' },
  // Before issue, fees come from the configuration, and an update changes the schedule.
  changeFees: { from: ['issued'], to: 'same', event: 'policy.update', past: 'given different fees' },
  reschedule: { from: ['issued'], to: 'same', event: 'policy.update', past: 'given a different schedule' },
  withdraw: { from: ['issued'], to: 'withdrawn', event: 'policy.cancel', past: 'withdrawn' },
  /** Moves the policy to another version of the configuration. A price that is not issued yet keeps its version. */
  upgrade: { from: ['created', 'issued'], to: 'same', event: 'policy.upgrade', past: 'upgraded' },
} satisfies TransitionTable<string, PolicyState>

export type PolicyAction = keyof typeof POLICY_TRANSITIONS

/** Returns the policy's state: `discarded`; once issued, `issued` or `withdrawn`; before that, by its selected quote. */
export function policyState(aggregate: PolicyAggregate): PolicyState {
  const { policy } = aggregate
  if (policy.discardedAt !== undefined) return 'discarded'
  if (policy.issuedAt !== undefined) return isWithdrawn(aggregate) ? 'withdrawn' : 'issued'
  const quote = selectedQuoteIfAny(aggregate)
  return quote ? STATES_BY_QUOTE[quote.state] : 'unselected'
}

/** The state of a policy that is neither issued nor discarded, by that of its selected quote. */
export const STATES_BY_QUOTE = {
  draft: 'created',
  quoted: 'quoted',
  accepted: 'finalized',
  declined: 'declined',
  discarded: 'discarded',
} as const satisfies Record<Quote['state'], PolicyState>

const isWithdrawn = ({ modifications }: PolicyAggregate): boolean =>
  [...modifications.values()].some(one => one.kind === 'withdrawal' && one.issuedAt !== undefined)

/** Throws 409 if the policy's state does not allow the action. For a declined policy, the message includes underwriting's notes. */
export function assertPolicyAllows(aggregate: PolicyAggregate, action: PolicyAction): void {
  const state = policyState(aggregate)
  const because =
    {
      declined: underwritingNotesText(selectedQuoteIfAny(aggregate)?.underwriting?.notes),
      unselected: ` ${SELECT_FIRST}`,
    }[state as string] ?? ''
  assertAllowed<PolicyAction, PolicyState>(
    POLICY_TRANSITIONS,
    `Policy ${aggregate.policy.locator}`,
    state,
    action,
    because,
  )
}

/** Returns the end of a message about a declined quote. Empty without notes. */
export const underwritingNotesText = (notes: readonly string[] = []): string =>
  notes.length > 0 ? ` Underwriting notes: ${asSentences(notes)}` : ''

/**
 * Requires a time within the contract, named `name` in the message. Throws 409 for a time after a cancellation that ends the
 * contract, since the time was right before it, and 400 for any other time outside (brief 1.5, 8).
 */
export function assertWithinContract(aggregate: PolicyAggregate, name: string, at: Instant): void {
  const { originalStart, effectiveEnd } = aggregate.policy
  if (at >= originalStart && at < effectiveEnd) return
  if (at >= effectiveEnd && standingCancellations(aggregate).length > 0)
    throw wrongState(
      `${name} ${at} must be before ${effectiveEnd}, when the cancellation of the policy takes effect.`,
    )
  throw invalidRequest(
    `${name} ${at} must be at or after the contract's start ${originalStart} and before its effective end ${effectiveEnd}.`,
  )
}
