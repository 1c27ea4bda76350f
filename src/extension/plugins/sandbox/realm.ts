import type {
  AuxWrite,
  CallExplanation,
  CallFailure,
  CustomEvent,
  LogLevel,
  LogLine,
  Missing,
  PluginCall,
} from '../runner.ts'
import type { SocotraApi } from '../script-api.ts'
import type { PutBack } from './language.ts'

type LimitName =
  | ('output' | 'turns' | 'logLines' | 'log' | 'writes' | 'written')
  | ('auxName' | 'auxValue' | 'eventData' | 'gathered' | 'gatheredRecords')
  | ('lookups' | 'notes' | 'explanation')

/** The sandbox gets this from outside; it can reach nothing else. */
export type RealmHost = {
  /** Paths of all scripts, with the problem of each that cannot run. */
  readonly scripts: readonly { path: string; problem?: { message: string; line: number } }[]
  /** The function of a script (script.ts), unseen by earlier calls. */
  script(path: string): (...given: unknown[]) => void
  /** A row of a table; null for none, undefined when it must be fetched. */
  lookup(product: string, table: string, key: string): string | null | undefined
  /** Reads arguments that are not sent as JSON. */
  unpack?(packed: unknown): unknown
  readonly entities: readonly string[]
  /** Functions that may return nothing, which then becomes `null`. */
  readonly mayReturnNothing: readonly string[]
  readonly limits: Readonly<Record<LimitName, number>>
}

/**
 * Carries out calls one after the other: a PluginCall in, a CallOutcome (or SPOILED) out, both as JSON. `packed` replaces the call's
 * arguments and is read by `host.unpack`.
 */
export type Realm = { run(call: string, packed?: unknown): Promise<string> }

/**
 * Requires the tenant's files, calls the function and collects the result. Each call must find everything as the first one did. Runs inside
 * the sandbox: it refers to nothing outside itself. Scripts cannot reach what outlives a call, since they may have changed anything that
 * a method or a promise looks up.
 */
