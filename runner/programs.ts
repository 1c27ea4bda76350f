// Programs that the service has sent, by their keys, in the order of use.

/** Bytes of all of them together. */
const MOST_BYTES = 96 * 1024 * 1024

export class Programs {
  readonly #kept = new Map<string, Buffer>()
  readonly #most: number
  #bytes = 0

  constructor(most = MOST_BYTES) {
    this.#most = most
  }

  get(key: string): Buffer | undefined {
    const program = this.#kept.get(key)
    if (program) {
      this.#kept.delete(key)
      this.#kept.set(key, program)
    }
    return program
  }

  /** Keeps the program, in the place of those that were used the longest ago. */
  put(key: string, program: Buffer): void {
    this.#forget(key)
    this.#kept.set(key, program)
    this.#bytes += program.length
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#most || oldest === key) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.length ?? 0
    this.#kept.delete(key)
  }
}
