import type { NewEvent } from '../events/outbox.ts'
import type { EventType } from '../events/types.ts'
import type { Endorsement, PolicyAggregate } from '../policies/aggregate.ts'
import { policyEvent } from '../policies/events.ts'

/** An event of an endorsement (brief 9). */
export const endorsementEvent = (
  aggregate: PolicyAggregate,
  type: EventType & `endorsement.${string}`,
  { locator, name, startAt, state, modificationLocator }: Endorsement,
): NewEvent =>
  policyEvent(aggregate, type, {
    endorsementLocator: String(locator),
    endorsementName: name,
    effectiveTimestamp: String(startAt),
    state,
    ...(modificationLocator && (state === 'accepted' || state === 'issued') ? { modificationLocator } : {}),
  })
