import {
  type ChosenNewerType,
  EVENT_TYPES,
  type EventType,
  entryOf,
  eventTypes,
  isEventType,
} from './catalogue.ts'

/** Whether events of the type are in the event stream. Those of plugins always are. */
export const isStreamed = (type: string): boolean => entryOf(type)?.isStreamed ?? true

export const streamTypes = eventTypes.filter(isStreamed) as [EventType, ...EventType[]]

/** Types that are not in the event stream. */
export const unstreamedTypes = eventTypes.filter(type => !isStreamed(type))

/** A type defined by a plugin. */
export type CustomEventType = `custom.${string}`

export const CUSTOM_EVENT_TYPE = /^custom(\.[A-Za-z0-9_-]{1,60}){1,4}$/

/** Whether a plugin can define the type. None needs to have defined it. */
export const isCustomEventType = (type: string): type is CustomEventType => CUSTOM_EVENT_TYPE.test(type)

/** Returns every newer name of the older type. */
export function newerTypesOf(type: EventType): string[] {
  const { newer, chosen } = EVENT_TYPES[type]
  return [newer, chosen].filter(name => name !== undefined)
}

/** Returns the older types that may have the newer name. */
export const typesNamed = (newer: string): EventType[] =>
  eventTypes.filter(type => newerTypesOf(type).includes(newer))

/** Returns the newer name, chosen by the action or derived from the type, if there is one. Subscriptions match both names. */
export const newerTypeOf = ({
  type,
  newerType,
}: {
  readonly type: string
  readonly newerType?: ChosenNewerType
}): string | undefined => newerType ?? entryOf(type)?.newer

/** Whether `pattern` matches the type: it is the type itself, or a prefix of it such as `policy.*`. */
export const matchesEventType = (pattern: string, type: string): boolean =>
  pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))

const CUSTOM_EVENT_PATTERN = /^custom(\.[A-Za-z0-9_-]{1,60}){0,3}\.(\*|[A-Za-z0-9_-]{1,60})$/

/** Whether `pattern` matches any type by its older or newer name. */
export const isEventTypePattern = (pattern: string): boolean =>
  [...eventTypes, ...everyNewerType()].some(type => matchesEventType(pattern, type)) ||
  CUSTOM_EVENT_PATTERN.test(pattern)

/** Whether the type exists, by its older or newer name, or could be defined by a plugin. */
export const isAnyEventType = (type: string): boolean =>
  isEventType(type) || isCustomEventType(type) || everyNewerType().includes(type)

// Every newer name in the resources brief (8.1). Subscriptions and filters accept all of them, even for actions that Bindery does
// not have.

const prefixed = (prefix: string, actions: string): string[] =>
  actions.split(' ').map(action => `${prefix}.${action}`)

const TRANSACTION =
  'create update validate price underwrite manualUnderwrite accept issue refuse discard reset'

let newerTypes: readonly string[] | undefined

export function everyNewerType(): readonly string[] {
  newerTypes ??= makeList()
  return newerTypes
}

const makeList = (): string[] => [
  ...prefixed('policy.account', 'create update validate discard anonymize'),
  ...prefixed(
    'policy.quote',
    'create update validate price underwrite manualunderwrite accept issue refuse discard reset anonymize',
  ),
  ...['change', 'renewal', 'cancellation', 'reinstatement', 'reversal'].flatMap(kind =>
    prefixed(`policy.${kind}`, TRANSACTION),
  ),
  ...prefixed('policy', 'status.update anonymize'),
  ...prefixed('billing.invoice', 'generate settle unsettle autopay autopayfailed'),
  ...prefixed(
    'billing.payment',
    'create request execute post distribute validationfailed fail cancel reverse anonymize',
  ),
  ...prefixed('billing.disbursement', 'create approve execute reject reverse anonymize'),
  ...prefixed('billing.delinquency', 'create settle lapse'),
  ...prefixed('document', 'ready failed'),
  ...prefixed('migration', 'start pause resume recover patch error fail finish'),
  ...prefixed('report', 'finish'),
  ...['account', 'quote', 'policy'].map(kind => `${kind}.config.migration.failed`),
]
