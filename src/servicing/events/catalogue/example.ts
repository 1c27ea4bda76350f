import type { EventType } from '../../../platform/events/types.ts'
import { ENTRIES } from './entries.ts'
import { KEYS } from './keys.ts'

/** Data as an event of the type may have it: all that it always has. */
export const exampleData = (type: EventType): Record<string, string> =>
  Object.fromEntries(ENTRIES[type].data.map(key => [key, KEYS[key].example]))
