import type { EventResponse } from './contract.ts'
import { interfaceData } from './newer-data.ts'

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
