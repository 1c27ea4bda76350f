// A sandbox for tenant code: no network; clock and randomness are passed in. isolate.ts and process-runner.ts (which calls quickjs.ts in
// a process beside the service) must behave the same (test/plugins/runners.service.test.ts).
import { isJsonObject } from '../../kernel/json.ts'
import type { CustomEventType } from '../../platform/events/types.ts'
import type { LoadedConfiguration } from '../../product/cache.ts'
import { MOST_EXPLAINED_LOOKUPS, MOST_EXPLAINED_NOTES, MOST_LOG_LINES, MOST_WRITES } from './limits.ts'
import type { CompiledScript } from './script.ts'

/** The tenant code of one configuration. Programs with the same `key` are the same. */
export type PluginProgram = {
  /** Contains tenant, generation, configuration version and archive. */
  readonly key: string
  readonly configuration: LoadedConfiguration
  /** By path below `scripts/`. */
  readonly scripts: ReadonlyMap<string, CompiledScript>
}

type UiType = 'normal' | 'hidden' | 'readonly'

/** Values that a call can read; others are fetched on request. */
export type Known = {
  /** Locator, key and value; the value is `''` where there is none. */
  aux: (readonly [locator: string, key: string, value: string])[]
  /** Locators of which `aux` has all keys. */
  auxLocators: string[]
  /** Entity, locator and the record; null where there is none. */
  entities: (readonly [entity: string, locator: string, record: unknown])[]
  /** Rows of tables that are not sent with the program: product, table, key and value; null where there is none. */
  rows: (readonly [table: string, key: string, value: string | null])[]
  /** Items of secrets: static name, item and value; null where there is none. For this call only. */
  secrets?: (readonly [staticName: string, item: string, value: unknown])[]
  /** Records of range tables: table, the question as JSON, and the record as JSON; null where there is none. */
  ranges?: (readonly [table: string, wanted: string, record: string | null])[]
}

/** Plain data, which crosses to the sandbox as JSON. */
export type PluginCall = {
  readonly product: string
  /** File of the function, below `scripts/`. */
  readonly path: string
  readonly function: string
  readonly arguments: readonly unknown[]
  /** The time of `Date`, in milliseconds, and the seed of `Math.random`. */
  readonly now: number
  readonly seed: number
  readonly known: Known
  /**
   * A missing value stops the call. A gathering call continues without it to find further missing values; then only `missing` counts, and
   * only its first entry is certain.
   */
  readonly gathers?: boolean
  /** Whether the outcome says what was looked up, and what the plugin notes by `socotraApi.explain`. */
  readonly explains?: boolean
  /** A row that a look-up does not find ends the call: of a strict product that is priced. */
  readonly isStrict?: boolean
  /** Tables that are resources of the tenant: their rows are fetched even if the configuration has a table of that name. */
  readonly resourceTables: readonly string[]
  /** The same of those that are resources at any time, for look-ups that name a time. */
  readonly datedTables: readonly string[]
}

/** A value that a call requested and did not find. */
export type Missing =
  | { readonly kind: 'aux'; readonly locator: string; readonly key: string }
  | { readonly kind: 'entity'; readonly entity: string; readonly locator: string }
  | { readonly kind: 'row'; readonly table: string; readonly key: string }
  | { readonly kind: 'secret'; readonly staticName: string; readonly item: string }
  | { readonly kind: 'range'; readonly table: string; readonly wanted: string }

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogLine = { readonly level: LogLevel; readonly text: string }
export type AuxWrite = {
  readonly locator: string
  readonly key: string
  readonly value: string
  readonly uiType?: UiType
  /** Whether what is stored is to go; `value` is empty then. */
  readonly removes?: true
}
export type CustomEvent = { readonly type: CustomEventType; readonly data: Readonly<Record<string, string>> }

/** What a call looked up and noted, for a worksheet. */
export type CallExplanation = {
  /** Each once, in order; null where there is no such row. */
  readonly lookups: readonly { readonly table: string; readonly key: string; readonly value: string | null }[]
  readonly notes: readonly { readonly label: string; readonly value: string }[]
  /** How many of each are left out. */
  readonly more: { readonly lookups: number; readonly notes: number }
}

export type CallFailure = {
  readonly reason: string
  /** The place in the tenant's files, such as `main/rater.js:12`. */
  readonly at?: string
  readonly limit?: boolean
}

