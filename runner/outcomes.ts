// What a call comes to, by how it ended.
import { TOO_MUCH } from '../src/extension/plugins/runners/quickjs.ts'
import { timeoutOutcome } from '../src/extension/plugins/runners/runner.ts'
import type { LaneAnswer } from './lanes.ts'

/** The outcome as JSON; undefined where the call had no turn, or too short a one: it is to be made again. */
export function outcomeOf(ended: LaneAnswer, mostMs: number): Buffer | undefined {
  switch (ended.ending) {
    case 'busy':
      return undefined
    case 'late':
      return Buffer.from(JSON.stringify(timeoutOutcome(mostMs)))
    case 'died':
      return Buffer.from(TOO_MUCH.text)
    default:
      return ended.text
  }
}
