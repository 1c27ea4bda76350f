// The data of newer names as zod contracts, for the document: what they say (interface/newer-data.ts), beside all that the
// older types say. Made when it is asked for, as contracts.ts.
import { z } from '@hono/zod-openapi'
import { newerTypesOf } from '../../../platform/events/newer-types.ts'
import { type EventType, eventTypes } from '../../../platform/events/types.ts'
import { type NewerFamily, newerFamily } from '../interface/newer-data.ts'
import { keyContracts } from './contracts.ts'
import { ENTRIES } from './entries.ts'

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
  for (const type of eventTypes.filter(one => !ENTRIES[one].isForeign))
    for (const newer of newerTypesOf(type)) found.set(newer, [...(found.get(newer) ?? []), type])
  return found
}

/** The data of an event of the older type under the newer name: these properties and no others. */
export function newerDataContract(newer: string, type: EventType): z.ZodType {
  const family = newerFamily(newer)
  return z.strictObject({ ...keyContracts(type), ...(family && ADDED[family]()) })
}
