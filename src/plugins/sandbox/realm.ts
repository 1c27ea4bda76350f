import type { AuxWrite, CallOutcome, CustomEvent, LogLevel, LogLine, Missing, PluginCall } from '../runner.ts'

/** What the sandbox is given from outside; nothing else of the outside is within its reach. */
export type RealmHost = {
  /** Paths of all scripts, with what is wrong with those that cannot run. */
  readonly scripts: readonly { path: string; problem?: { message: string; line: number } }[]
  /** The function of a script (script.ts). */
  script(path: string): (...given: unknown[]) => void
  /** A row of a table; null where there is none, undefined where it is not at hand. */
  lookup(product: string, table: string, key: string): string | null | undefined
  /** Reads arguments that do not come as JSON. */
  unpack?(packed: unknown): unknown
  /** Names of what can be fetched. */
  readonly entities: readonly string[]
  readonly limits: {
    readonly output: number
    readonly turns: number
    readonly logLines: number
    readonly log: number
    readonly writes: number
    readonly written: number
    readonly auxName: number
    readonly auxValue: number
    readonly eventData: number
  }
}

/**
 * Carries out a call, one after the other: a PluginCall and a CallOutcome as JSON. Where `packed` is given, the call's
 * arguments are what `host.unpack` makes of it.
 */
export type Realm = { run(call: string, packed?: unknown): Promise<string> }

/**
 * The sandbox's own side of a call: requires the tenant's files, calls the function, gathers what it made. Each call
 * finds everything as the first one did. Runs inside the sandbox: it stands alone.
 */