export function realm(
  setClock: (now: number, seed: number) => void,
  host: RealmHost,
  putBack: PutBack,
): Realm {
  const { parse, stringify } = JSON
  const { ownKeys, defineProperty, getPrototypeOf } = Reflect
  const [textOf, isNumber] = [String, Number.isFinite]
  const [OwnPromise, OwnProxy] = [Promise, Proxy]
  const promiseOf = Promise.resolve.bind(Promise) as (value: unknown) => Promise<unknown>
  const { then } = Promise.prototype
  const call = Function.prototype.call.bind(Function.prototype.call) as (...given: unknown[]) => unknown
  const { limits } = host
  type Problem = RealmHost['scripts'][number]['problem']
  const empty = <T>(): Record<string, T> => Object.create(null) as Record<string, T>
  const among = (names: readonly string[]): Record<string, true> => {
    const record = empty<true>()
    for (const name of names) record[name] = true
    return record
  }
  const problems = empty<Problem | null>()
  for (const { path, problem } of host.scripts) problems[path] = problem ?? null
  const isEntity = among(host.entities)
  const entityNames = host.entities.join(', ')
  const mayReturnNothing = among(host.mayReturnNothing)

  /** Works even if a script changed lists. */
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
        return 'calls itself too deep (recursion without end?)'
      if (String(message) === 'out of memory') return 'needs more memory than a plugin may have'
      return name === undefined || name === '' ? String(message) : `${String(name)}: ${String(message)}`
    } catch {
      return 'threw what cannot be shown'
    }
  }

  /** Deeper than any script derives errors, and than a proxy may lead. */
  const MOST_CLASSES = 10

  /** The classes of an error: a constructor's own line is not the place where the error was thrown. */
  const classesOf = (thrown: object): Record<string, true> => {
    const names = empty<true>()
    let one = getPrototypeOf(thrown)
    for (let depth = 0; one !== null && depth < MOST_CLASSES; depth += 1) {
      names[String((one.constructor as { name?: unknown } | undefined)?.name)] = true
      one = getPrototypeOf(one)
    }
    return names
  }

  /** The first of the tenant's own lines towards the place of the throw, except those that made the error. */
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

  /** CommonJS' `require` over the archive's scripts: relative, or from the folder `scripts/` and its `lib/`. */
  function loader(places: WeakMap<object, string>) {
    const loaded = new Map<string, { exports: unknown }>()
    const found = (from: string, request: string): string | undefined => {
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
          if (one + ending in problems) return one + ending
      return undefined
    }
    const resolve = (from: string, request: string): string => {
      const path = found(from, request)
      if (path !== undefined) return path
      const missing: Error & { code?: string } = new Error(
        `cannot find '${request}', which ${from} requires; it is not below scripts/`,
      )
      // As in Node: libraries tell by it that a part is not there from one that fails.
      missing.code = 'MODULE_NOT_FOUND'
      throw missing
    }
    const load = (path: string): unknown => {
      const known = loaded.get(path)
      if (known) return known.exports
      const problem = problems[path]
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
      /** Of what nothing is asked: no matter if it is not there. */
      require.unused = (request: string): unknown =>
        found(from, request) === undefined ? undefined : require(request)
      /** An ES module's view of another file. */
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

  /** The outcome of a call that did not spoil the sandbox for the next one. */
  async function executeCall(text: string, packed: unknown): Promise<string> {
    const called = parse(text) as PluginCall
    const {
      product,
      path,
      function: name,
      now,
      seed,
      known,
      resourceTables,
      datedTables,
      gathers,
      explains,
      isStrict,
    } = called
    const given = packed === undefined ? called.arguments : (host.unpack!(packed) as readonly unknown[])
    const missing: Missing[] = []
    const logs: LogLine[] = []
    const writes: AuxWrite[] = []
    const events: CustomEvent[] = []
    const pair = (a: string, b: string): string => stringify([a, b])
    const byPair = <T>(list: readonly (readonly [string, string, T])[] = []): Map<string, T> =>
      new Map(list.map(([a, b, value]) => [pair(a, b), value]))
    const aux = byPair(known.aux)
    const auxLocators = new Set(known.auxLocators)
    const entities = byPair(known.entities)
    const isResource = new Set(resourceTables)
    const isResourceAtTimes = new Set(datedTables)
    const secrets = byPair(known.secrets)
    const rows = byPair(known.rows)
    const ranges = byPair(known.ranges)
    const stopped = { message: 'the call is stopped to fetch what it asks for' }
    /** Once stopped it stays stopped, even if a script catches the error: `missing` is out of the tenant's reach. */
    let isStopped = false
    const stop = (): never => {
      isStopped = true
      throw stopped
    }
    const assertGoingOn = (): void => {
      if (isStopped) throw stopped
    }
    const requested = empty<true>()
    /** Asks for a missing value. A gathering call continues with `instead`; otherwise the call stops. */
    const ask = <T>(one: Missing, key: string, instead: T): T => {
      const requestKey = one.kind + key
      if (!(requestKey in requested)) {
        requested[requestKey] = true
        append(missing, one)
      }
      const most = one.kind === 'entity' ? limits.gatheredRecords : limits.gathered
      return gathers && missing.length < most ? instead : stop()
    }
    /** Stands in for a range table's record while its columns are unknown. */
    const unknownRecord = (): unknown =>
      new OwnProxy({}, { get: (_, column) => (typeof column === 'string' ? '' : undefined) })
    const within = (what: string, value: string, most: number): string => {
      if (value.length > most)
        throw new RangeError(`${what} has ${value.length} characters, more than ${most}`)
      return value
    }
    /** An object without a text of its own is useless. */
    const asText = (what: string, value: unknown): string => {
      const text = value === undefined || value === null ? '' : textOf(value)
      if (typeof value === 'object' && text === '[object Object]')
        throw new TypeError(`${what} is an object; it has to be text, as JSON.stringify makes it`)
      return text
    }
    const namedWithin = (what: string, value: unknown): string => {
      const named = within(what, asText(what, value), limits.auxName)
      if (named === '') throw new TypeError(`${what} is empty`)
      return named
    }
    const auxNames = (locator: unknown, key: unknown): [string, string] => [
      namedWithin('the locator of auxiliary data', locator),
      namedWithin('the key of auxiliary data', key),
    ]
    let written = 0
    const assertMayWrite = (characters: number): void => {
      if (writes.length + events.length >= limits.writes)
        throw new RangeError(`a call makes at most ${limits.writes} writes and events`)
      written += characters
      if (written > limits.written) throw new RangeError(`a call writes at most ${limits.written} characters`)
    }

    type Explained<Name extends 'lookups' | 'notes'> = CallExplanation[Name][number]
    const lookups: Explained<'lookups'>[] = []
    const notes: Explained<'notes'>[] = []
    const more = { lookups: 0, notes: 0 }
    const lookedUp = empty<true>()
    let explainedCharacters = 0
    /** Returns the value, and keeps the look-up where the call explains. */
    const found = (table: string, key: string, value: string | null): string => {
      if (explains) {
        const one = pair(table, key)
        if (!(one in lookedUp)) {
          if (lookups.length < limits.lookups) {
            lookedUp[one] = true
            append(lookups, { table, key, value })
          } else more.lookups += 1
        }
      }
      // After a missing value everything is made up.
      if (value === null && isStrict && missing.length === 0)
        throw new RangeError(
          `the table '${table}' has no row '${key.split('\u001d')[0]}', and the product is strict; add the row`,
        )
      return value ?? ''
    }
    /** Does nothing where nobody asks: not even the value becomes text. */
    const explain = (label: unknown, value: unknown): void => {
      if (!explains) return
      const note = { label: shown(label), value: shown(value) }
      explainedCharacters += note.label.length + note.value.length
      if (notes.length < limits.notes && explainedCharacters <= limits.explanation) append(notes, note)
      else more.notes += 1
    }

    /** A time in milliseconds as text; undefined for what is none, such as a column's name. */
    const timeText = (value: unknown): string | undefined => {
      const text = textOf(typeof value === 'object' && value !== null ? Number(value) : value)
      return /^-?\d{11,15}$/.test(text) ? text : undefined
    }

    const api = {
      explain,
      tableLookup(_version: unknown, table: unknown, key: unknown, column?: unknown, asOf?: unknown): string {
        assertGoingOn()
        const tableName = textOf(table)
        // As product/templates/effects.ts writes it.
        let keyText = ''
        if (typeof key === 'object' && key !== null) {
          let between = ''
          for (const one of key as Iterable<unknown>) {
            keyText += between + textOf(one)
            between = '\u001f'
          }
        } else keyText = textOf(key)
        // Older scripts give the time in the place of the column.
        const instead = asOf === undefined || asOf === null ? timeText(column) : undefined
        const time = instead ?? timeText(asOf)
        if (time === undefined && asOf !== undefined && asOf !== null)
          throw new TypeError(`the time of a look-up is ${shown(asOf)}, and has to be in milliseconds`)
        if (column !== undefined && column !== null && instead === undefined)
          keyText += `\u001e${textOf(column)}`
        const isElsewhere = (time === undefined ? isResource : isResourceAtTimes).has(tableName)
        const own = isElsewhere ? undefined : host.lookup(product, tableName, keyText)
        if (time !== undefined) keyText += `\u001d${time}`
        if (own !== undefined) return found(tableName, keyText, own)
        const row = pair(tableName, keyText)
        const fetched = rows.get(row)
        if (fetched === undefined) return ask({ kind: 'row', table: tableName, key: keyText }, row, '')
        return found(tableName, keyText, fetched)
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
        for (const one of keys as Iterable<unknown>) texts[texts.length] = textOf(one)
        const how: Record<string, string> = {}
        for (const name of ownKeys((columns ?? {}) as object))
          how[textOf(name)] = textOf((columns as Record<PropertyKey, unknown>)[name])
        const wanted = stringify({
          keys: texts,
          bound: textOf(bound),
          operation: operation === undefined ? 'record' : textOf(operation),
          columns: how,
        })
        const range = pair(textOf(table), wanted)
        const record = ranges.get(range)
        if (record === undefined)
          return ask({ kind: 'range', table: textOf(table), wanted }, range, unknownRecord())
        found(textOf(table), wanted, record)
        return record === null ? null : parse(record)
      },
      fetchByLocator(entity: unknown, locator: unknown): unknown {
        assertGoingOn()
        const kind = textOf(entity)
        if (!(kind in isEntity))
          throw new TypeError(`there is no entity '${kind}' to fetch; there are ${entityNames}`)
        const recordKey = pair(kind, textOf(locator))
        const record = entities.get(recordKey)
        if (record === undefined)
          return ask({ kind: 'entity', entity: kind, locator: textOf(locator) }, recordKey, null)
        return parse(stringify(record))
      },
      getAuxData(locator: unknown, key: unknown): string {
        assertGoingOn()
        const [whose, which] = auxNames(locator, key)
        const one = pair(whose, which)
        const value = aux.get(one)
        if (value !== undefined) return value
        if (auxLocators.has(whose)) return ''
        return ask({ kind: 'aux', locator: whose, key: which }, one, '')
      },
      getSecret(staticName: unknown, item: unknown): unknown {
        assertGoingOn()
        const secretName = namedWithin('the static name of a secret', staticName)
        const itemName = namedWithin('the item of a secret', item)
        const one = pair(secretName, itemName)
        const value = secrets.get(one)
        if (value !== undefined) return parse(stringify(value))
        // Each read is audited, so none is made for a call that may not get this far once its missing values are known.
        if (missing.length > 0) return stop()
        ask({ kind: 'secret', staticName: secretName, item: itemName }, one, null)
        return stop()
      },
      setAuxData(locator: unknown, key: unknown, value: unknown, uiType?: unknown): void {
        assertGoingOn()
        const [whose, which] = auxNames(locator, key)
        const what = 'the value of auxiliary data'
        const text = within(what, asText(what, value), limits.auxValue)
        const type =
          uiType === undefined || uiType === null ? {} : { uiType: textOf(uiType) as AuxWrite['uiType'] }
        if (type.uiType !== undefined && !['normal', 'hidden', 'readonly'].includes(type.uiType))
          throw new TypeError(`'${type.uiType}' is no uiType; there are normal, hidden, readonly`)
        assertMayWrite(whose.length + which.length + text.length)
        append(writes, { locator: whose, key: which, value: text, ...type })
        aux.set(pair(whose, which), text)
      },
      deleteAuxData(locator: unknown, key: unknown): void {
        assertGoingOn()
        const [whose, which] = auxNames(locator, key)
        assertMayWrite(whose.length + which.length)
        append(writes, { locator: whose, key: which, value: '', removes: true })
        aux.set(pair(whose, which), '')
      },
      createCustomEvent(type: unknown, data: unknown = {}): void {
        assertGoingOn()
        const kind = textOf(type)
        if (!/^custom(\.[A-Za-z0-9_-]{1,60}){1,4}$/.test(kind))
          throw new TypeError(
            `'${kind}' is no type of a custom event: it begins with 'custom.', as 'custom.rate.referred'`,
          )
        if (typeof data !== 'object' || data === null || Array.isArray(data))
          throw new TypeError('the data of a custom event is an object')
        const texts = Object.fromEntries(Object.entries(data).map(([field, value]) => [field, shown(value)]))
        assertMayWrite(within('the data of a custom event', stringify(texts), limits.eventData).length)
        append(events, { type: kind as CustomEvent['type'], data: texts })
      },
    } satisfies Record<keyof SocotraApi, unknown>
    let logged = 0
    const log =
      (level: LogLevel) =>
      (...parts: unknown[]): void => {
        if (logs.length > limits.logLines || logged > limits.log) return
        const line = parts.map(shown).join(' ').slice(0, limits.log)
        logged += line.length
        if (logs.length < limits.logLines && logged <= limits.log) append(logs, { level, text: line })
        else append(logs, { level: 'warn', text: 'The log of this call is full; what follows is cut off.' })
      }
    const define = (property: string, value: unknown): void => {
      defineProperty(globalThis, property, { value, writable: true, configurable: true, enumerable: false })
    }
    define('socotraApi', api)
    const nothing = (): void => {}
    const named = (names: string, make: () => unknown): object =>
      Object.fromEntries(names.split(' ').map(name => [name, make()]))
    // A whole console: a forgotten line is no reason not to rate.
    define('console', {
      ...named('log info dir dirxml table group groupCollapsed count', () => log('info')),
      ...named('debug trace', () => log('debug')),
      warn: log('warn'),
      error: log('error'),
      assert: (holds: unknown, ...parts: unknown[]) => {
        if (!holds) log('error')('Assertion failed', ...parts)
      },
      ...named('groupEnd countReset time timeLog timeEnd clear', () => nothing),
    })
    for (const entity of host.entities) define(entity, entity)
    setClock(now, seed)

    let valueText: string | undefined
    let failure: CallFailure | undefined
    const fail = (reason: string, at?: string, limit?: boolean): void => {
      failure = { reason, at, limit }
    }
    // JSON has no such numbers: they become text, which is no amount. Written once, since an answer may look different the second time.
    const readable = (_key: string, value: unknown): unknown =>
      typeof value === 'bigint' || (typeof value === 'number' && !isNumber(value)) ? textOf(value) : value
    const places = new WeakMap<object, string>()
    // Only `null` is awaited: a script may have changed what awaiting a promise does.
    try {
      type Exports = Record<string, unknown> | null | undefined
      let owner = loader(places)(path) as Exports
      let target = owner?.[name]
      if (target === undefined || target === null) {
        owner = owner?.default as Exports
        target = owner?.[name]
      }
      if (typeof target !== 'function')
        fail(`the file exports no function ${name}; end it with exports.${name} = ${name}`, path)
      else {
        // As a method of what the file exports: objects and classes call their own helpers by `this`.
        let result: unknown = call(target, owner, ...given)
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
          const outcome = settled as { value: unknown } | { thrown: unknown } | undefined
          if (outcome && 'thrown' in outcome) throw outcome.thrown
          if (outcome) result = outcome.value
          else fail('returned a promise that is never settled', path)
        }
        if (!failure) {
          try {
            valueText = stringify(result === undefined && name in mayReturnNothing ? null : result, readable)
            if (valueText === undefined) fail('returned nothing', path)
            else if (valueText.length > limits.output)
              fail(`returned ${valueText.length} characters, more than ${limits.output}`, path, true)
          } catch (problem) {
            fail(`returned what is no JSON: ${reasonOf(problem)}`, path)
          }
        }
      }
    } catch (thrown) {
      fail(reasonOf(thrown), placeOf(thrown, places) ?? path)
    }
    // The tenant's changes to built-in objects must not reach the answer or the next call.
    lasting = putBack()
    if (lasting !== undefined) {
      const reason = `changes ${lasting} for good; a plugin may not, since the next call would find it so`
      // The language cannot be trusted any more: each text is JSON already, and no `toJSON` is called.
      return `{"failure":{"reason":${stringify(reason)},"at":${stringify(path)}},"missing":[],"logs":[],"writes":[],"events":[]}`
    }
    const explained = explains ? { lookups, notes, more } : undefined
    const rest = stringify({ failure, missing, logs, writes, events, explained })
    // The answer is JSON already; of thousands of rates it is long.
    return failure || valueText === undefined ? rest : `{"value":${valueText},${rest.slice(1)}`
  }

  let lasting: string | undefined
  let hasRun = false
  let isBusy = false
  type Waiting = { go: () => void; next: Waiting | undefined }
  let first: Waiting | undefined
  let last: Waiting | undefined

  /** Works like any other awaited promise, even if the language was changed. */
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
        // The caller has the promise before a script runs.
        await null
        // Something that an earlier call left running may have changed the language since.
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
