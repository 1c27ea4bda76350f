// The data of each type as a zod contract. Made when it is asked for, and never at the start of the service: the document
// of the interface is, and tests hold what was emitted against it.
import { z } from '@hono/zod-openapi'
import type { EventType } from '../../../platform/events/types.ts'
import { rule } from '../../../platform/wire-problem.ts'
import { ENTRIES } from './entries.ts'
import { KEYS, type Key, type KeyEntry, PATTERNS } from './keys.ts'

function contractOfKey(key: Key): z.ZodType {
  const { about: description, example, kind, values }: KeyEntry = KEYS[key]
  const pattern = PATTERNS[kind]
  const text = values
    ? z.enum(values as readonly [string, ...string[]])
    : pattern
      ? z.string().regex(pattern, rule(`must be ${kind} as text`))
      : z.string()
  return text.openapi({ description, example })
}

/** The properties of the type's data. */
export function keyContracts(type: EventType): z.ZodRawShape {
  const { data, optional = [] } = ENTRIES[type]
  return {
    ...Object.fromEntries(data.map(key => [key, contractOfKey(key)])),
    ...Object.fromEntries(optional.map(key => [key, contractOfKey(key).optional()])),
  }
}

/** A flat map of texts with these properties and no others; that of a type that is not emitted has any. */
export function dataContract(type: EventType): z.ZodType {
  const { shape, isForeign } = ENTRIES[type]
  if (isForeign) return z.record(z.string(), z.string()).openapi(shape)
  return z.strictObject(keyContracts(type)).openapi(shape)
}
