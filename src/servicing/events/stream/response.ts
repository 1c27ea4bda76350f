import type { EventType } from '../../../platform/events/catalogue.ts'
import { matchesEventType } from '../../../platform/events/types.ts'
import type { EventResponse } from './contract.ts'
import type { WebhookEvent, WebhookEventResponse } from './contract-delivered.ts'

/** A row of the stream, as both of its views need it. */
export type EventRow = {
  readonly locator: string
  readonly accountLocator: string
  readonly requestId: string
  readonly at: number
  readonly type: string
  readonly newerType: string | null
  readonly data: Readonly<Record<string, string>>
}

/** The event for the events interface, and for webhooks (resources brief 8.1). */
export const eventResponse = (row: EventRow): EventResponse => ({
  locator: row.locator,
  userLocator: row.accountLocator,
  requestId: row.requestId,
  timestamp: new Date(row.at).toISOString(),
  type: row.newerType ?? row.type,
  data: interfaceData(row),
})

// What events of the newer names say (resources brief 8.1), made of what the row says.

type Row = {
  readonly type: string
  readonly newerType: string | null
  readonly at: number
  readonly data: Readonly<Record<string, string>>
}

type Data = Record<string, unknown>

/** A list that is complete: a row is about one policy at most. */
const policyLocators = ({ policyLocator }: Row['data']): Data => ({
  policyLocators: { listCompleted: true, items: policyLocator === undefined ? [] : [policyLocator] },
})

const transaction =
  (key: string) =>
  ({ data }: Row): Data => ({ policyLocator: data.policyLocator, transactionLocator: data[key] })

const quote = ({ data }: Row): Data => ({
  quoteLocator: data.quoteLocator,
  ...(data.decision !== undefined && { underwritingStatus: data.decision }),
})

/** By the beginning of the newer name. Their contracts are in data-contracts.ts. */
const SHAPES = {
  'policy.account.': ({ data }) => ({ accountLocator: data.policyholderLocator }),
  'policy.quote.': quote,
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

/** The beginning of newer names whose data is alike. */
export type NewerFamily = keyof typeof SHAPES

const families = Object.keys(SHAPES) as NewerFamily[]

/** The family of a name; undefined for one that says no more than the row does. */
export const newerFamily = (name: string): NewerFamily | undefined =>
  families.find(beginning => name.startsWith(beginning))

/** The row's data for the events interface: that of its newer name, and that of the row. The newer name wins where both have a property. */
export function interfaceData(row: Row): Data {
  const family = newerFamily(row.newerType ?? row.type)
  return { ...row.data, ...(family && SHAPES[family](row)) }
}

// The body of a delivery (contract 2; brief 9; resources brief 7.3). An event may have two names. The one that the webhook's types
// match decides the form: that of the events interface, or that of older webhooks.
/** What of an event is told. */
export type ToldEvent = EventRow & { readonly sequence: number; readonly username: string }

type Names = Pick<EventRow, 'type' | 'newerType'>

/** Whether the webhook's types match the newer name alone. The older one holds if they match both, or neither since a change. */
function isReadAsNewer({ type, newerType }: Names, eventTypes: readonly string[]): boolean {
  const matches = (name: string): boolean => eventTypes.some(pattern => matchesEventType(pattern, name))
  return newerType !== null && matches(newerType) && !matches(type)
}

/** The name by which the webhook reads the event. */
export const toldType = (names: Names, eventTypes: readonly string[]): string =>
  isReadAsNewer(names, eventTypes) ? names.newerType! : names.type

/** The body. */
export function webhookEvent(
  event: ToldEvent,
  eventTypes: readonly string[],
): WebhookEvent | WebhookEventResponse {
  const { locator, requestId, sequence, username } = event
  const both = { id: locator, sequence, transactionId: requestId, username }
  if (isReadAsNewer(event, eventTypes)) return { ...eventResponse(event), ...both }
  return {
    ...both,
    locator,
    requestId,
    userLocator: event.accountLocator,
    type: event.type as EventType,
    timestamp: String(event.at),
    data: { ...event.data },
  }
}
