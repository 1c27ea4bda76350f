/**
 * Round trips that a request has made: the one cost that does not depend on the machine. Every binding is
 * reached through a function that counts here; answers carry the figures in `Server-Timing`, and tests
 * assert them.
 */
export type Calls = { d1: number; object: number; r2: number; queue: number }

export const noCalls = (): Calls => ({ d1: 0, object: 0, r2: 0, queue: 0 })

/** Adds what a Durable Object reports of its own calls to the caller's figures. */
export function addCalls(to: Calls, more: Calls): void {
  to.d1 += more.d1
  to.object += more.object
  to.r2 += more.r2
  to.queue += more.queue
}

/** The `Server-Timing` header: `d1;desc="1", object;desc="0", …`. */
export const serverTiming = (calls: Calls): string =>
  Object.entries(calls)
    .map(([name, count]) => `${name};desc="${count}"`)
    .join(', ')
