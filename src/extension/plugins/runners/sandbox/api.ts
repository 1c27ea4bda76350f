import type {
  AuxWrite,
  CallExplanation,
  CustomEvent,
  LogLevel,
  LogLine,
  Missing,
  PluginCall,
} from '../runner.ts'
import type { SocotraApi } from '../script-api.ts'
import type { Basics, RealmHost } from './host.ts'

/** The globals of a script in addition to the language, and the lists that its calls fill. */
type ScriptCall = {
  readonly api: Record<keyof SocotraApi, unknown>
  readonly console: object
  readonly missing: readonly Missing[]
  readonly logs: readonly LogLine[]
  readonly writes: readonly AuxWrite[]
  readonly events: readonly CustomEvent[]
  readonly explained: CallExplanation | undefined
}

/**
 * Creates `socotraApi` and `console` for each call. Runs inside the sandbox, so it refers to nothing outside itself. Never iterate
 * values that outlive a call or call their methods: a script may have replaced the methods, and would get hold of the values.
 */
export function scriptApi(
  host: RealmHost,
  { empty, append, shown }: Basics,
): (called: PluginCall) => ScriptCall {
  const { parse, stringify } = JSON
  const { ownKeys } = Reflect
  const textOf = String
  const OwnProxy = Proxy
  const { limits } = host
  const isEntity = empty<true>()
  for (const name of host.entities) isEntity[name] = true
  const entityNames = host.entities.join(', ')

  const isGiven = (value: unknown): boolean => value !== undefined && value !== null
  const pair = (a: string, b: string): string => stringify([a, b])
  const byPair = <T>(list: readonly (readonly [string, string, T])[] = []): Map<string, T> =>
    new Map(list.map(([a, b, value]) => [pair(a, b), value]))

  const within = (what: string, value: string, most: number): string => {
    if (value.length > most)
      throw new RangeError(`${what} has ${value.length} characters, but the limit is ${most}`)
    return value
  }
  /** Rejects an object that has no text form of its own, because the text would be useless. */
  const asText = (what: string, value: unknown): string => {
    const text = isGiven(value) ? textOf(value) : ''
    if (typeof value === 'object' && text === '[object Object]')
      throw new TypeError(`${what} is an object; pass it as text, for example with JSON.stringify`)
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

  /** Collects the values that a call needs and was not given. */
  function asking({ gathers }: PluginCall) {
    const missing: Missing[] = []
    const requested = empty<true>()
    const stopped = { message: 'the call is stopped to fetch the values that it requests' }
    /** Stays true even if a script catches the error. Tenant code cannot reach `missing`. */
    let isStopped = false
    const stop = (): never => {
      isStopped = true
      throw stopped
    }
    const assertGoingOn = (): void => {
      if (isStopped) throw stopped
    }
    /** Requests a missing value. A gathering call continues with `instead`; any other call stops. */
    const ask = <T>(one: Missing, key: string, instead: T): T => {
      const requestKey = one.kind + key
      if (!(requestKey in requested)) {
        requested[requestKey] = true
        append(missing, one)
      }
      const most = one.kind === 'entity' ? limits.gatheredRecords : limits.gathered
      return gathers && missing.length < most ? instead : stop()
    }
    return { missing, stop, assertGoingOn, ask }
  }
  type Asking = ReturnType<typeof asking>

  /** Collects the look-ups and notes of a call that explains. */
  function explaining({ explains }: PluginCall) {
    const lookups: CallExplanation['lookups'][number][] = []
    const notes: CallExplanation['notes'][number][] = []
    const more = { lookups: 0, notes: 0 }
    const lookedUp = empty<true>()
    let characters = 0
    const noteLookUp = (table: string, key: string, value: string | null): void => {
      if (!explains) return
      const one = pair(table, key)
      if (one in lookedUp) return
      if (lookups.length < limits.lookups) {
        lookedUp[one] = true
        append(lookups, { table, key, value })
      } else more.lookups += 1
    }
    /** Does nothing unless the call explains; the value is not even converted to text. */
    const explain = (label: unknown, value: unknown): void => {
      if (!explains) return
      const note = { label: shown(label), value: shown(value) }
      characters += note.label.length + note.value.length
      if (notes.length < limits.notes && characters <= limits.explanation) append(notes, note)
      else more.notes += 1
    }
    return { noteLookUp, explain, explained: explains ? { lookups, notes, more } : undefined }
  }

  /** A time in milliseconds as text; undefined for anything else, such as a column's name. */
  const timeText = (value: unknown): string | undefined => {
    const text = textOf(typeof value === 'object' && value !== null ? Number(value) : value)
    return /^-?\d{11,15}$/.test(text) ? text : undefined
  }
  /** Must write keys as product/templates/effects.ts does. */
  const keyTextOf = (key: unknown): string => {
    if (typeof key !== 'object' || key === null) return textOf(key)
    let text = ''
    let between = ''
    for (const one of key as Iterable<unknown>) {
      text += between + textOf(one)
      between = '\u001f'
    }
    return text
  }
  /** The query to a range table, as text. */
  const wantedText = (keys: unknown, bound: unknown, operation: unknown, columns: unknown): string => {
    const texts: string[] = []
    for (const one of keys as Iterable<unknown>) texts[texts.length] = textOf(one)
    const how: Record<string, string> = {}
    for (const name of ownKeys((columns ?? {}) as object))
      how[textOf(name)] = textOf((columns as Record<PropertyKey, unknown>)[name])
    return stringify({
      keys: texts,
      bound: textOf(bound),
      operation: operation === undefined ? 'record' : textOf(operation),
      columns: how,
    })
  }
  const describeRow = (key: string): string => `row '${key.split('\u001d')[0]}'`
  /** Describes what `wantedText` wrote. */
  const describeRange = (wanted: string): string => {
    const { keys, bound } = parse(wanted)
    let text = 'row for '
    for (const key of keys) text += `'${key}' and `
    return `${text}the bound ${bound}`
  }
  /** Stands in for a range table's record while its values are unknown. */
  const unknownRecord = (): unknown =>
    new OwnProxy({}, { get: (_, column) => (typeof column === 'string' ? '' : undefined) })

  function tables(
    { product, known, resourceTables, datedTables, isStrict }: PluginCall,
    { missing, assertGoingOn, ask }: Asking,
    noteLookUp: (table: string, key: string, value: string | null) => void,
  ) {
    const isResource = new Set(resourceTables)
    const isResourceAtTimes = new Set(datedTables)
    const rows = byPair(known.rows)
    const ranges = byPair(known.ranges)
    const found = (table: string, key: string, value: string | null, describe = describeRow): string => {
      noteLookUp(table, key, value)
      // After a missing value, everything that follows is computed from placeholders.
      if (value === null && isStrict && missing.length === 0)
        throw new RangeError(
          `the table '${table}' has no ${describe(key)}, and the product is strict; add the row`,
        )
      return value ?? ''
    }
    const lookUp = (table: string, key: string, time: string | undefined): string => {
      const isElsewhere = (time === undefined ? isResource : isResourceAtTimes).has(table)
      const own = isElsewhere ? undefined : host.lookup(product, table, key)
      const keyAtTime = time === undefined ? key : `${key}\u001d${time}`
      if (own !== undefined) return found(table, keyAtTime, own)
      const row = pair(table, keyAtTime)
      const fetched = rows.get(row)
      if (fetched === undefined) return ask({ kind: 'row', table, key: keyAtTime }, row, '')
      return found(table, keyAtTime, fetched)
    }
    return {
      tableLookup(_version: unknown, table: unknown, key: unknown, column?: unknown, asOf?: unknown): string {
        assertGoingOn()
        const tableName = textOf(table)
        const keyText = keyTextOf(key)
        // Older scripts pass the time in place of the column.
        const instead = isGiven(asOf) ? undefined : timeText(column)
        const time = instead ?? timeText(asOf)
        if (time === undefined && isGiven(asOf))
          throw new TypeError(`the time of a look-up is ${shown(asOf)}, but must be in milliseconds`)
        const hasColumn = isGiven(column) && instead === undefined
        return lookUp(tableName, hasColumn ? `${keyText}\u001e${textOf(column)}` : keyText, time)
      },
      rangeLookup(
        table: unknown,
        keys: unknown,
        bound: unknown,
        operation?: unknown,
        columns?: unknown,
      ): unknown {
        assertGoingOn()
        const wanted = wantedText(keys, bound, operation, columns)
        const range = pair(textOf(table), wanted)
        const record = ranges.get(range)
        if (record === undefined)
          return ask({ kind: 'range', table: textOf(table), wanted }, range, unknownRecord())
        found(textOf(table), wanted, record, describeRange)
        return record === null ? null : parse(record)
      },
    }
  }

  function records({ known }: PluginCall, { missing, stop, assertGoingOn, ask }: Asking) {
    const entities = byPair(known.entities)
    const secrets = byPair(known.secrets)
    return {
      fetchByLocator(entity: unknown, locator: unknown): unknown {
        assertGoingOn()
        const kind = textOf(entity)
        if (!(kind in isEntity))
          throw new TypeError(`there is no entity '${kind}' to fetch; use one of ${entityNames}`)
        const recordKey = pair(kind, textOf(locator))
        const record = entities.get(recordKey)
        if (record === undefined)
          return ask({ kind: 'entity', entity: kind, locator: textOf(locator) }, recordKey, null)
        return parse(stringify(record))
      },
      getSecret(staticName: unknown, item: unknown): unknown {
        assertGoingOn()
        const secretName = namedWithin('the static name of a secret', staticName)
        const itemName = namedWithin('the item of a secret', item)
        const one = pair(secretName, itemName)
        const value = secrets.get(one)
        if (value !== undefined) return parse(stringify(value))
        // Each read of a secret is audited. A call that lacks other values may not get this far once it has them, so it must not
        // cause one.
        if (missing.length > 0) return stop()
        ask({ kind: 'secret', staticName: secretName, item: itemName }, one, null)
        return stop()
      },
    }
  }

  /** Auxiliary data and events. A call can read what it has written itself. */
  function writing({ known }: PluginCall, { assertGoingOn, ask }: Asking) {
    const writes: AuxWrite[] = []
    const events: CustomEvent[] = []
    const aux = byPair(known.aux)
    const auxLocators = new Set(known.auxLocators)
    let written = 0
    const assertMayWrite = (characters: number): void => {
      if (writes.length + events.length >= limits.writes)
        throw new RangeError(`a call can make at most ${limits.writes} writes and events`)
      written += characters
      if (written > limits.written)
        throw new RangeError(`a call can write at most ${limits.written} characters`)
    }
    const functions = {
      getAuxData(locator: unknown, key: unknown): string {
        assertGoingOn()
        const [whose, which] = auxNames(locator, key)
        const one = pair(whose, which)
        const value = aux.get(one)
        if (value !== undefined) return value
        if (auxLocators.has(whose)) return ''
        return ask({ kind: 'aux', locator: whose, key: which }, one, '')
      },
      setAuxData(locator: unknown, key: unknown, value: unknown, uiType?: unknown): void {
        assertGoingOn()
        const [whose, which] = auxNames(locator, key)
        const what = 'the value of auxiliary data'
        const text = within(what, asText(what, value), limits.auxValue)
        const type = isGiven(uiType) ? { uiType: textOf(uiType) as AuxWrite['uiType'] } : {}
        if (type.uiType !== undefined && !['normal', 'hidden', 'readonly'].includes(type.uiType))
          throw new TypeError(`'${type.uiType}' is not a uiType; use normal, hidden or readonly`)
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
            `'${kind}' is not a type of a custom event: it must begin with 'custom.', such as 'custom.rate.referred'`,
          )
        if (typeof data !== 'object' || data === null || Array.isArray(data))
          throw new TypeError('the data of a custom event must be an object')
        // Readers accept any text as a value, so missing values are left out instead of becoming 'undefined' or 'null'.
        const given = Object.entries(data).filter(([, value]) => isGiven(value))
        const texts = Object.fromEntries(given.map(([field, value]) => [field, shown(value)]))
        assertMayWrite(within('the data of a custom event', stringify(texts), limits.eventData).length)
        append(events, { type: kind as CustomEvent['type'], data: texts })
      },
    }
    return { writes, events, functions }
  }

  function logging() {
    const logs: LogLine[] = []
    let logged = 0
    const log =
      (level: LogLevel) =>
      (...parts: unknown[]): void => {
        if (logs.length > limits.logLines || logged > limits.log) return
        const line = parts.map(shown).join(' ').slice(0, limits.log)
        logged += line.length
        if (logs.length < limits.logLines && logged <= limits.log) append(logs, { level, text: line })
        else append(logs, { level: 'warn', text: 'The log of this call is full; further lines are omitted.' })
      }
    const nothing = (): void => {}
    const named = (names: string, make: () => unknown): object =>
      Object.fromEntries(names.split(' ').map(name => [name, make()]))
    // A complete console: a forgotten debugging line must not fail rating.
    const console = {
      ...named('log info dir dirxml table group groupCollapsed count', () => log('info')),
      ...named('debug trace', () => log('debug')),
      warn: log('warn'),
      error: log('error'),
      assert: (holds: unknown, ...parts: unknown[]) => {
        if (!holds) log('error')('Assertion failed', ...parts)
      },
      ...named('groupEnd countReset time timeLog timeEnd clear', () => nothing),
    }
    return { logs, console }
  }

  return called => {
    const asked = asking(called)
    const { noteLookUp, explain, explained } = explaining(called)
    const { tableLookup, rangeLookup } = tables(called, asked, noteLookUp)
    const { fetchByLocator, getSecret } = records(called, asked)
    const { writes, events, functions } = writing(called, asked)
    const { getAuxData, setAuxData, deleteAuxData, createCustomEvent } = functions
    const { logs, console } = logging()
    const api = {
      explain,
      tableLookup,
      rangeLookup,
      fetchByLocator,
      getAuxData,
      getSecret,
      setAuxData,
      deleteAuxData,
      createCustomEvent,
    }
    return { api, console, missing: asked.missing, logs, writes, events, explained }
  }
}
