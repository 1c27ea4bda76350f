// The names that the events interface has for events of the stream (resources brief 8.1): one row, two views.
import type { CustomEventType, EventType } from './types.ts'

const NEWER_TYPES: Partial<Record<EventType, string>> = {
  'endorsement.create': 'policy.change.create',
}

/** The newer name of an event, which subscriptions match as well as the older; undefined where there is none. */
export const newerTypeOf = (type: EventType | CustomEventType): string | undefined =>
  NEWER_TYPES[type as EventType]
