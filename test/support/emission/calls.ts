// Which request was which call: kept by anyone who calls the service in a test, and read when the test file is done.
import type { Uuid } from '../../../src/kernel/locators.ts'
import { atFileStart } from '../fresh-start/memory.ts'

const calls = new Map<string, string>()
const madeUp = new Set<string>()
atFileStart(() => {
  calls.clear()
  madeUp.clear()
})

/** Keeps the call of a request: `POST /policy`. */
export function noteCall(method: string, path: string, requestId: string | null): void {
  if (requestId !== null) calls.set(requestId, `${method} ${path.split('?')[0]}`)
}

/** The request is the test's own: what it tells of is made up. */
export function noteMadeUp(requestId: Uuid): void {
  madeUp.add(requestId)
}

export const callOf = (requestId: string): string | undefined => calls.get(requestId)
export const isMadeUp = (requestId: string): boolean => madeUp.has(requestId)
