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
