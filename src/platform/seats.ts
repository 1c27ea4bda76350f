// Limits on concurrent work of one kind in an isolate, whose requests and objects share its memory and its only thread.

import { Refusal } from '../kernel/errors.ts'
import { Memo } from '../kernel/maps.ts'
import { isWithinLast, now } from '../kernel/time.ts'

/**
 * A limited number of seats. A request whose client disconnected never leaves its seat, so a seat is free again after `endsMs`.
 */
export class Seats {
  readonly #most: number
  readonly #endsMs: number
  readonly #taken = new Map<symbol, number>()

  constructor(most: number, endsMs: number) {
    this.#most = most
    this.#endsMs = endsMs
  }

  /** Takes or renews the seat. Returns false when none is free. */
  take(seat: symbol): boolean {
    if (!this.#taken.has(seat)) {
      for (const [other, since] of this.#taken)
        if (!isWithinLast(this.#endsMs, since)) this.#taken.delete(other)
      if (this.#taken.size >= this.#most) return false
    }
    this.#taken.set(seat, now())
    return true
  }

  leave(seat: symbol): void {
    this.#taken.delete(seat)
  }
}

/** Pause between two pieces of work in a lane, in which other work runs. */
export const LANE_PAUSE_MS = 15

/** Runs background work that occupies the thread: one piece after the other, with a pause in between. */
export class Lane {
  readonly #seats: Seats

  /** Work that takes longer than `endsMs` counts as interrupted and no longer blocks the lane. */
  constructor(endsMs: number) {
    this.#seats = new Seats(1, endsMs)
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const seat = Symbol('work')
    // Invocations cannot wake each other, so each one polls.
    while (!this.#seats.take(seat)) await pause()
    try {
      return await work()
    } finally {
      await pause()
      this.#seats.leave(seat)
    }
  }
}

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, LANE_PAUSE_MS))

// A very large read, e.g. a policy of a thousand exposures, takes a fifth of a second of the isolate's only thread. One tenant
// gets at most half of the thread for such reads: after each one, other work runs for as long. Rows are counted because the clock
// stands still.

/** A request that reads at least this many rows is heavy. */
export const HEAVY_ROWS = 5_000

/** Heavy rows that one tenant may read per second. An isolate processes about twice as many. */
export const ROWS_A_SECOND = 30_000

/** Longest wait. A request that would wait longer is rejected, because waiting requests take memory. */
const LONGEST_WAIT_MS = 2_000

/** By tenant: when its last heavy request was counted, and when all so far count as done. */
const busy = new Memo<string, { readonly since: number; readonly until: number }>(1_000)

export type HeavyReading = {
  /** Counts rows. A heavy request waits for earlier ones. Throws 503 when there are too many. */
  read(rows: number): Promise<void>
}

/** Starts the count of one request. Each isolate limits the tenant on its own. */
export function heavyReading(tenantLocator: string): HeavyReading {
  let rowsRead = 0
  return {
    async read(rows) {
      rowsRead += rows
      if (rowsRead < HEAVY_ROWS) return
      const at = now()
      const earlier = busy.get(tenantLocator)
      // A time after the present shows that the clock was set back.
      const begins = earlier && earlier.since <= at ? Math.max(at, earlier.until) : at
      const waitMs = begins - at
      if (waitMs > LONGEST_WAIT_MS)
        throw new Refusal(
          'overloaded',
          'The tenant has other large requests in progress. Try again in a few seconds, or send such requests one after the other.',
          {},
          Math.ceil(waitMs / 1_000),
        )
      busy.set(tenantLocator, { since: at, until: begins + (rowsRead / ROWS_A_SECOND) * 1_000 })
      rowsRead = 0
      if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs))
    },
  }
}
