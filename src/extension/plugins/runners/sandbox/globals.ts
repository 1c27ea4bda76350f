// The globals that a script finds in addition to the language, `Intl`, `console` and `socotraApi`, and those that it does not find.

/**
 * Reduces the global object to the language itself, which is the same in every sandbox: no network, no timers, no code from text.
 * Runs inside the sandbox, so it refers to nothing outside itself.
 */
export function tidyGlobals(): void {
  const language = new Set<string>(
    `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise
    RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError globalThis JSON
    Math ArrayBuffer Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array
    Uint8ClampedArray Float32Array Float64Array DataView Map BigInt Set Iterator WeakMap WeakSet Proxy Reflect
    decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN`.split(
      /\s+/,
    ),
  )
  let owner: object | null = globalThis
  while (owner !== null && owner !== Object.prototype) {
    for (const key of Reflect.ownKeys(owner)) {
      if (typeof key === 'string' && (language.has(key) || key === 'constructor')) continue
      if (Reflect.deleteProperty(owner, key)) continue
      Reflect.defineProperty(owner, key, { value: undefined, writable: true })
    }
    owner = Reflect.getPrototypeOf(owner)
  }
  const refuse = (): never => {
    throw new EvalError('a plugin cannot create code from text')
  }
  const define = (on: object, name: string, value: unknown): void => {
    Reflect.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false })
  }
  define(globalThis, 'eval', refuse)
  const functions = [() => {}, async () => {}, function* () {}, async function* () {}]
  for (const one of functions) {
    const prototype = Reflect.getPrototypeOf(one) as { constructor: { prototype: unknown } }
    function Refusing(): never {
      return refuse()
    }
    Refusing.prototype = prototype
    define(prototype, 'constructor', Refusing)
    if (prototype === Function.prototype) define(globalThis, 'Function', Refusing)
  }
  define(globalThis, 'global', globalThis)
  // Some engines lack these, and error classes use them.
  if (!('captureStackTrace' in Error))
    define(Error, 'captureStackTrace', (on: object) => define(on, 'stack', new Error().stack))
  if (!('stackTraceLimit' in Error)) define(Error, 'stackTraceLimit', 10)
  // Where engines have these, they cannot be removed.
  for (const name of ['dispose', 'asyncDispose'])
    if (!(name in Symbol)) define(Symbol, name, Symbol(`Symbol.${name}`))
  // Newer parts of the language that only some engines have. A script that works with one engine must work with all.
  const { Iterator: Iterators } = globalThis as unknown as { Iterator: { prototype: object } }
  const newer: readonly (readonly [object, readonly string[]])[] = [
    [Array, ['fromAsync']],
    [Set, ['groupBy']],
    [JSON, ['rawJSON', 'isRawJSON']],
    [Iterators, ['zip', 'zipKeyed']],
    [Iterators.prototype, ['includes', 'join']],
    [Uint8Array, ['fromBase64', 'fromHex']],
    [Uint8Array.prototype, ['toBase64', 'toHex', 'setFromBase64', 'setFromHex']],
  ]
  for (const [owner, names] of newer) for (const name of names) Reflect.deleteProperty(owner, name)
  // `RegExp.$1` and similar properties reveal another call's last match, and some engines lack them.
  const standardKeys = new Set<PropertyKey>(['prototype', 'length', 'name', 'escape', Symbol.species])
  for (const key of Reflect.ownKeys(RegExp)) if (!standardKeys.has(key)) Reflect.deleteProperty(RegExp, key)
}

/**
 * Adds what plain JavaScript can provide without the outside: `structuredClone`, `atob` and `btoa`. Engines have these only
 * outside the language, if at all. Lets the order of a list not depend on the engine. Runs inside the sandbox, so it refers to
 * nothing outside itself.
 */
