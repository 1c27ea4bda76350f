import type { NewEvent } from '../../platform/events/outbox.ts'
import { policyEvent } from '../../policy/events.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'

type Told = 'create' | 'update' | 'quote' | 'accept' | 'issue' | 'invalidate' | 'discard'

/** An event of an endorsement or a renewal (brief 9). */
export const endorsementEvent = (
  aggregate: PolicyAggregate,
  told: Told,
  { kind, locator, name, startAt, state, modificationLocator }: Endorsement,
  more: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, `${kind}.${told}`, {
    ...(kind === 'renewal'
      ? { renewalLocator: String(locator) }
      : { endorsementLocator: String(locator), endorsementName: name }),
    effectiveTimestamp: String(startAt),
    state,
    ...(modificationLocator && (state === 'accepted' || state === 'issued') ? { modificationLocator } : {}),
    ...more,
  })

/** The policy with the endorsement or renewal in it, as old as that. */
export const withEndorsement = (aggregate: PolicyAggregate, endorsement: Endorsement): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: endorsement.updatedAt },
  endorsements: putRecords(aggregate.endorsements, [endorsement]),
})
