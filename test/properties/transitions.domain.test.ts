// Every pair of a state and an action, for every kind of record with a transition table: what the table lists happens as it says,
// and everything else is rejected with the actions that are possible.
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { allowedActions, type Transition } from '../../src/platform/events/transitions.ts'
import { RECORD_KINDS } from '../support/record-kinds/all.ts'
import type { RecordKind } from '../support/record-kinds/record-kind.ts'

const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value as T]

/** States to which the action may lead from that one. */
const targets = ({ to }: Transition<string>, from: string): readonly string[] =>
  to === 'same' ? [from] : listOf(to)

/**
 * Expects all events of a transition with one target. If it has several targets, expects the one event that says which target was
 * reached.
 */
function expectEvents({ event, to }: Transition<string>, emitted: readonly string[]): void {
  const listed = listOf(event)
  if (Array.isArray(to) && listed.length > 1)
    expect(emitted.filter(type => listed.some(one => one === type))).toHaveLength(1)
  else for (const type of listed) expect(emitted).toContain(type)
  if (listed.length === 0) expect(emitted).toEqual([])
}

async function expectRefused(kind: RecordKind, state: string, action: string): Promise<void> {
  for (const situation of await kind.situations[state]!()) {
    const attempt = kind.act[action]!(situation)
    if (kind.byClock?.includes(action)) {
      expect(await attempt).toBeUndefined()
      continue
    }
    const problem = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (!(problem instanceof Refusal)) throw problem ?? new Error(`${action} was carried out.`)
    expect(problem.code).toBe('wrongState')
    expect(problem.message).toContain(state)
    const allowed = allowedActions(kind.table, state)
    expect(problem.message).toContain(
      allowed.length > 0 ? `it allows ${allowed.join(', ')}` : 'it allows no action',
    )
  }
}

describe.each(RECORD_KINDS)('Transitions of $name', kind => {
  const states = Object.keys(kind.situations)

  it.each(Object.keys(kind.table))(
    '%s leads only to the states and events that the table lists, and to each of these states',
    async action => {
      const transition = kind.table[action]!
      const reached = new Set<string>()
      for (const state of transition.from)
        for (const situation of await kind.situations[state]!()) {
          const outcome = await kind.act[action]!(situation)
          expect(targets(transition, state)).toContain(outcome!.state)
          expectEvents(
            transition,
            outcome!.events.map(event => event.type),
          )
          reached.add(outcome!.state)
        }
      expect([...reached].sort()).toEqual(
        [...new Set(transition.from.flatMap(state => targets(transition, state)))].sort(),
      )
    },
  )

  const refused = states.flatMap(state =>
    Object.keys(kind.table)
      .filter(action => !kind.table[action]!.from.includes(state))
      .map(action => ({ state, action })),
  )
  it.each(refused)(
    '$action is rejected in the state $state, with the actions that this state allows',
    async ({ state, action }) => {
      await expectRefused(kind, state, action)
    },
  )
})