export type CallOutcome = {
  readonly value?: unknown
  readonly failure?: CallFailure
  /** When anything is missing, nothing else of the outcome counts: fetch it and call again. */
  readonly missing: readonly Missing[]
  readonly logs: readonly LogLine[]
  readonly writes: readonly AuxWrite[]
  readonly events: readonly CustomEvent[]
  /** Where the call explains. */
  readonly explained?: CallExplanation
}

export type PluginRunner = {
  /** Failures of the code are in the outcome, including a call longer than `mostMs`. Throws only when the sandbox cannot be reached. */
  run(program: PluginProgram, call: PluginCall, mostMs?: number): Promise<CallOutcome>
}

/** The answer of a sandbox in which an earlier call changed the language for good. Nothing runs there any more. */
export const SPOILED = 'spoiled'

export const failed = (failure: CallFailure): CallOutcome => ({
  failure,
  missing: [],
  logs: [],
  writes: [],
  events: [],
})

/** A call that was ended after its `mostMs` milliseconds. */
export const tooLong = (mostMs: number): CallOutcome =>
  failed({ reason: `takes longer than ${mostMs / 1000} seconds`, limit: true })

/** Reads the sandbox's answer. A text that no realm produces is a failure like any other. */
export function readOutcome(text: unknown): CallOutcome {
  if (typeof text === 'string') {
    try {
      const outcome: unknown = JSON.parse(text)
      if (isOutcome(outcome)) return outcome
    } catch {
      // Not JSON: as below.
    }
  }
  return failed({ reason: 'the sandbox was broken from within' })
}

/** A script can change much of the language while it runs, so what the realm collected is checked again here. */
function isOutcome(outcome: unknown): outcome is CallOutcome {
  if (!isJsonObject(outcome)) return false
  const { failure, missing, logs, writes, events, explained } = outcome
  return (
    (failure === undefined || isFailure(failure)) &&
    isListOf(missing, Number.POSITIVE_INFINITY, isMissing) &&
    isListOf(logs, MOST_LOG_LINES + 1, one => LEVELS.has(one.level) && isText(one.text)) &&
    isListOf(writes, MOST_WRITES, isWrite) &&
    isListOf(events, MOST_WRITES, isEvent) &&
    (explained === undefined || isExplanation(explained))
  )
}

const LEVELS = new Set<unknown>(['debug', 'info', 'warn', 'error'])
const UI_TYPES = new Set<unknown>([undefined, 'normal', 'hidden', 'readonly'])

const ASKED: Readonly<Record<string, readonly string[]>> = {
  aux: ['locator', 'key'],
  entity: ['entity', 'locator'],
  row: ['table', 'key'],
  secret: ['staticName', 'item'],
  range: ['table', 'wanted'],
}

type Unread = Readonly<Record<string, unknown>>

const isText = (one: unknown): one is string => typeof one === 'string'

const isListOf = (list: unknown, most: number, isOne: (one: Unread) => boolean): boolean =>
  Array.isArray(list) && list.length <= most && list.every(one => isJsonObject(one) && isOne(one))

const isFailure = (one: unknown): boolean =>
  isJsonObject(one) &&
  isText(one.reason) &&
  (one.at === undefined || isText(one.at)) &&
  (one.limit === undefined || typeof one.limit === 'boolean')

const isMissing = (one: Unread): boolean =>
  isText(one.kind) && Object.hasOwn(ASKED, one.kind) && ASKED[one.kind]!.every(name => isText(one[name]))

const isWrite = ({ locator, key, value, uiType, removes }: Unread): boolean =>
  isText(locator) &&
  isText(key) &&
  isText(value) &&
  UI_TYPES.has(uiType) &&
  (removes === undefined || (removes === true && value === ''))

const isEvent = ({ type, data }: Unread): boolean =>
  isText(type) && CUSTOM_TYPE.test(type) && isJsonObject(data) && Object.values(data).every(isText)

const isExplanation = (one: unknown): boolean =>
  isJsonObject(one) &&
  isListOf(
    one.lookups,
    MOST_EXPLAINED_LOOKUPS,
    ({ table, key, value }) => isText(table) && isText(key) && (value === null || isText(value)),
  ) &&
  isListOf(one.notes, MOST_EXPLAINED_NOTES, ({ label, value }) => isText(label) && isText(value)) &&
  isJsonObject(one.more) &&
  Number.isSafeInteger(one.more.lookups) &&
  Number.isSafeInteger(one.more.notes)

/** Custom events as socotraApi.createCustomEvent takes them (sandbox/api.ts). */
const CUSTOM_TYPE = /^custom(\.[A-Za-z0-9_-]{1,60}){1,4}$/
