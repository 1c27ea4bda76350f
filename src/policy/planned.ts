// The result of a decision, and the modification that a transaction adds to the policy's line.
import type { DisplayId, LocatorSupply } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { NewTimer } from '../platform/commit.ts'
import type { NewEvent } from '../platform/events/outbox.ts'
import type { Modification, PolicyAggregate } from './records/aggregate.ts'

/** The result of an action: the aggregate after it, its events in the order of the state changes, and timers. */
export type Planned = {
  readonly aggregate: PolicyAggregate
  readonly events: readonly NewEvent[]
  readonly timers?: readonly NewTimer[]
}

/** Several steps as one: the aggregate after the last, the events and timers of all. Undefined steps are none. */
export function chain(first: Planned, ...rest: (Planned | undefined)[]): Planned {
  const steps = [first, ...rest.filter(step => step !== undefined)]
  return {
    aggregate: steps.at(-1)!.aggregate,
    events: steps.flatMap(step => step.events),
    timers: steps.flatMap(step => step.timers ?? []),
  }
}

type Terms = Pick<Modification, 'kind' | 'name' | 'effectiveAt' | 'policyEnd'> & Partial<Modification>

/** The policy's next modification, made now; issued, accepted and priced as the terms say. Takes one digit. */
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

/** The number of the policy's next modification: its place in the line. One that was taken back leaves its place. */
const nextNumber = ({ modifications }: PolicyAggregate): number =>
  [...modifications.values()].reduce(
    (next, one) => (one.invalidatedAt === undefined ? Math.max(next, one.number + 1) : next),
    1,
  )

export type Carried = { aggregate: PolicyAggregate; modification: Modification }
