/** Returns the value of a required key. A missing key is a bug in the service: throws an Error that names `what`, e.g. `run`. */
export function getOrThrow<Key, Value>(
  map: { get(key: Key): Value | undefined },
  key: Key,
  what: string,
): NonNullable<Value> {
  const value = map.get(key)
  if (value === undefined || value === null) throw new Error(`There is no ${what} '${String(key)}'.`)
  return value
}

/** Appends the value to the list of the key, which starts empty. */
export function addTo<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

type WithoutNulls<T> = { [K in keyof T]: null extends T[K] ? Exclude<T[K], null> | undefined : T[K] }

/** Returns a database row without its null properties. */
export const withoutNulls = <T extends object>(row: T): WithoutNulls<T> =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<T>

/** Remembers up to `most` values for the life of the isolate, then drops the oldest. */
export class Memo<Key, Value> {
  readonly #most: number
  readonly #values = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  set(key: Key, value: Value): void {
    this.#values.delete(key)
    if (this.#values.size >= this.#most) this.#values.delete(this.#values.keys().next().value!)
    this.#values.set(key, value)
  }

  getOrMake(key: Key, make: () => Value): Value {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  delete(key: Key): void {
    this.#values.delete(key)
  }

  clear(): void {
    this.#values.clear()
  }
}

/** Wraps `make` so that its result for an object is remembered for the life of the object. */
export function memoByObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return key => {
    const known = values.get(key)
    if (known !== undefined) return known
    const made = make(key)
    values.set(key, made)
    return made
  }
}

/** A cache with a limit on its total size. Drops the least recently used values first. */
export class BoundedCache<V> {
  /** In order of use, least recent first. */
  readonly #entries = new Map<string, { readonly value: V; readonly size: number }>()
  readonly #largestTotal: number
  #total = 0

  /** `largestTotal` is in the unit of the sizes passed to `set`. By default it counts values. */
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

  /** Replaces an earlier value. Does not store a value that is larger than the cache. */
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
