// Round trips of a response, as reported by its Server-Timing header (src/platform/calls.ts).

/**
 * `d1 1, object 1`: the number of calls of each kind, in the header's order; `none` if there were none. Excludes reads of the
 * tenant's row, which are repeated every 5 s and do not depend on the request.
 */
export type RoundTrips = string

export function roundTrips(serverTiming: string): RoundTrips {
  const counts: Record<string, number> = Object.fromEntries(
    [...serverTiming.matchAll(/(\w+);desc="(\d+)"/g)].map(([, name, count]) => [name, Number(count)]),
  )
  const { renewed = 0, ...calls } = counts
  const asked = Object.entries({ ...calls, ...(calls.d1 && { d1: calls.d1 - renewed }) })
  const made = asked.filter(([, count]) => count > 0)
  return made.map(([name, count]) => `${name} ${count}`).join(', ') || 'none'
}

/** Leaves out what happens after the response: nobody waits for a queue message. */
export const tripsBeforeResponse = (trips: RoundTrips): RoundTrips =>
  trips
    .split(', ')
    .filter(trip => !trip.startsWith('queue '))
    .join(', ') || 'none'

/** Returns the rows that D1 read and wrote, including entries of indexes. Zero if the response does not report them. */
export function rowsOf(serverTiming: string): { read: number; written: number } {
  const [, read = 0, written = 0] = /rows;desc="(\d+) read, (\d+) written"/.exec(serverTiming) ?? []
  return { read: Number(read), written: Number(written) }
}
