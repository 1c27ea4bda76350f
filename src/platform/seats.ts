// What one isolate does at a time of one kind: its memory and its one thread are shared by all its requests and objects.

import { Refusal } from '../kernel/errors.ts'
import { Memo } from '../kernel/maps.ts'
import { now } from '../kernel/time.ts'

/** Seats of one kind, as many as `most`. A request that its client gave up leaves its seat behind; after `endsMs` it counts no more. */
export class Seats {
  readonly #most: number
  readonly #endsMs: number
  readonly #taken = new Map<symbol, number>()

  constructor(most: number, endsMs: number) {
    this.#most = most
    this.#endsMs = endsMs
  }

  /** Takes the seat, or renews it where it is taken already; false when none is left. */
  take(seat: symbol): boolean {
    if (!this.#taken.has(seat)) {
      for (const [other, since] of this.#taken) if (now() - since > this.#endsMs) this.#taken.delete(other)
      if (this.#taken.size >= this.#most) return false
    }
    this.#taken.set(seat, now())
    return true
  }

  leave(seat: symbol): void {
    this.#taken.delete(seat)
  }
}

/** The pause between two pieces of work in a lane, in which others have their turn. */
export const LANE_PAUSE_MS = 15

/** Background work that takes an isolate's thread for a while: one piece after the other, with a pause in between. */
export class Lane {
  readonly #seats: Seats

  /** `endsMs`: work that takes longer was cut off, and holds nobody up any more. */
  constructor(endsMs: number) {
    this.#seats = new Seats(1, endsMs)
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const seat = Symbol('work')
    // Invocations cannot wake each other: each looks for itself.
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

// A request that reads very much, for example a policy of a thousand exposures, takes a fifth of a second of an isolate's one thread.
// One tenant gets at most half of the thread for such requests: after each one, others have their turn for as long. The clock stands
// still while an isolate works, so that time cannot be measured, and rows are counted.

/** Rows in the answers of a request's databases from which on it is heavy. */
export const HEAVY_ROWS = 5_000

/** Rows of heavy requests of one tenant; an isolate makes answers of about twice as many. */
export const ROWS_A_SECOND = 30_000

/** A request that would wait longer is refused, since waiting requests take memory. */
const LONGEST_WAIT_MS = 2_000

/** By tenant: when the requests that have begun count as done. */
const doneAt = new Memo<string, number>(1_000)

export type HeavyReading = {
  /** Counts rows that were read. If the request is heavy now, waits for those before it; refuses with 503 when they are many. */
  read(rows: number): Promise<void>
}

/** The reading of one request of the tenant. */
export function heavyReading(tenantLocator: string): HeavyReading {
  let rowsRead = 0
  return {
    async read(rows) {
      rowsRead += rows
      if (rowsRead < HEAVY_ROWS) return
      const begins = Math.max(now(), doneAt.get(tenantLocator) ?? 0)
      const waitMs = begins - now()
      if (waitMs > LONGEST_WAIT_MS)
        throw new Refusal(
          'overloaded',
          'Other requests that read as much are being answered for this tenant; send it again in some seconds, or one after the other.',
          {},
          Math.ceil(waitMs / 1_000),
        )
      doneAt.set(tenantLocator, begins + (rowsRead / ROWS_A_SECOND) * 1_000)
      rowsRead = 0
      if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs))
    },
  }
}
