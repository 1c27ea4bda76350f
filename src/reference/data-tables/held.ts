// How much of a file is in memory at a time: counted, since an isolate's memory is shared and nothing else would tell.

export const MOST_HELD_BYTES = 8 * 1_048_576

/** Bytes of one file that are held now, and were at most. */
export class Held {
  #now = 0
  #most = 0

  /** More than `MOST_HELD_BYTES` is a fault of the service. */
  hold(bytes: number): void {
    this.#now += bytes
    this.#most = Math.max(this.#most, this.#now)
    if (this.#now > MOST_HELD_BYTES) throw new Error(`${this.#now} bytes of a file are held at once.`)
  }

  release(bytes: number): void {
    this.#now -= bytes
  }

  get most(): number {
    return this.#most
  }
}