export function addGlobals(): void {
  const define = (on: object, name: string, value: unknown): void => {
    Reflect.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: false })
  }
  const textOf = String

  const uncloneable = (what: string): Error => {
    const error = new Error(`${what} cannot be cloned`)
    define(error, 'name', 'DataCloneError')
    return error
  }
  const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }

  /** The copy of an object without its contents. */
  const emptyCopy = (one: object): object => {
    if (Array.isArray(one)) return new Array(one.length)
    if (one instanceof Date) return new Date(one.getTime())
    if (one instanceof RegExp) return new RegExp(one.source, one.flags)
    if (one instanceof Map) return new Map()
    if (one instanceof Set) return new Set()
    if (one instanceof Error) {
      const Kind = ERRORS[one.name as keyof typeof ERRORS] ?? Error
      const copy = new Kind(one.message)
      define(copy, 'stack', one.stack)
      return copy
    }
    if (one instanceof ArrayBuffer) return one.slice(0)
    if (one instanceof String || one instanceof Number || one instanceof Boolean || one instanceof BigInt)
      return Object(one.valueOf()) as object
    if (one instanceof Promise || one instanceof WeakMap || one instanceof WeakSet)
      throw uncloneable(`a ${one.constructor.name}`)
    return {}
  }

  const clone = (value: unknown, copies: Map<unknown, unknown>): unknown => {
    if (typeof value === 'function' || typeof value === 'symbol') throw uncloneable(`a ${typeof value}`)
    if (typeof value !== 'object' || value === null) return value
    if (copies.has(value)) return copies.get(value)
    if (ArrayBuffer.isView(value)) {
      const { buffer, byteOffset, byteLength } = value
      const View = value.constructor as new (buffer: unknown, offset: number, length: number) => object
      const length = value instanceof DataView ? byteLength : (value as Uint8Array).length
      const view = new View(clone(buffer, copies), byteOffset, length)
      copies.set(value, view)
      return view
    }
    const copy = emptyCopy(value)
    copies.set(value, copy)
    if (value instanceof Map)
      for (const [key, one] of [...value])
        (copy as Map<unknown, unknown>).set(clone(key, copies), clone(one, copies))
    else if (value instanceof Set)
      for (const one of [...value]) (copy as Set<unknown>).add(clone(one, copies))
    else if (value instanceof Error) {
      if (Object.hasOwn(value, 'cause')) define(copy, 'cause', clone(value.cause, copies))
    } else if (Array.isArray(value) || Object.prototype.toString.call(copy) === '[object Object]')
      for (const key of Object.keys(value))
        (copy as Record<string, unknown>)[key] = clone((value as Record<string, unknown>)[key], copies)
    return copy
  }
  define(globalThis, 'structuredClone', (value: unknown): unknown => clone(value, new Map()))

  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  define(globalThis, 'btoa', (given: unknown): string => {
    const text = textOf(given)
    let encoded = ''
    for (let at = 0; at < text.length; at += 3) {
      const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)]
      if (a > 255 || b > 255 || c > 255)
        throw new RangeError(
          'btoa takes characters up to U+00FF; encode others first, as unescape(encodeURIComponent(text))',
        )
      const bits = (a << 16) | (b << 8) | c
      const left = text.length - at
      encoded += DIGITS.charAt(bits >> 18) + DIGITS.charAt((bits >> 12) & 63)
      encoded += left > 1 ? DIGITS.charAt((bits >> 6) & 63) : '='
      encoded += left > 2 ? DIGITS.charAt(bits & 63) : '='
    }
    return encoded
  })
  define(globalThis, 'atob', (given: unknown): string => {
    const text = textOf(given).replace(/[\t\n\f\r ]/g, '')
    const digits = text.length % 4 === 0 ? text.replace(/==?$/, '') : text
    if (digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits))
      throw new RangeError('atob takes text in Base64')
    let decoded = ''
    let bits = 0
    let count = 0
    for (const digit of digits) {
      bits = ((bits << 6) | DIGITS.indexOf(digit)) & 0xffff
      count += 6
      if (count < 8) continue
      count -= 8
      decoded += String.fromCharCode((bits >> count) & 255)
    }
    return decoded
  })

  // Authors write (a, b) => a > b, or a > b ? 1 : 0. The language leaves open what these sort to, and engines differ. A merge always
  // asks the same questions: whether a later entry belongs first and, if the answer says neither, whether the earlier one belongs after.
  type Compare = (a: unknown, b: unknown) => unknown
  type List = { length: number; [index: number]: unknown }
  const call = Function.prototype.call.bind(Function.prototype.call) as (...given: unknown[]) => unknown
  const sortBy = (list: List, compare: Compare): List => {
    const comesBefore = (later: unknown, earlier: unknown): boolean => {
      const order = compare(later, earlier) as number
      return order < 0 || (!(order > 0) && (compare(earlier, later) as number) > 0)
    }
    const { length } = list
    let [from, to]: [unknown[], unknown[]] = [[], []]
    // As in the language, `undefined` comes last, and then the entries that are absent.
    let present = 0
    for (let at = 0; at < length; at += 1) {
      if (!(at in list)) continue
      present += 1
      const value = list[at]
      if (value !== undefined) from[from.length] = value
    }
    const count = from.length
    for (let width = 1; width < count; width *= 2) {
      for (let start = 0; start < count; start += 2 * width) {
        const middle = Math.min(start + width, count)
        const end = Math.min(middle + width, count)
        let [left, right] = [start, middle]
        for (let at = start; at < end; at += 1) {
          const isLater = right < end && (left === middle || comesBefore(from[right], from[left]))
          to[at] = isLater ? from[right++] : from[left++]
        }
      }
      ;[from, to] = [to, from]
    }
    for (let at = 0; at < present; at += 1) list[at] = at < count ? from[at] : undefined
    for (let at = present; at < length; at += 1) delete list[at]
    return list
  }
  for (const prototype of [Array.prototype, Reflect.getPrototypeOf(Int8Array.prototype) as Int8Array])
    for (const name of ['sort', 'toSorted'] as const) {
      const own = prototype[name]
      const methods = {
        [name](this: List, compare?: Compare): unknown {
          if (typeof compare !== 'function') return call(own, this, compare)
          return sortBy(name === 'sort' ? this : (call(own, this, () => 0) as List), compare)
        },
      }
      define(prototype, name, methods[name])
    }
}
