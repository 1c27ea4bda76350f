import type { NewEvent } from '../events/outbox.ts'
import type { EventType } from '../events/types.ts'
import type { PolicyAggregate, Reinstatement } from '../policies/aggregate.ts'
import { policyEvent } from '../policies/events.ts'

/** An event of a reinstatement (brief 9). */
export const reinstatementEvent = (
  aggregate: PolicyAggregate,
  type: EventType & `reinstatement.${string}`,
  { locator, cancellationLocator, effectiveAt, deadlineAt }: Reinstatement,
  more: Record<string, string> = {},
): NewEvent =>
  policyEvent(aggregate, type, {
    reinstatementLocator: locator,
    cancellationLocator: String(cancellationLocator),
    effectiveTimestamp: String(effectiveAt),
    ...(deadlineAt === undefined ? {} : { deadline: String(deadlineAt) }),
    ...more,
  })
