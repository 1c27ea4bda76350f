// The sandbox for tenant code. It has no network; the time and the random seed are passed in. isolate.ts and process-runner.ts
// (which runs quickjs.ts in a separate process) must behave identically (test/plugins/runners.service.test.ts).
import { isJsonObject } from '../../../kernel/json.ts'
import type { CustomEventType } from '../../../platform/events/types.ts'
import type { LoadedConfiguration } from '../../../product/cache.ts'
import { MOST_EXPLAINED_LOOKUPS, MOST_EXPLAINED_NOTES, MOST_LOG_LINES, MOST_WRITES } from './limits.ts'
import type { CompiledScript } from './script.ts'

/** The tenant code of one configuration. Programs with the same `key` are identical. */
export type PluginProgram = {
  /** Contains tenant, generation, configuration version and archive. */
  readonly key: string
  readonly configuration: LoadedConfiguration
  /** By path under `scripts/`. */
  readonly scripts: ReadonlyMap<string, CompiledScript>
}

type UiType = 'normal' | 'hidden' | 'readonly'

/** The values that a call can read. Others are fetched when it requests them. */
export type Known = {
  /** Locator, key and value; the value is `''` if there is none. */
  aux: (readonly [locator: string, key: string, value: string])[]
  /** Locators whose keys are all in `aux`. */
  auxLocators: string[]
  /** Entity, locator and record; null if there is none. */
  entities: (readonly [entity: string, locator: string, record: unknown])[]
  /** Rows of tables that are not sent with the program: table, key and value; null if there is none. */
  rows: (readonly [table: string, key: string, value: string | null])[]
  /** Items of secrets: static name, item and value; null if there is none. Valid for this call only. */
  secrets?: (readonly [staticName: string, item: string, value: unknown])[]
  /** Records of range tables: table, query as JSON, and record as JSON; null if there is none. */
  ranges?: (readonly [table: string, wanted: string, record: string | null])[]
}

/** A call as plain data, which is passed to the sandbox as JSON. */
export type PluginCall = {
  readonly product: string
  /** The file of the function, under `scripts/`. */
  readonly path: string
  readonly function: string
  readonly arguments: readonly unknown[]
  /** The time that `Date` shows, in milliseconds, and the seed of `Math.random`. */
  readonly now: number
  readonly seed: number
  readonly known: Known
  /**
   * A missing value stops the call. A gathering call continues without it to find further missing values. Only `missing` counts
   * then, and only its first entry is certain.
   */
  readonly gathers?: boolean
  /** Whether the outcome lists the look-ups and what the plugin notes with `socotraApi.explain`. */
  readonly explains?: boolean
  /** Whether a look-up that finds no row fails the call. Set while a strict product is priced. */
  readonly isStrict?: boolean
  /** Tables that are resources of the tenant. Their rows are fetched even if the configuration has a table of that name. */
  readonly resourceTables: readonly string[]
  /** Tables that are resources at any time, for look-ups that specify a time. */
  readonly datedTables: readonly string[]
}

/** A value that a call requested and was not given. */
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
  /** Whether to delete the stored value; `value` is empty then. */
  readonly removes?: true
}
export type CustomEvent = { readonly type: CustomEventType; readonly data: Readonly<Record<string, string>> }

/** The look-ups and notes of a call, for a worksheet. */
export type CallExplanation = {
  /** Each look-up once, in order; the value is null if there is no such row. */
  readonly lookups: readonly { readonly table: string; readonly key: string; readonly value: string | null }[]
  readonly notes: readonly { readonly label: string; readonly value: string }[]
  /** How many look-ups and notes are left out. */
  readonly more: { readonly lookups: number; readonly notes: number }
}

export type CallFailure = {
  readonly reason: string
  /** The place in the tenant's scripts, such as `main/rater.js:12`. */
  readonly at?: string
  readonly limit?: boolean
}

export type CallOutcome = {
  readonly value?: unknown
  readonly failure?: CallFailure
  /** If anything is missing, nothing else in the outcome counts: fetch the values and call again. */
  readonly missing: readonly Missing[]
  readonly logs: readonly LogLine[]
  readonly writes: readonly AuxWrite[]
  readonly events: readonly CustomEvent[]
  /** Present if the call explains. */
  readonly explained?: CallExplanation
}

export type PluginRunner = {
  /**
   * Runs a call. Failures of the code, including a call longer than `mostMs`, are in the outcome. Throws only if the sandbox cannot
   * be reached.
   */
  run(program: PluginProgram, call: PluginCall, mostMs?: number): Promise<CallOutcome>
}

/** The answer of a sandbox in which an earlier call changed the language irreversibly. Nothing runs there any more. */
export const SPOILED = 'spoiled'

/** Returns the outcome of a failed call, without logs, writes and events. */
export const failed = (failure: CallFailure): CallOutcome => ({
  failure,
  missing: [],
  logs: [],
  writes: [],
  events: [],
})

/** The outcome of a call that was stopped after its `mostMs` milliseconds. */
export const timeoutOutcome = (mostMs: number): CallOutcome =>
  failed({ reason: `takes longer than ${mostMs / 1000} seconds`, limit: true })

/** Parses the sandbox's answer. Text that no realm produces is a failure like any other. */
export function readOutcome(text: unknown): CallOutcome {
  if (typeof text === 'string') {
    try {
      const outcome: unknown = JSON.parse(text)
      if (isOutcome(outcome)) return outcome
    } catch {
      // Not JSON: as below.
    }
  }
  return failed({ reason: 'the script broke the sandbox' })
}

/** A script can change much of the language while it runs, so what the realm collected is validated again here. */
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

/** The types of custom events that socotraApi.createCustomEvent accepts (sandbox/api.ts). */
const CUSTOM_TYPE = /^custom(\.[A-Za-z0-9_-]{1,60}){1,4}$/
