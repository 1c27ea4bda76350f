/**
 * Leaves of the global object what the language itself has, the same in every sandbox: no network, no timers, no
 * making of code from text. Runs inside the sandbox: it stands alone.
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
    throw new EvalError('code cannot be made from text in a plugin')
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
  // Not every engine has it, and classes of errors call it as if all had.
  if (!('captureStackTrace' in Error))
    define(Error, 'captureStackTrace', (on: object) => define(on, 'stack', new Error().stack))
  // `RegExp.$1` and its like, which tell what another call matched last, and not every engine has.
  const told = new Set<PropertyKey>(['prototype', 'length', 'name', 'escape', Symbol.species])
  for (const key of Reflect.ownKeys(RegExp)) if (!told.has(key)) Reflect.deleteProperty(RegExp, key)
}
