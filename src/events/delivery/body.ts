// What a webhook is sent (contract 2; brief 9; resources brief 7.3). An event may have two names, and which one the
// webhook's types matched decides how it reads: `type` and `timestamp` are as the older webhooks have them (milliseconds as
// text), or as the events interface has them (ISO 8601). Everything else does not clash, so both have all of it: the locator
// as `id` and `locator`, the request as `transactionId` and `requestId`, the user as `username` and `userLocator`.
import type { WebhookEvent } from '../contract.ts'
import { type EventType, matchesEventType } from '../types.ts'

/** What of an event is told. */
export type ToldEvent = {
  readonly sequence: number
  readonly locator: string
  readonly requestId: string
  readonly type: string
  readonly newerType: string | null
  readonly at: number
  readonly data: Readonly<Record<string, string>>
  readonly accountLocator: string
  readonly username: string
}

/** The body. By the older name where both match, or where neither does any more: the types were changed meanwhile. */
export function webhookEvent(event: ToldEvent, eventTypes: readonly string[]): WebhookEvent {
  const matches = (type: string): boolean => eventTypes.some(pattern => matchesEventType(pattern, type))
  const { newerType } = event
  const isNewer = newerType !== null && matches(newerType) && !matches(event.type)
  return {
    id: event.locator,
    locator: event.locator,
    type: (isNewer ? newerType : event.type) as EventType,
    timestamp: isNewer ? new Date(event.at).toISOString() : String(event.at),
    sequence: event.sequence,
    transactionId: event.requestId,
    requestId: event.requestId,
    username: event.username,
    userLocator: event.accountLocator,
    data: { ...event.data },
  }
}
