// A kind of record with a transition table: how to bring a record into each of its states, and how to attempt each action on it,
// through the decisions.

import type { NewEvent } from '../../../src/platform/events/outbox.ts'
import type { TransitionTable } from '../../../src/platform/events/transitions.ts'
import type { PolicyAggregate } from '../../../src/policy/records/aggregate.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import type { Planned } from '../../../src/policy/transitions.ts'

/** A policy with the record under test. */
export type Situation = { readonly loaded: Loaded; readonly record: unknown }

/** The record after an action. Undefined if there was nothing to do. */
export type Outcome = { readonly state: string; readonly events: readonly NewEvent[] } | undefined

export type RecordKind = {
  readonly name: string
  readonly table: TransitionTable<string, string>
  /** Situations in which the record has the state. Together they lead to every outcome of an action. */
  readonly situations: Readonly<Record<string, () => Promise<Situation[]>>>
  readonly act: Readonly<Record<string, (situation: Situation) => Promise<Outcome>>>
  /** Actions of the clock. They do nothing in states for which the table does not list them. */
  readonly byClock?: readonly string[]
}

/** A kind that has situations for every state and an attempt for every action. */
export function kind<Action extends string, State extends string, R>(
  name: string,
  table: TransitionTable<Action, State>,
  {
    act,
    ...rest
  }: {
    situations: Record<State, () => Promise<Situation[]>>
    act: Record<Action, (loaded: Loaded, record: R) => Promise<Planned | undefined>>
    stateOf(aggregate: PolicyAggregate, record: R): State
    byClock?: Action[]
  },
): RecordKind {
  const attempts = Object.entries<(loaded: Loaded, record: R) => Promise<Planned | undefined>>(act)
  return {
    name,
    table,
    ...rest,
    act: Object.fromEntries(
      attempts.map(([action, run]) => [
        action,
        async ({ loaded, record }: Situation): Promise<Outcome> => {
          const planned = await run(loaded, record as R)
          return planned && { state: rest.stateOf(planned.aggregate, record as R), events: planned.events }
        },
      ]),
    ),
  }
}
