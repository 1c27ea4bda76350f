// The event and the timer for the end of cover by a cancellation. Compares the policy before and after every write, so that no
// transaction that ends cover can miss it (brief 9).
import { derivedUuid, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { standingCancellations } from '../../policy/fold/line.ts'
import type { Modification, PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Planned, policyEvent } from '../../policy/transitions.ts'
import { defineKind, showNothing } from '../mechanism/kind.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** From a timer: the cancellation becomes effective. */
    coverEnd: { modification: Uuid }
  }
}

/** The kind of the timer, and of its event. */
const CANCELLATION_EFFECTIVE = 'cancellation.effective'

const endsCover = ({ kind, issuedAt, invalidatedAt }: Modification): boolean =>
  (kind === 'cancellation' || kind === 'withdrawal') && issuedAt !== undefined && invalidatedAt === undefined

/**
 * Returns, for the cancellations of one write, an event if their time has come, and otherwise a timer. Derived from the policy
 * before and after, so that every kind of write is covered.
 */
export function coverEnds(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  now: Instant,
): { events: NewEvent[]; timers: NewTimer[] } {
  if (before?.modifications === after.modifications) return { events: [], timers: [] }
  const isNew = (one: Modification): boolean =>
    one.issuedAt !== undefined && before?.modifications.get(one.locator)?.issuedAt === undefined
  const all = [...after.modifications.values()]
  const issued = all.filter(one => endsCover(one) && isNew(one))
  const ending = coverEndingCancellation(after)
  const isRevivedLate = ending && lateReinstatements(after, ending).some(isNew)
  const ended = issued.filter(one => one.effectiveAt <= now)
  return {
    events: [...ended, ...(isRevivedLate ? [ending] : [])].map(one => effectiveEvent(after, one)),
    timers: issued.filter(one => one.effectiveAt > now).map(one => coverEndTimer(after, one)),
  }
}

/** Returns the cancellation or withdrawal at whose time the policy's cover ends. Undefined if it ends for another reason. */
function coverEndingCancellation(aggregate: PolicyAggregate): Modification | undefined {
  const last = standingCancellations(aggregate).filter(endsCover).at(-1)
  return last?.policyEnd === aggregate.policy.effectiveEnd ? last : undefined
}

/**
 * Returns the reinstatements that revive the cancellation after its time. Another cancellation had ended cover earlier when that
 * time came, so no event was sent then. Once the other one is reinstated, this cancellation ends the policy again, in the past.
 */
const lateReinstatements = (
  { modifications }: PolicyAggregate,
  { number, effectiveAt }: Modification,
): Modification[] =>
  [...modifications.values()].filter(({ undoes, issuedAt }) => {
    const undone = modifications.get(undoes!)
    if (!undone || undone.number < number || issuedAt === undefined) return false
    return undone.issuedAt! <= effectiveAt && effectiveAt <= issuedAt
  })

const coverEndTimer = ({ policy }: PolicyAggregate, { locator, effectiveAt }: Modification): NewTimer => ({
  locator: derivedUuid(shardOfDigits(policy.locator), CANCELLATION_EFFECTIVE, locator),
  dueAt: effectiveAt,
  kind: CANCELLATION_EFFECTIVE,
  subject: String(policy.locator),
  payload: { modificationLocator: locator },
})

/**
 * Handles the timer. Returns undefined when the policy does not end by that modification, since it was reinstated or the policy
 * was cancelled for an earlier time. Also returns undefined when the policy ends by it again and the event was already sent.
 */
function planCoverEnd(aggregate: PolicyAggregate, modification: Uuid): Planned | undefined {
  const last = coverEndingCancellation(aggregate)
  if (last?.locator !== modification || lateReinstatements(aggregate, last).length > 0) return undefined
  return { aggregate, events: [effectiveEvent(aggregate, last)] }
}

function effectiveEvent(aggregate: PolicyAggregate, { locator, name, effectiveAt }: Modification): NewEvent {
  const cancellation = [...aggregate.cancellations.values()].find(one => one.modificationLocator === locator)
  return policyEvent(aggregate, CANCELLATION_EFFECTIVE, {
    ...(cancellation && {
      cancellationLocator: String(cancellation.locator),
      cancellationName: cancellation.name,
    }),
    effectiveTimestamp: String(effectiveAt),
    modificationLocator: locator,
    modificationName: name,
  })
}

export const coverEndKind = defineKind<'coverEnd'>({
  name: 'coverEnd',
  decide({ aggregate }, { modification }) {
    const planned = planCoverEnd(aggregate, modification)
    return planned && { planned, response: showNothing }
  },
})