export function realm(setClock: (now: number, seed: number) => void, host: RealmHost): Realm {
  const { parse, stringify } = JSON
  const { ownKeys, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect
  const { indexOf } = String.prototype
  const [textOf, isNumber] = [String, Number.isFinite]
  const promiseOf = Promise.resolve.bind(Promise) as (value: unknown) => Promise<unknown>
  const { then } = Promise.prototype
  const call = Function.prototype.call.bind(Function.prototype.call) as (...given: unknown[]) => unknown
  const { limits } = host
  const paths = new Map(host.scripts.map(one => [one.path, one.problem]))
  const pristine = remembered()

  /** Every property of the language's own objects; nothing of it inherits what they become. */
  function remembered(): { on: object; kept: Record<PropertyKey, PropertyDescriptor> }[] {
    const found = new Set<object>([globalThis])
    for (const key of ownKeys(globalThis)) {
      const value = getOwnPropertyDescriptor(globalThis, key)!.value as unknown
      if (value === null || (typeof value !== 'function' && typeof value !== 'object')) continue
      found.add(value)
      const { prototype } = value as { prototype?: unknown }
      if (typeof prototype === 'object' && prototype !== null) found.add(prototype)
    }
    return [...found].map(on => {
      const kept = Object.create(null) as Record<PropertyKey, PropertyDescriptor>
      for (const key of ownKeys(on))
        kept[key] = Object.setPrototypeOf(getOwnPropertyDescriptor(on, key)!, null)
      return { on, kept }
    })
  }

  /** What is walked here is walked by number: a script may have changed what walking is. */
  function restore(): void {
    for (let one = 0; one < pristine.length; one += 1) {
      const { on, kept } = pristine[one]!
      const present = ownKeys(on)
      for (let at = 0; at < present.length; at += 1)
        if (!(present[at]! in kept)) deleteProperty(on, present[at]!)
      const keys = ownKeys(kept)
      for (let at = 0; at < keys.length; at += 1) {
        const was = kept[keys[at]!]!
        const is = getOwnPropertyDescriptor(on, keys[at]!)
        if (is && is.value === was.value && is.get === was.get && is.set === was.set) continue
        defineProperty(on, keys[at]!, was)
      }
    }
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
        return 'calls itself too deep (recursion without end?)'
      if (String(message) === 'out of memory') return 'needs more memory than a plugin may have'
      return name === undefined || name === '' ? String(message) : `${String(name)}: ${String(message)}`
    } catch {
      return 'threw what cannot be shown'
    }
  }

  const places = new WeakMap<object, string>()

  /** The first of the tenant's own lines on the way to where it was thrown. */
  const placeOf = (thrown: unknown): string | undefined => {
    try {
      if (typeof thrown !== 'object' || thrown === null) return undefined
      const known = places.get(thrown)
      if (known !== undefined) return known
      for (const frame of String((thrown as Error).stack).split('\n')) {
        const [, path, line] = /([^\s():]+):(\d+)(?::\d+)?\)?$/.exec(frame) ?? []
        if (path !== undefined && paths.has(path)) return `${path}:${line}`
      }
    } catch {
      // Whatever its `stack` is, it tells no place.
    }
    return undefined
  }

  /** CommonJS' `require` over the archive's scripts: relative, or from the folder `scripts/` and its `lib/`. */
  function loader() {
    const loaded = new Map<string, { exports: unknown }>()
    const resolve = (from: string, request: string): string => {
      const isRelative = /^\.\.?(\/|$)/.test(request)
      const begin = isRelative ? from.split('/').slice(0, -1) : []
      for (const step of request.split('/')) {
        if (step === '..') begin.pop()
        else if (step !== '.' && step !== '') begin.push(step)
      }
      const target = begin.join('/')
      const targets = isRelative ? [target] : [target, `lib/${target}`]
      for (const one of targets)
        for (const ending of ['', '.js', '.cjs', '.mjs', '.json', '/index.js'])
          if (paths.has(one + ending)) return one + ending
      throw new Error(`cannot find '${request}', which ${from} requires; it is not below scripts/`)
    }
    const load = (path: string): unknown => {
      const known = loaded.get(path)
      if (known) return known.exports
      const problem = paths.get(path)
      if (problem) {
        const error = new SyntaxError(problem.message)
        places.set(error, `${path}:${problem.line}`)
        throw error
      }
      const module = { exports: {} as unknown, id: path, filename: path }
      loaded.set(path, module)
      try {
        call(host.script(path), module.exports, module.exports, requireOf(path), module, path, folderOf(path))
      } catch (error) {
        loaded.delete(path)
        throw error
      }
      return module.exports
    }
    const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/')
    const requireOf = (from: string) => {
      const require = (request: unknown): unknown => load(resolve(from, String(request)))
      /** What an ES module sees of another file. */
      require.module = (request: string): object => {
        const exports = require(request)
        const isModule = typeof exports === 'object' && exports !== null && '__esModule' in exports
        return isModule ? exports : { ...(exports as object), default: exports }
      }
      require.all = (onto: object, exports: object): void => {
        for (const name of Object.keys(exports))
          if (name !== 'default' && !Object.hasOwn(onto, name))
            defineProperty(onto, name, {
              enumerable: true,
              get: () => (exports as Record<string, unknown>)[name],
            })
      }
      return require
    }
    return load
  }

  async function carriedOut(text: string, packed: unknown): Promise<string> {
    const called = parse(text) as PluginCall
    const { product, path, function: name, now, seed, known, resourceTables } = called
    // What an earlier call left running may have laid hands on the language since: objects are made with it.
    if (packed !== undefined) restore()
    const given = packed === undefined ? called.arguments : (host.unpack!(packed) as readonly unknown[])
    const missing: Missing[] = []
    const logs: LogLine[] = []
    const writes: AuxWrite[] = []
    const events: CustomEvent[] = []
    const pair = (a: string, b: string): string => stringify([a, b])
    const aux = new Map(known.aux.map(([locator, key, value]) => [pair(locator, key), value]))
    const auxLocators = new Set(known.auxLocators)
    const entities = new Map(
      known.entities.map(([entity, locator, record]) => [pair(entity, locator), record]),
    )
    const isResource = new Set(resourceTables)
    const secrets = new Map((known.secrets ?? []).map(([whose, item, value]) => [pair(whose, item), value]))
    const rows = new Map(known.rows.map(([table, key, value]) => [pair(table, key), value]))
    const ranges = new Map(
      (known.ranges ?? []).map(([table, wanted, record]) => [pair(table, wanted), record]),
    )
    const stopped = { message: 'the call is stopped to fetch what it asks for' }
    /** Once stopped it stays so, whatever catches it: `missing` is out of the tenant's reach. */
    const stop = (one: Missing): never => {
      missing[missing.length] = one
      throw stopped
    }
    const assertGoingOn = (): void => {
      if (missing.length > 0) throw stopped
    }
    const within = (what: string, value: string, most: number): string => {
      if (value.length > most)
        throw new RangeError(`${what} has ${value.length} characters, more than ${most}`)
      return value
    }
    const namedWithin = (what: string, value: unknown): string => {
      const named = value === undefined || value === null ? '' : within(what, String(value), limits.auxName)
      if (named === '') throw new TypeError(`${what} is empty`)
      return named
    }
    let written = 0
    const assertMayWrite = (characters: number): void => {
      if (writes.length + events.length >= limits.writes)
        throw new RangeError(`a call makes at most ${limits.writes} writes and events`)
      written += characters
      if (written > limits.written) throw new RangeError(`a call writes at most ${limits.written} characters`)
    }

    const api = {
      tableLookup(_version: unknown, table: unknown, key: unknown, column?: unknown): string {
        assertGoingOn()
        const tableName = String(table)
        // As resources/data-tables/look-up-key.ts writes it.
        let keyText = ''
        if (typeof key === 'object' && key !== null) {
          let between = ''
          for (const one of key as Iterable<unknown>) {
            keyText += between + String(one)
            between = '\u001f'
          }
        } else keyText = String(key)
        if (column !== undefined) keyText += `\u001e${String(column)}`
        const found = isResource.has(tableName) ? undefined : host.lookup(product, tableName, keyText)
        if (found !== undefined) return found ?? ''
        const fetched = rows.get(pair(tableName, keyText))
        if (fetched === undefined) return stop({ kind: 'row', table: tableName, key: keyText })
        return fetched ?? ''
      },
      rangeLookup(
        table: unknown,
        keys: unknown,
        bound: unknown,
        operation?: unknown,
        columns?: unknown,
      ): unknown {
        assertGoingOn()
        const texts: string[] = []
        for (const one of keys as Iterable<unknown>) texts[texts.length] = String(one)
        const how: Record<string, string> = {}
        for (const name of ownKeys((columns ?? {}) as object))
          how[String(name)] = String((columns as Record<PropertyKey, unknown>)[name])
        const wanted = stringify({
          keys: texts,
          bound: String(bound),
          operation: operation === undefined ? 'record' : String(operation),
          columns: how,
        })
        const record = ranges.get(pair(String(table), wanted))
        if (record === undefined) return stop({ kind: 'range', table: String(table), wanted })
        return record === null ? null : parse(record)
      },
      fetchByLocator(entity: unknown, locator: unknown): unknown {
        assertGoingOn()
        const kind = String(entity)
        if (!host.entities.includes(kind))
          throw new TypeError(`there is no entity '${kind}' to fetch; there are ${host.entities.join(', ')}`)
        const record = entities.get(pair(kind, String(locator)))
        if (record === undefined) return stop({ kind: 'entity', entity: kind, locator: String(locator) })
        return parse(stringify(record))
      },
      getAuxData(locator: unknown, key: unknown): string {
        assertGoingOn()
        const [whose, which] = [
          namedWithin('the locator of auxiliary data', locator),
          namedWithin('the key of auxiliary data', key),
        ]
        const value = aux.get(pair(whose, which))
        if (value !== undefined) return value
        if (auxLocators.has(whose)) return ''
        return stop({ kind: 'aux', locator: whose, key: which })
      },
      getSecret(staticName: unknown, item: unknown): unknown {
        assertGoingOn()
        const [whose, which] = [
          namedWithin('the static name of a secret', staticName),
          namedWithin('the item of a secret', item),
        ]
        const value = secrets.get(pair(whose, which))
        if (value === undefined) return stop({ kind: 'secret', staticName: whose, item: which })
        return parse(stringify(value))
      },
      setAuxData(locator: unknown, key: unknown, value: unknown, uiType?: unknown): void {
        assertGoingOn()
        const [whose, which] = [
          namedWithin('the locator of auxiliary data', locator),
          namedWithin('the key of auxiliary data', key),
        ]
        const text =
          value === undefined || value === null
            ? ''
            : within('the value of auxiliary data', String(value), limits.auxValue)
        if (
          uiType !== undefined &&
          uiType !== null &&
          !['normal', 'hidden', 'readonly'].includes(String(uiType))
        )
          throw new TypeError(`'${String(uiType)}' is no uiType; there are normal, hidden, readonly`)
        const type =
          uiType === undefined || uiType === null ? {} : { uiType: String(uiType) as AuxWrite['uiType'] }
        assertMayWrite(whose.length + which.length + text.length)
        writes[writes.length] = { locator: whose, key: which, value: text, ...type }
        aux.set(pair(whose, which), text)
      },
      createCustomEvent(type: unknown, data: unknown = {}): void {
        assertGoingOn()
        const kind = String(type)
        if (!/^custom(\.[A-Za-z0-9_-]{1,60}){1,4}$/.test(kind))
          throw new TypeError(
            `'${kind}' is no type of a custom event: it begins with 'custom.', as 'custom.rate.referred'`,
          )
        if (typeof data !== 'object' || data === null || Array.isArray(data))
          throw new TypeError('the data of a custom event is an object')
        const texts = Object.fromEntries(Object.entries(data).map(([field, value]) => [field, shown(value)]))
        assertMayWrite(within('the data of a custom event', stringify(texts), limits.eventData).length)
        events[events.length] = { type: kind as CustomEvent['type'], data: texts }
      },
    }
    let logged = 0
    const log =
      (level: LogLevel) =>
      (...parts: unknown[]): void => {
        if (logs.length > limits.logLines || logged > limits.log) return
        const line = parts.map(shown).join(' ').slice(0, limits.log)
        logged += line.length
        const isFull = logs.length === limits.logLines || logged > limits.log
        logs[logs.length] = isFull
          ? { level: 'warn', text: 'The log of this call is full; what follows is cut off.' }
          : { level, text: line }
      }
    const define = (property: string, value: unknown): void => {
      defineProperty(globalThis, property, { value, writable: true, configurable: true, enumerable: false })
    }
    define('socotraApi', api)
    define('console', {
      log: log('info'),
      info: log('info'),
      debug: log('debug'),
      trace: log('debug'),
      warn: log('warn'),
      error: log('error'),
    })
    for (const entity of host.entities) define(entity, entity)
    setClock(now, seed)

    type End = { made: string } | Pick<CallOutcome, 'failure'>
    const failing = (reason: string, at?: string, limit?: boolean): End => ({
      failure: { reason, at, limit },
    })
    // JSON has no such numbers: they go as text, which no amount is.
    const readable = (_key: string, value: unknown): unknown =>
      typeof value === 'bigint' || (typeof value === 'number' && !isNumber(value)) ? textOf(value) : value
    /** Of thousands of rates: written at once, and with an eye on each value only where one may need it. */
    const asJson = (result: unknown): string | undefined => {
      const before = { logs: logs.length, writes: writes.length, events: events.length }
      try {
        const made = stringify(result)
        if (made === undefined || call(indexOf, made, 'null') === -1) return made
      } catch {
        // A bigint, or what is no JSON in any case.
      }
      // What the answer itself did when it was written, it does again.
      logs.length = before.logs
      writes.length = before.writes
      events.length = before.events
      return stringify(result, readable)
    }
    const ended = async (): Promise<End> => {
      try {
        const exports = loader()(path) as Record<string, unknown> | null
        const target = exports?.[name] ?? (exports?.default as Record<string, unknown> | undefined)?.[name]
        if (typeof target !== 'function')
          return failing(`the file exports no function ${name}; end it with exports.${name} = ${name}`, path)
        let result: unknown = call(target, undefined, ...given)
        if (
          typeof result === 'object' &&
          result !== null &&
          typeof (result as { then?: unknown }).then === 'function'
        ) {
          let settled: { value: unknown } | { thrown: unknown } | undefined
          call(
            then,
            promiseOf(result),
            (value: unknown) => {
              settled = { value }
            },
            (thrown: unknown) => {
              settled = { thrown }
            },
          )
          for (let turn = 0; turn < limits.turns && settled === undefined; turn += 1) await null
          if (settled === undefined) return failing('returned a promise that is never settled', path)
          const found = settled as { value: unknown } | { thrown: unknown }
          if ('thrown' in found) throw found.thrown
          result = found.value
        }
        let made: string | undefined
        try {
          made = asJson(result)
        } catch (problem) {
          return failing(`returned what is no JSON: ${reasonOf(problem)}`, path)
        }
        if (made === undefined) return failing('returned nothing', path)
        if (made.length > limits.output)
          return failing(`returned ${made.length} characters, more than ${limits.output}`, path, true)
        return { made }
      } catch (thrown) {
        return failing(reasonOf(thrown), placeOf(thrown) ?? path)
      }
    }
    const end = await ended()
    // What the tenant made of the language's own objects shall not reach into the answer, nor into the next call.
    restore()
    const beside = stringify({ ...('made' in end ? {} : end), missing, logs, writes, events })
    // The answer is JSON already; of thousands of rates it is long.
    return 'made' in end ? `{"value":${end.made},${beside.slice(1)}` : beside
  }

  let last: Promise<unknown> = promiseOf(undefined)
  return {
    run(text, packed) {
      const turn = (): Promise<string> => carriedOut(text, packed)
      const own = call(then, last, turn, turn) as Promise<string>
      last = own
      return own
    },
  }
}
