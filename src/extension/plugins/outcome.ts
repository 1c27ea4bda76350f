import { MOST_LOG_LINES, MOST_WRITES } from './limits.ts'
import { type CallOutcome, failed } from './runner.ts'

/** What the sandbox answered; a text that no realm makes is a failure like any other. */
export function readOutcome(text: unknown): CallOutcome {
  if (typeof text === 'string') {
    try {
      const outcome: unknown = JSON.parse(text)
      if (isOutcome(outcome)) return outcome
    } catch {
      // No JSON: as below.
    }
  }
  return failed({ reason: 'the sandbox was broken from within' })
}

/** A script may make much of the language while it runs, so that what the realm gathered is looked at here again. */
function isOutcome(outcome: unknown): outcome is CallOutcome {
  if (!isRecord(outcome)) return false
  const { failure, missing, logs, writes, events } = outcome
  return (
    (failure === undefined || isFailure(failure)) &&
    isListOf(missing, Number.POSITIVE_INFINITY, isMissing) &&
    isListOf(logs, MOST_LOG_LINES + 1, one => LEVELS.has(one.level) && isText(one.text)) &&
    isListOf(writes, MOST_WRITES, isWrite) &&
    isListOf(events, MOST_WRITES, isEvent)
  )
}

const LEVELS = new Set<unknown>(['debug', 'info', 'warn', 'error'])
const UI_TYPES = new Set<unknown>([undefined, 'normal', 'hidden', 'readonly'])

/** What a call that is stopped asks for, by its kind. */
const ASKED: Readonly<Record<string, readonly string[]>> = {
  aux: ['locator', 'key'],
  entity: ['entity', 'locator'],
  row: ['table', 'key'],
  secret: ['staticName', 'item'],
  range: ['table', 'wanted'],
}

type Unread = Readonly<Record<string, unknown>>

const isText = (one: unknown): one is string => typeof one === 'string'

const isRecord = (one: unknown): one is Unread =>
  typeof one === 'object' && one !== null && !Array.isArray(one)

const isListOf = (list: unknown, most: number, isOne: (one: Unread) => boolean): boolean =>
  Array.isArray(list) && list.length <= most && list.every(one => isRecord(one) && isOne(one))

const isFailure = (one: unknown): boolean =>
  isRecord(one) &&
  isText(one.reason) &&
  (one.at === undefined || isText(one.at)) &&
  (one.limit === undefined || typeof one.limit === 'boolean')

const isMissing = (one: Unread): boolean =>
  isText(one.kind) && Object.hasOwn(ASKED, one.kind) && ASKED[one.kind]!.every(name => isText(one[name]))

const isWrite = ({ locator, key, value, uiType }: Unread): boolean =>
  isText(locator) && isText(key) && isText(value) && UI_TYPES.has(uiType)

const isEvent = ({ type, data }: Unread): boolean =>
  isText(type) && CUSTOM_TYPE.test(type) && isRecord(data) && Object.values(data).every(isText)

/** As socotraApi.createCustomEvent takes them (sandbox/realm.ts). */
const CUSTOM_TYPE = /^custom(\.[A-Za-z0-9_-]{1,60}){1,4}$/
