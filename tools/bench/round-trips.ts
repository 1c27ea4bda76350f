// Round trips of an answer, as its Server-Timing header tells them (src/platform/calls.ts).

/**
 * `d1 1, object 1`: what was called at all, in the header's order; `none` when nothing was. Without looking again at a tenant, which is
 * done by the clock, every 5 s, and not by what was asked.
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

/** Without what happens after the answer: a queue message is sent, and nobody waits for it. */
export const waitedFor = (trips: RoundTrips): RoundTrips =>
  trips
    .split(', ')
    .filter(trip => !trip.startsWith('queue '))
    .join(', ') || 'none'

/** Rows that D1 read and wrote, entries of indexes included; none where the answer does not tell. */
export function rowsOf(serverTiming: string): { read: number; written: number } {
  const [, read = 0, written = 0] = /rows;desc="(\d+) read, (\d+) written"/.exec(serverTiming) ?? []
  return { read: Number(read), written: Number(written) }
}
