// What a webhook is sent (contract 2; brief 9; resources brief 7.3). An event may have two names, and which one the
// webhook's types matched decides how it reads: as the events interface answers it, or as older webhooks have it.

import type { EventType } from '../../../platform/events/catalogue.ts'
import { matchesEventType } from '../../../platform/events/types.ts'
import type { WebhookEvent, WebhookEventResponse } from '../contract-delivered.ts'
import { type EventRow, eventResponse } from '../interface/response.ts'

/** What of an event is told. */
export type ToldEvent = EventRow & { readonly sequence: number; readonly username: string }

type Names = Pick<EventRow, 'type' | 'newerType'>

/**
 * Whether the webhook reads the event by its newer name: where its types match no other. By the older where both match, or
 * where neither does any more, since the types were changed meanwhile.
 */
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
