// The tools of agents and the console are built separately from the service, and have their own lists of some of its values.
import { expect, it } from 'vitest'
import { POLICY_STATES } from '../../console/lists/words.ts'
import { eventTools } from '../../src/agents/protocol/tools/events.ts'
import { recordTools } from '../../src/agents/protocol/tools/records.ts'
import { ListedState } from '../../src/policy/list/contract.ts'
import { PERIODS } from '../../src/reporting/contract.ts'

const choices = (
  tools: readonly { name: string; input: { toJSONSchema(): unknown } }[],
  tool: string,
  property: string,
): unknown => {
  const { properties } = tools.find(one => one.name === tool)!.input.toJSONSchema() as {
    properties: Record<string, { enum?: unknown }>
  }
  return properties[property]!.enum
}

it('the policy states that agents and the console offer are those of the service', () => {
  expect(choices(recordTools, 'find_policies', 'state')).toEqual(ListedState.options)
  expect(POLICY_STATES).toEqual(ListedState.options)
})

it('the report periods that agents offer are those of the service', () => {
  expect(choices(eventTools, 'start_report', 'period')).toEqual(PERIODS)
})
