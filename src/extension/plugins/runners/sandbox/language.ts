/** Restores the language. Returns the name of something that a script changed irreversibly, or undefined. */
export type PutBack = () => string | undefined

/**
 * Makes what a script defines on objects of the language deletable, even without `configurable`: libraries add methods with
 * `Object.defineProperty(Array.prototype, 'sum', { value })`. Returns the set of those objects, which is still empty. Runs inside
 * the sandbox, so it refers to nothing outside itself.
 */
export function keepDeletable(): WeakSet<object> {
  const language = new WeakSet<object>()
  const { ownKeys, defineProperty, getOwnPropertyDescriptor } = Reflect
  const { defineProperty: define, defineProperties: defineAll } = Object
  const textOf = String
  const PARTS = ['enumerable', 'value', 'writable', 'get', 'set']
  const call = Function.prototype.call.bind(Function.prototype.call) as (...given: unknown[]) => unknown
  const { has } = WeakSet.prototype
  const isOfLanguage = (on: unknown): on is object => call(has, language, on) === true
  const nameOf = (key: unknown): PropertyKey => (typeof key === 'symbol' ? key : textOf(key))
  const deletable = <P>(on: unknown, name: PropertyKey, property: P): P => {
    if (typeof property !== 'object' || property === null || !isOfLanguage(on)) return property
    if (getOwnPropertyDescriptor(on, name)?.configurable === false) return property
    const defined = { __proto__: null, configurable: true } as Record<string, unknown>
    for (let at = 0; at < PARTS.length; at += 1) {
      const part = PARTS[at]!
      if (part in property) defined[part] = (property as Record<string, unknown>)[part]
    }
    return defined as P
  }
  const replace = (on: object, name: string, value: unknown): void => {
    defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false })
  }
  replace(Object, 'defineProperty', (on: object, key: unknown, property: PropertyDescriptor): object => {
    const name = nameOf(key)
    return define(on, name, deletable(on, name, property))
  })
  replace(Reflect, 'defineProperty', (on: object, key: unknown, property: PropertyDescriptor): boolean => {
    const name = nameOf(key)
    return defineProperty(on, name, deletable(on, name, property))
  })
  replace(
    Object,
    'defineProperties',
    (on: object, properties: Record<PropertyKey, PropertyDescriptor>): object => {
      if (!isOfLanguage(on)) return defineAll(on, properties)
      const defined = { __proto__: null } as unknown as Record<PropertyKey, PropertyDescriptor>
      const names = ownKeys(properties)
      for (let at = 0; at < names.length; at += 1) {
        const name = names[at]!
        if (getOwnPropertyDescriptor(properties, name)!.enumerable)
          defined[name] = deletable(on, name, properties[name]!)
      }
      return defineAll(on, defined)
    },
  )
  return language
}

/**
 * Remembers every object of the language, including nameless ones such as iterators, and adds them to `language`. Freezes plain
 * functions such as `Math.max`, which then need no check. Runs inside the sandbox, so it refers to nothing outside itself.
 * Restoring uses nothing that a script may have changed.
 */
export function rememberLanguage(language: WeakSet<object>): PutBack {
  type Kept = {
    readonly on: object
    readonly name: string
    readonly prototype: object | null
    readonly names: readonly PropertyKey[]
    readonly properties: Record<PropertyKey, PropertyDescriptor>
  }
  const { ownKeys, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect
  const { getPrototypeOf, setPrototypeOf, isExtensible } = Reflect
  const [textOf, isSame] = [String, Object.is]
  const states: Kept[] = []
  const seen = new Set<unknown>()
  const queue: [unknown, string][] = []

  // Prototypes are restored first.
  for (const one of [Object, Function, Array]) queue.push([one.prototype, `${one.name}.prototype`])
  for (const key of ownKeys(globalThis)) {
    const { value } = getOwnPropertyDescriptor(globalThis, key)!
    if (value === globalThis) continue
    const { prototype } = (value ?? {}) as { prototype?: unknown }
    queue.push([prototype, `${textOf(key)}.prototype`], [value, textOf(key)])
  }
  queue.push([globalThis, 'globalThis'])
  for (const one of withoutName()) queue.push([getPrototypeOf(one), 'the language'])

  for (let next = 0; next < queue.length; next += 1) {
    const [on, name] = queue[next]!
    if (isObject(on) && !seen.has(on)) remember(on, name)
  }

  /** Objects whose prototypes cannot be reached from a global. */
  function withoutName(): object[] {
    const objects: object[] = [
      [][Symbol.iterator](),
      ''[Symbol.iterator](),
      ''.matchAll(/a/g),
      new Map().entries(),
      new Set().values(),
      (function* () {})(),
      (async function* () {})(),
      function* () {},
      async () => {},
      async function* () {},
    ]
    const { Iterator: iterators } = globalThis as { Iterator?: { from?: (given: object) => object } }
    if (iterators?.from) objects.push(iterators.from({ next: () => ({ done: true }) }))
    const values = [].values() as { map?: (by: () => number) => object }
    if (values.map) objects.push(values.map(() => 0))
    return objects
  }

  function isObject(one: unknown): one is object {
    return typeof one === 'function' || (typeof one === 'object' && one !== null)
  }

  function remember(on: object, name: string): void {
    seen.add(on)
    language.add(on)
    const prototype = getPrototypeOf(on)
    if (prototype !== null && !seen.has(prototype)) queue.push([prototype, `${name}.__proto__`])
    const names = ownKeys(on)
    if (typeof on === 'function' && names.every(key => key === 'name' || key === 'length')) {
      Object.freeze(on)
      return
    }
    const properties = Object.create(null) as Kept['properties']
    for (const key of names) {
      const property = Object.setPrototypeOf(getOwnPropertyDescriptor(on, key)!, null) as PropertyDescriptor
      properties[key] = property
      const { value, get, set } = property
      for (const one of [value, get, set]) if (isObject(one)) queue.push([one, `${name}.${textOf(key)}`])
    }
    states.push({ on, name, prototype, names, properties })
  }

  const isAsKept = (was: PropertyDescriptor, is: PropertyDescriptor): boolean =>
    was.enumerable === is.enumerable &&
    was.configurable === is.configurable &&
    ('value' in was
      ? was.writable === is.writable && isSame(was.value, is.value)
      : was.get === is.get && was.set === is.set)

  /** Restores an object. Returns the first part of it that cannot be restored. */
  const putBackOne = ({ on, name, prototype, names, properties }: Kept): string | undefined => {
    let lasting: string | undefined
    if (!isExtensible(on)) lasting = name
    if (getPrototypeOf(on) !== prototype && !setPrototypeOf(on, prototype)) lasting ??= name
    const present = ownKeys(on)
    for (let at = 0; at < present.length; at += 1) {
      const key = present[at]!
      if (!(key in properties) && !deleteProperty(on, key)) lasting ??= `${name}.${textOf(key)}`
    }
    for (let at = 0; at < names.length; at += 1) {
      const key = names[at]!
      const was = properties[key]!
      const is = getOwnPropertyDescriptor(on, key)
      if (is && isAsKept(was, is)) continue
      if (!defineProperty(on, key, was)) lasting ??= `${name}.${textOf(key)}`
    }
    return lasting
  }

  return () => {
    let lasting: string | undefined
    for (let one = 0; one < states.length; one += 1) {
      const ofOne = putBackOne(states[one]!)
      lasting ??= ofOne
    }
    return lasting
  }
}
