// Look-ups in maps, and bounded memory of computed values.

/**
 * The value of a key that must be there. Throws an Error when it is not: that is a fault of the service. `what` names what was
 * looked for in its message, e.g. `run`.
 */
export function need<Key, Value>(
  map: { get(key: Key): Value | undefined },
  key: Key,
  what: string,
): NonNullable<Value> {
  const value = map.get(key)
  if (value === undefined || value === null) throw new Error(`There is no ${what} '${String(key)}'.`)
  return value
}

/** Adds the value to the list of the key. */
export function addTo<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}

type WithoutNulls<T> = { [K in keyof T]: null extends T[K] ? Exclude<T[K], null> | undefined : T[K] }

/** The row of a database as an answer has it: what is null is left out. */
export const withoutNulls = <T extends object>(row: T): WithoutNulls<T> =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<T>

/** Remembers values by key while the isolate lives: at most `most` of them, then the oldest goes. */
export class Memo<Key, Value> {
  readonly #most: number
  readonly #values = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  /** Remembers the value as the newest. */
  set(key: Key, value: Value): void {
    this.#values.delete(key)
    if (this.#values.size >= this.#most) this.#values.delete(this.#values.keys().next().value!)
    this.#values.set(key, value)
  }

  /** The value of the key, made when it is not remembered. */
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

/** `make`, whose answer for an object is remembered as long as the object lives. */
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
