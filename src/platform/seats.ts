// What one isolate does at a time of one kind: its memory and its one thread are shared by all its requests and objects.
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

/** Between two pieces of work in a lane others have their turn, and so long. */
export const LANE_PAUSE_MS = 15

/** Work in the background that takes an isolate's thread for a while: one piece after the other, whoever wants it, with a pause in between. */
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
