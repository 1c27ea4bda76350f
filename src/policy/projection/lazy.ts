// Parts of a record that are made when somebody asks for them. An answer asks for all of its parts, a template for few.

const lazyNamesOf = new WeakMap<object, Set<string>>()

/** `record` with a property that is made when it is first read, and once. */
export function withLazy<T extends object, K extends string, V>(
  record: T,
  name: K,
  make: () => V,
): T & Readonly<Record<K, V>> {
  let made: { value: V } | undefined
  const names = lazyNamesOf.get(record)
  if (names) names.add(name)
  else lazyNamesOf.set(record, new Set([name]))
  return Object.defineProperty(record, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      made ??= { value: make() }
      return made.value
    },
  }) as T & Readonly<Record<K, V>>
}

/** Names of the record's properties that are made when they are read. */
export const lazyNames = (record: object): ReadonlySet<string> => lazyNamesOf.get(record) ?? NONE

const NONE: ReadonlySet<string> = new Set()
