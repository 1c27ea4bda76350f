import type { EventType } from '../../../platform/events/catalogue.ts'
import type { StoredEvent } from '../../../platform/events/tables.ts'
import { isStreamed, matchesEventType } from '../../../platform/events/types.ts'
import type { EventResponse, WebhookEvent, WebhookEventResponse } from './contract.ts'

/** The columns that the events interface and webhooks need. */
export type EventRow = Pick<
  StoredEvent,
  'locator' | 'accountLocator' | 'requestId' | 'at' | 'type' | 'newerType' | 'data'
>

/** The event as the events interface shows it (resources brief 8.1). */
export const eventResponse = (row: EventRow): EventResponse => ({
  locator: row.locator,
  userLocator: row.accountLocator,
  requestId: row.requestId,
  timestamp: new Date(row.at).toISOString(),
  type: row.newerType ?? row.type,
  data: interfaceData(row),
})

type Row = Pick<EventRow, 'type' | 'newerType' | 'at' | 'data'>

type Data = Record<string, unknown>

/** A row is about at most one policy, so the list is complete. */
const policyLocators = ({ policyLocator }: Row['data']): Data => ({
  policyLocators: { listCompleted: true, items: policyLocator === undefined ? [] : [policyLocator] },
})

const transaction =
  (key: string) =>
  ({ data }: Row): Data => ({ policyLocator: data.policyLocator, transactionLocator: data[key] })

/** The added properties, by prefix of the newer name. `ADDED` (notifications.ts) has their contracts. */
const SHAPES = {
  'policy.account.': ({ data }) => ({ accountLocator: data.policyholderLocator }),
  'policy.quote.': ({ data }) => ({
    quoteLocator: data.quoteLocator,
    ...(data.decision !== undefined && { underwritingStatus: data.decision }),
  }),
  'policy.change.': transaction('endorsementLocator'),
  'policy.renewal.': transaction('renewalLocator'),
  'policy.cancellation.': transaction('cancellationLocator'),
  'policy.reinstatement.': transaction('reinstatementLocator'),
  'policy.status.': ({ type, data }) => ({
    policyLocator: data.policyLocator,
    newStatuses: [type === 'policy.end' ? 'expired' : 'cancelled'],
    removedStatuses: ['onRisk'],
  }),
  'billing.invoice.': ({ at, data }) => ({
    invoiceLocator: data.invoiceLocator,
    accountLocator: data.policyholderLocator,
    invoiceType: 'normal',
    ...policyLocators(data),
    generateTime: new Date(at).toISOString(),
  }),
  'billing.payment.': ({ data }) => ({ paymentLocator: data.paymentLocator, ...policyLocators(data) }),
  'billing.delinquency.': ({ data }) => ({
    delinquencyLocator: data.gracePeriodLocator,
    ...policyLocators(data),
  }),
} as const satisfies Record<string, (row: Row) => Data>

/** A prefix of newer names with the same properties. */
export type NewerFamily = keyof typeof SHAPES

/** Undefined when events of the name have only the data of the row. */
export const newerFamily = (name: string): NewerFamily | undefined =>
  (Object.keys(SHAPES) as NewerFamily[]).find(prefix => name.startsWith(prefix))

/** Returns the data of an event. The properties of the newer name win. */
export function interfaceData(row: Row): Data {
  const family = newerFamily(row.newerType ?? row.type)
  return { ...row.data, ...(family && SHAPES[family](row)) }
}

// The name that a webhook's types match decides the form of its deliveries (contract 2; brief 9; resources brief 7.3).
type Names = Pick<EventRow, 'type' | 'newerType'>

/**
 * Whether the delivery has the form of the events interface: the stream does not have the event, or the webhook's types match only
 * the newer name. The older name is used if they match both names, or neither, as may happen after a change of the webhook.
 */
function hasInterfaceForm({ type, newerType }: Names, eventTypes: readonly string[]): boolean {
  if (!isStreamed(type)) return true
  const matches = (name: string): boolean => eventTypes.some(pattern => matchesEventType(pattern, name))
  return newerType !== null && matches(newerType) && !matches(type)
}

/** Returns the name of the event that a delivery to a webhook with these types contains. */
export const deliveredType = (names: Names, eventTypes: readonly string[]): string =>
  hasInterfaceForm(names, eventTypes) ? (names.newerType ?? names.type) : names.type

/** The body of a delivery. */
export function webhookEvent(
  event: EventRow & Pick<StoredEvent, 'sequence' | 'username'>,
  eventTypes: readonly string[],
): WebhookEvent | WebhookEventResponse {
  const { locator, requestId, sequence, username } = event
  const common = { id: locator, sequence, transactionId: requestId, username }
  if (hasInterfaceForm(event, eventTypes)) return { ...eventResponse(event), ...common }
  return {
    ...common,
    locator,
    requestId,
    userLocator: event.accountLocator,
    type: event.type as EventType,
    timestamp: String(event.at),
    data: { ...event.data },
  }
}
