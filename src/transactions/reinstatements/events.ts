import type { EventType } from '../../platform/events/catalogue.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Reinstatement } from '../../policy/records/transactions.ts'
import { policyEvent } from '../../policy/transitions.ts'

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
