// Which call each request was: noted by all helpers that call the service in a test, and read at the end of the test file.
import type { Uuid } from '../../../src/kernel/locators.ts'
import { atFileStart } from '../fresh-start/memory.ts'

const calls = new Map<string, string>()
const madeUp = new Set<string>()
atFileStart(() => {
  calls.clear()
  madeUp.clear()
})

/** Notes the call of a request, e.g. `POST /policy`. */
export function noteCall(method: string, path: string, requestId: string | null): void {
  if (requestId !== null) calls.set(requestId, `${method} ${path.split('?')[0]}`)
}

/** Notes that the test wrote events of this request itself, so that they are not checked. */
export function noteMadeUp(requestId: Uuid): void {
  madeUp.add(requestId)
}

export const callOf = (requestId: string): string | undefined => calls.get(requestId)
export const isMadeUp = (requestId: string): boolean => madeUp.has(requestId)
