// Events as rows of the batch that causes them, with one delivery for every webhook that asked for the type.
import { sql } from 'drizzle-orm'
import type { RequestContext } from '../platform/context.ts'
import { type Database, putRows, type Query } from '../platform/database.ts'
import { newUuid, type PolicyLocator, type Uuid } from '../platform/locators.ts'
import { tenantNow } from '../platform/tenancy.ts'
import { later } from '../platform/time.ts'
import { newerTypeOf, type SpokenNewerType } from './newer-types.ts'
import { deliveries, events, webhooks } from './tables.ts'
import type { CustomEventType, EventType } from './types.ts'

/** What happened, before it has a place in the stream. `data` is a flat map of texts (brief 9). */
export type NewEvent = {
  type: EventType | CustomEventType
  /** Where the older type does not tell which newer one it is. */
  newerType?: SpokenNewerType
  data: Record<string, string>
  policyholderLocator?: Uuid
  policyLocator?: PolicyLocator
}

/**
 * Queries that insert the events, in order. Their place in the stream is that of the commit, and their timestamp
 * that of completion (contract 2, Event stream, rule 3): the time of this call, or the shard's latest when
 * another machine's clock is ahead, so that time never goes back along the stream.
 */
export function eventRows(
  database: Database,
  context: RequestContext,
  happened: readonly NewEvent[],
  shard: number,
): Query[] {
  if (happened.length === 0) return []
  const at = later(context.now, tenantNow(context.tenant))
  const rows = happened.map(event => ({
    locator: newUuid(shard),
    requestId: context.requestId,
    type: event.type,
    newerType: newerTypeOf(event) ?? null,
    at,
    data: event.data,
    accountLocator: context.caller.accountLocator,
    username: context.caller.username,
    policyholderLocator: event.policyholderLocator ?? null,
    policyLocator: event.policyLocator ?? null,
  }))
  const latest = sql`(select max(at) from ${events})`
  return [
    ...putRows(database, events, rows),
    database.build.run(
      sql`update ${events} set at = ${latest} where request_id = ${context.requestId} and at < ${latest}`,
    ),
  ]
}

/**
 * A query that makes a delivery of each event of the request for each enabled webhook whose types match it
 * by either name, exactly or by a `prefix.*`. Its `changes` tell how many there are. They are due at once by the database's own
 * clock: an event's timestamp may be that of a machine whose clock is ahead.
 */
export function deliveriesOf(database: Database, requestId: Uuid): Query {
  return database.build.run(sql`
    insert into ${deliveries} (webhook_locator, event_sequence, state, attempts, due_at)
    select w.locator, e.sequence, 'pending', 0, cast(unixepoch('subsec') * 1000 as integer)
    from ${events} e join ${webhooks} w on w.enabled and w.suspended_at is null
    where e.request_id = ${requestId} and exists (
      select 1 from json_each(w.event_types) t
      where t.value in (e.type, e.newer_type)
        or (substr(t.value, -2) = '.*' and substr(t.value, 1, length(t.value) - 1) in (
          substr(e.type, 1, length(t.value) - 1), substr(e.newer_type, 1, length(t.value) - 1))))`)
}
