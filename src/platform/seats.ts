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
