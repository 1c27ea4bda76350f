// State machines as data (docs/design.md, section 4): one table for each kind of record, from which the guard,
// the event, the documentation and the tests come.

import { wrongState } from '../../kernel/errors.ts'
import type { EventType } from './catalogue.ts'

export type Transition<State extends string> = {
  readonly from: readonly State[]
  /** A state; `same`; or, where more than one can come of it, all that can. */
  readonly to: State | 'same' | readonly State[]
  /** The event that tells of it; undefined when none does. */
  readonly event?: EventType | readonly EventType[]
  /** For messages: "cannot be issued". */
  readonly past: string
}

export type TransitionTable<Action extends string, State extends string> = Readonly<
  Record<Action, Transition<State>>
>

/** Actions that the table allows from a state, in the table's order. */
export function allowedActions<Action extends string, State extends string>(
  table: TransitionTable<Action, State>,
  state: State,
): Action[] {
  return (Object.keys(table) as Action[]).filter(action => table[action].from.includes(state))
}

/**
 * Refuses with 409 what the table does not list, saying the record's state and which actions it allows.
 * `record` names it, e.g. `Quote 100000128`; `because` may say more.
 */
export function assertAllowed<Action extends string, State extends string>(
  table: TransitionTable<Action, State>,
  record: string,
  state: State,
  action: Action,
  because = '',
): void {
  if (table[action].from.includes(state)) return
  const allowed = allowedActions(table, state)
  const advice = allowed.length > 0 ? `it allows ${allowed.join(', ')}` : 'it allows no action'
  throw wrongState(`${record} is ${state} and cannot be ${table[action].past}; ${advice}.${because}`)
}
