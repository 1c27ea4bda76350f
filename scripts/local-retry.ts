// Work on this machine's databases, which are reached through a process of the local runtime: on a machine that is busy with
// much else it may break off a connection (`fetch failed`) although nothing is wrong.
import { setTimeout as pause } from 'node:timers/promises'

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 1_000

/** What `fetch` throws of a connection, at any depth of what was made of it. */
export function isBrokenConnection(problem: unknown): boolean {
  for (let one = problem; one instanceof Error; one = one.cause)
    if (one instanceof TypeError && one.message === 'fetch failed') return true
  return false
}

/**
 * Does the work, and again from its beginning where a connection broke, up to four times; `fails` tells of each. Only for work that
 * goes on where it stopped and opens what it needs itself: a migration is one batch with its record in it, so one whose
 * answer was lost is found to be there.
 */
export async function untilConnected<Result>(
  work: () => Promise<Result>,
  fails: (line: string) => void,
  firstPauseMs = FIRST_PAUSE_MS,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (problem) {
      if (attempt === ATTEMPTS || !isBrokenConnection(problem)) throw problem
      fails(`the local databases broke off a connection; trying again (${attempt + 1} of ${ATTEMPTS})`)
      await pause(firstPauseMs * 2 ** (attempt - 1))
    }
  }
}
