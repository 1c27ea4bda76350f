// State machines as data (docs/design.md, section 4). Guards, events, documentation and tests derive from one table per kind of
// record.

import { wrongState } from '../../kernel/errors.ts'
import type { EventType } from './catalogue.ts'

export type Transition<State extends string> = {
  readonly from: readonly State[]
  /** A state, `same`, or all possible states. */
  readonly to: State | 'same' | readonly State[]
  readonly event?: EventType | readonly EventType[]
  /** Completes messages such as "cannot be issued". */
  readonly past: string
}

export type TransitionTable<Action extends string, State extends string> = Readonly<
  Record<Action, Transition<State>>
>

/** Returns the actions in the order of the table. */
export function allowedActions<Action extends string, State extends string>(
  table: TransitionTable<Action, State>,
  state: State,
): Action[] {
  return (Object.keys(table) as Action[]).filter(action => table[action].from.includes(state))
}

/**
 * Throws 409 for an action that the table does not allow. The message contains the record's state and the actions that it allows.
 * `record` names the record, e.g. `Quote 100000128`; `because` adds a reason.
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
