/** Values that an isolate keeps by text keys, up to a total size. The value that was used the longest ago goes first. */
export class BoundedCache<V> {
  /** In the order of use. */
  readonly #entries = new Map<string, { readonly value: V; readonly size: number }>()
  readonly #largestTotal: number
  #total = 0

  /** `largestTotal` is in the unit of the sizes that `set` gets; by default it counts values. */
  constructor(largestTotal: number) {
    this.#largestTotal = largestTotal
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Keeps the value in the place of an earlier one, unless it is larger than the cache. */
  set(key: string, value: V, size = 1): void {
    this.delete(key)
    if (size > this.#largestTotal) return
    this.#entries.set(key, { value, size })
    this.#total += size
    for (const oldest of this.#entries.keys()) {
      if (this.#total <= this.#largestTotal) break
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#total -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys()
  }
}
