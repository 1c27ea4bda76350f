// The data of each type as a zod contract. Made when it is asked for, and never at the start of the service: the document
// of the interface is, and tests hold what was emitted against it.
import { z } from '@hono/zod-openapi'
import { EVENT_TYPES, type EventType, eventTypes } from '../../../platform/events/catalogue.ts'
import { KEYS, type Key, type KeyEntry, PATTERNS } from '../../../platform/events/data-keys.ts'
import { newerTypesOf } from '../../../platform/events/types.ts'
import { rule } from '../../../platform/wire-problem.ts'
import { type NewerFamily, newerFamily } from './response.ts'

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
  const { data, optional = [] } = EVENT_TYPES[type]
  return {
    ...Object.fromEntries(data.map(key => [key, contractOfKey(key)])),
    ...Object.fromEntries(optional.map(key => [key, contractOfKey(key).optional()])),
  }
}

/** A flat map of texts with these properties and no others; that of a type that is not emitted has any. */
export function dataContract(type: EventType): z.ZodType {
  const { shape, isForeign } = EVENT_TYPES[type]
  if (isForeign) return z.record(z.string(), z.string()).openapi(shape)
  return z.strictObject(keyContracts(type)).openapi(shape)
}

// The data of newer names as zod contracts, for the document: what they say (interface/newer-data.ts), beside all that the
// older types say. Made when it is asked for, as contracts.ts.
const transaction = () => ({ policyLocator: z.string(), transactionLocator: z.string() })
const policyLocators = () => ({
  policyLocators: z.object({ listCompleted: z.boolean(), items: z.array(z.string()) }),
})

const ADDED: Readonly<Record<NewerFamily, () => z.ZodRawShape>> = {
  'policy.account.': () => ({ accountLocator: z.string() }),
  'policy.quote.': () => ({ quoteLocator: z.string(), underwritingStatus: z.string().optional() }),
  'policy.change.': transaction,
  'policy.renewal.': transaction,
  'policy.cancellation.': transaction,
  'policy.reinstatement.': transaction,
  'policy.status.': () => ({
    policyLocator: z.string(),
    newStatuses: z.array(z.enum(['expired', 'cancelled'])),
    removedStatuses: z.array(z.enum(['onRisk'])),
  }),
  'billing.invoice.': () => ({
    invoiceLocator: z.string(),
    accountLocator: z.string(),
    invoiceType: z.enum(['normal']),
    ...policyLocators(),
    generateTime: z.iso.datetime(),
  }),
  'billing.payment.': () => ({ paymentLocator: z.string(), ...policyLocators() }),
  'billing.delinquency.': () => ({ delinquencyLocator: z.string(), ...policyLocators() }),
}

/** Newer names that events of the service have, each with the older types that have it. */
export function emittedNewerTypes(): ReadonlyMap<string, readonly EventType[]> {
  const found = new Map<string, EventType[]>()
  for (const type of eventTypes.filter(one => !EVENT_TYPES[one].isForeign))
    for (const newer of newerTypesOf(type)) found.set(newer, [...(found.get(newer) ?? []), type])
  return found
}

/** The data of an event of the older type under the newer name: these properties and no others. */
export function newerDataContract(newer: string, type: EventType): z.ZodType {
  const family = newerFamily(newer)
  return z.strictObject({ ...keyContracts(type), ...(family && ADDED[family]()) })
}

/** Data as an event of the type may have it: all that it always has. */
export const exampleData = (type: EventType): Record<string, string> =>
  Object.fromEntries(EVENT_TYPES[type].data.map(key => [key, KEYS[key].example]))
