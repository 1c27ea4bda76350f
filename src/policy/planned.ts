import type { NewTimer } from '../platform/commit.ts'
import type { NewEvent } from '../platform/events/outbox.ts'
import type { Modification, PolicyAggregate } from './records/aggregate.ts'

/** What an action makes: the aggregate after it, its events in the order of the state changes, and timers. */
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

export type Carried = { aggregate: PolicyAggregate; modification: Modification }
