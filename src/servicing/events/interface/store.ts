import { asc, eq } from 'drizzle-orm'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Database } from '../../../platform/database.ts'
import { events } from '../../../platform/events/tables.ts'
import type { EventRow } from './response.ts'

const { locator, requestId, type, newerType, at, data, accountLocator } = events
const columns = { locator, requestId, type, newerType, at, data, accountLocator }

/** Events of one request that are shown: far above what an operation on a policy of the largest size causes. */
const MOST_OF_REQUEST = 20_000

export async function findEvent(database: Database, event: Uuid): Promise<EventRow | undefined> {
  const [rows] = await database.batch([database.build.select(columns).from(events).where(eq(locator, event))])
  return rows[0]
}

/** What a request caused in one shard, in the order of the stream. */
export async function eventsOfRequest(database: Database, request: Uuid): Promise<EventRow[]> {
  const [rows] = await database.batch([
    database.build
      .select(columns)
      .from(events)
      .where(eq(requestId, request))
      .orderBy(asc(events.sequence))
      .limit(MOST_OF_REQUEST),
  ])
  return rows
}
