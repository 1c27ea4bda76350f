import { type CallOutcome, failed } from './runner.ts'

/** What the sandbox answered; a text that no realm makes is a failure like any other. */
export function readOutcome(text: unknown): CallOutcome {
  if (typeof text === 'string') {
    try {
      const outcome = JSON.parse(text) as CallOutcome
      const { missing, logs, writes, events } = outcome
      if ([missing, logs, writes, events].every(Array.isArray)) return outcome
    } catch {
      // No JSON: as below.
    }
  }
  return failed({ reason: 'the sandbox was broken from within' })
}
