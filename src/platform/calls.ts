/**
 * Round trips that a request has made, the one cost that does not depend on the machine, and the rows that D1 read and
 * wrote for it, index entries included. Every binding is reached through a function that counts here; answers carry
 * the figures in `Server-Timing`, and tests assert them.
 */
export type Calls = {
  d1: number
  object: number
  r2: number
  queue: number
  rowsRead: number
  rowsWritten: number
}

export const noCalls = (): Calls => ({ d1: 0, object: 0, r2: 0, queue: 0, rowsRead: 0, rowsWritten: 0 })

/** Adds what a Durable Object reports of its own calls to the caller's figures. */
export function addCalls(to: Calls, more: Calls): void {
  for (const name of Object.keys(to) as (keyof Calls)[]) to[name] += more[name]
}

/**
 * The `Server-Timing` header: `total;dur=12, d1;desc="1", object;desc="0", …, rows;desc="12 read, 3 written"`; milliseconds, and
 * how often.
 */
export function serverTiming(calls: Calls, durationMs: number): string {
  const { rowsRead, rowsWritten, ...trips } = calls
  const figures = Object.entries(trips).map(([name, count]) => `${name};desc="${count}"`)
  return [`total;dur=${durationMs}`, ...figures, `rows;desc="${rowsRead} read, ${rowsWritten} written"`].join(
    ', ',
  )
}
