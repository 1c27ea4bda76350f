import type { CallFailure, PluginCall } from '../runner.ts'
import type { scriptApi } from './api.ts'
import type { RealmHost } from './host.ts'
import type { PutBack } from './language.ts'
import type { moduleLoader } from './loader.ts'

/**
 * Executes calls one after the other: a PluginCall in, a CallOutcome (or SPOILED) out, both as JSON. `packed` replaces the call's
 * arguments and is read by `host.unpack`.
 */
export type Realm = { run(call: string, packed?: unknown): Promise<string> }

/**
 * Requires the tenant's files, calls the function and collects the result. Each call must find everything as the first call found
 * it. Runs inside the sandbox, so it refers to nothing outside itself. Scripts cannot reach what outlives a call. They may have
 * changed anything that a method or a promise looks up, so nothing here depends on it.
 */
export function realm(
  setClock: (now: number, seed: number) => void,
  host: RealmHost,
  putBack: PutBack,
  makeLoader: typeof moduleLoader,
  makeApi: typeof scriptApi,
): Realm {
  const { parse, stringify } = JSON
  const { defineProperty, getPrototypeOf } = Reflect
  const [textOf, isNumber] = [String, Number.isFinite]
  const OwnPromise = Promise
  const promiseOf = Promise.resolve.bind(Promise) as (value: unknown) => Promise<unknown>
  const { then } = Promise.prototype
  const call = Function.prototype.call.bind(Function.prototype.call) as (...given: unknown[]) => unknown
  const { limits } = host
  type Problem = RealmHost['scripts'][number]['problem']
  const empty = <T>(): Record<string, T> => Object.create(null) as Record<string, T>
  const problems = empty<Problem | null>()
  for (const { path, problem } of host.scripts) problems[path] = problem ?? null
  const absentGlobals = empty<string>()
  for (const name of Object.keys(host.absentGlobals)) absentGlobals[name] = host.absentGlobals[name]!
  const mayReturnNothing = empty<true>()
  for (const name of host.mayReturnNothing) mayReturnNothing[name] = true

  /** Works even if a script changed the methods of lists. */
  const append = <T>(list: T[], value: T): void => {
    const descriptor = { __proto__: null, value, writable: true, enumerable: true, configurable: true }
    defineProperty(list, list.length, descriptor)
  }

  const shown = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (typeof value === 'object' && value !== null) {
      if (value instanceof Error) return `${value.name}: ${value.message}`
      try {
        return stringify(value) ?? String(value)
      } catch {
        return Object.prototype.toString.call(value)
      }
    }
    return typeof value === 'function' ? 'a function' : String(value)
  }

  const reasonOf = (thrown: unknown): string => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return `threw ${shown(thrown)}`
      const { name, message } = thrown as { name?: unknown; message?: unknown }
      if (message === undefined) return `threw ${shown(thrown)}`
      if (/stack overflow|Maximum call stack/.test(String(message)))
        return 'calls itself too deeply (endless recursion?)'
      if (String(message) === 'out of memory') return 'needs more memory than a plugin may have'
      const [, absent] = /^'?([\w$]+)'? is not defined$/.exec(String(message)) ?? []
      const instead = absent !== undefined && absent in absentGlobals ? `: ${absentGlobals[absent]}` : ''
      // Engines quote the name differently.
      if (absent !== undefined) return `ReferenceError: ${absent} is not defined${instead}`
      return name === undefined || name === '' ? String(message) : `${String(name)}: ${String(message)}`
    } catch {
      return 'threw a value that cannot be shown'
    }
  }

  /** No script derives errors this deep. The limit also ends the prototype chain of a proxy. */
  const MOST_CLASSES = 10

  /** The names of an error's classes: a line in the error's own constructor is not the place where it was thrown. */
  const classesOf = (thrown: object): Record<string, true> => {
    const names = empty<true>()
    let one = getPrototypeOf(thrown)
    for (let depth = 0; one !== null && depth < MOST_CLASSES; depth += 1) {
      names[String((one.constructor as { name?: unknown } | undefined)?.name)] = true
      one = getPrototypeOf(one)
    }
    return names
  }

  /** The tenant's own line nearest to the throw, other than the lines that constructed the error. */
  const placeOf = (thrown: unknown, places: WeakMap<object, string>): string | undefined => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return undefined
      const known = places.get(thrown)
      if (known !== undefined) return known
      const classes = classesOf(thrown)
      let made: string | undefined
      for (const frame of String((thrown as Error).stack).split('\n')) {
        const [, path, line] = /([^\s():]+):(\d+)(?::\d+)?\)?$/.exec(frame) ?? []
        if (path === undefined || !(path in problems)) continue
        const [, caller] = /^\s*at (?:new )?(\S+) \(/.exec(frame) ?? []
        if (caller === undefined || !(caller in classes)) return `${path}:${line}`
        made ??= `${path}:${line}`
      }
      return made
    } catch {
      // An unreadable `stack` gives no place.
    }
    return undefined
  }

  const loaderOf = makeLoader(host, problems)
  const apiOf = makeApi(host, { empty, append, shown })

  const define = (property: string, value: unknown): void => {
    defineProperty(globalThis, property, { value, writable: true, configurable: true, enumerable: false })
  }

  type Exports = Record<string, unknown> | null | undefined
  /** The function that a file exports, directly or as a property of its default export, and the object whose method it is. */
  const exported = (exports: Exports, name: string): { owner: Exports; target: unknown } => {
    const target = exports?.[name]
    if (target !== undefined && target !== null) return { owner: exports, target }
    const owner = exports?.default as Exports
    return { owner, target: owner?.[name] }
  }

  type Outcome = { readonly isThrown: boolean; readonly value: unknown }
  /** Gets its outcome when the result is available: immediately, unless the result is a promise. */
  type Settling = { outcome: Outcome | undefined }
  const settlingOf = (result: unknown): Settling => {
    const isPromise =
      typeof result === 'object' &&
      result !== null &&
      typeof (result as { then?: unknown }).then === 'function'
    if (!isPromise) return { outcome: { isThrown: false, value: result } }
    const settling: Settling = { outcome: undefined }
    const settle = (isThrown: boolean) => (value: unknown) => {
      settling.outcome = { isThrown, value }
    }
    call(then, promiseOf(result), settle(false), settle(true))
    return settling
  }

  /** The result of a call. `value` is JSON. */
  type Answer = { readonly value?: string; readonly failure?: CallFailure }
  const failing = (reason: string, at: string, limit?: boolean): Answer => ({
    failure: { reason, at, limit },
  })
  // JSON has no such numbers, so they become text, which is not an amount. Serialized only once, because an answer may look
  // different the second time.
  const readable = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' || (typeof value === 'number' && !isNumber(value)) ? textOf(value) : value
  const answerOf = (result: unknown, name: string, path: string): Answer => {
    try {
      const value = stringify(result === undefined && name in mayReturnNothing ? null : result, readable)
      if (value === undefined) return failing('returned nothing', path)
      if (value.length > limits.output)
        return failing(`returned ${value.length} characters, but the limit is ${limits.output}`, path, true)
      return { value }
    } catch (problem) {
      const reason = reasonOf(problem)
      const shownReason = /circular/.test(reason) ? 'it contains itself' : reason
      return failing(`returned a value that is not JSON: ${shownReason}`, path)
    }
  }

  /** Executes one call in a sandbox that is not spoiled, and restores the language afterwards. */
  async function executeCall(text: string, packed: unknown): Promise<string> {
    const called = parse(text) as PluginCall
    const { path, function: name, now, seed } = called
    const given = packed === undefined ? called.arguments : (host.unpack!(packed) as readonly unknown[])
    const { api, console, missing, logs, writes, events, explained } = apiOf(called)
    define('socotraApi', api)
    define('console', console)
    for (const entity of host.entities) define(entity, entity)
    setClock(now, seed)

    let answer: Answer
    const places = new WeakMap<object, string>()
    try {
      const { owner, target } = exported(loaderOf(places)(path) as Exports, name)
      if (typeof target === 'function') {
        // Called as a method of the exported object: objects and classes call their own helpers through `this`.
        const settling = settlingOf(call(target, owner, ...given))
        // Awaits only `null`: a script may have changed what awaiting a promise does.
        for (let turn = 0; turn < limits.turns && settling.outcome === undefined; turn += 1) await null
        const { outcome } = settling
        if (outcome?.isThrown) throw outcome.value
        answer = outcome
          ? answerOf(outcome.value, name, path)
          : failing('returned a promise that never settles', path)
      } else
        answer = failing(`the file exports no function ${name}; end it with exports.${name} = ${name}`, path)
    } catch (thrown) {
      answer = failing(reasonOf(thrown), placeOf(thrown, places) ?? path)
    }
    // The tenant's changes to built-in objects must not reach the answer or the next call.
    lasting = putBack()
    if (lasting !== undefined) {
      const reason = `changes ${lasting} irreversibly, which a plugin must not do, because it would affect the next call`
      // The language is no longer reliable. Each text below is already JSON, so no `toJSON` is called.
      return `{"failure":{"reason":${stringify(reason)},"at":${stringify(path)}},"missing":[],"logs":[],"writes":[],"events":[]}`
    }
    const rest = stringify({ failure: answer.failure, missing, logs, writes, events, explained })
    // The value is already JSON. It is long if it contains thousands of rates, so it is not serialized again.
    return answer.value === undefined ? rest : `{"value":${answer.value},${rest.slice(1)}`
  }

  let lasting: string | undefined
  let hasRun = false
  let isBusy = false
  type Waiting = { go: () => void; next: Waiting | undefined }
  let first: Waiting | undefined
  let last: Waiting | undefined

  /** Can be awaited like any promise, even if the language was changed. */
  const nextTurn = (): Promise<void> => {
    const turn = new OwnPromise<void>(resolve => {
      const waiting: Waiting = { go: resolve, next: undefined }
      if (last) last.next = waiting
      else first = waiting
      last = waiting
    })
    defineProperty(turn, 'constructor', { __proto__: null, value: OwnPromise } as PropertyDescriptor)
    return turn
  }

  const pass = (): void => {
    const next = first
    first = next?.next
    if (!first) last = undefined
    if (next) next.go()
    else isBusy = false
  }

  return {
    async run(text, packed) {
      if (isBusy) await nextTurn()
      isBusy = true
      try {
        // The caller gets the promise before any script runs.
        await null
        // Something that an earlier call left running may have changed the language since then.
        if (hasRun) lasting ??= putBack()
        hasRun = true
        if (lasting !== undefined) return 'spoiled'
        const outcome = executeCall(text, packed)
        defineProperty(outcome, 'constructor', { __proto__: null, value: OwnPromise } as PropertyDescriptor)
        return await outcome
      } finally {
        pass()
      }
    },
  }
}
