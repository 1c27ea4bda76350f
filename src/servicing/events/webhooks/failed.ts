// Failed deliveries of all webhooks, read by an index that contains only those.
import { and, sql } from 'drizzle-orm'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Database } from '../../../platform/database.ts'
import { eventNumbered, rowOfNumber, storedRow } from '../../../platform/events/rows.ts'
import { deliveries, webhooks } from '../../../platform/events/tables.ts'
import {
  mergedPage,
  type Position,
  readPagingToken,
  UUID_FORM,
  writePagingToken,
} from '../../../platform/paging.ts'
import { shardDatabases } from '../../../platform/tenancy.ts'
import { deliveredType } from '../stream/response.ts'
import type { FailedDeliveryListResponse, FailedDeliveryQuery, FailedDeliveryResponse } from './contract.ts'

/** Returns failed deliveries in the order of event and webhook. One round trip for each shard. */
export async function readFailedDeliveries(
  { state, pageSize, pagingToken }: FailedDeliveryQuery,
  context: RequestContext,
): Promise<FailedDeliveryListResponse> {
  const positions = readPagingToken(pagingToken, UUID_FORM)
  const shards = await Promise.all(
    shardDatabases(context).map(async (database, shard) => {
      const [found] = await database.batch([failedQuery(database, state, positions[shard], pageSize + 1)])
      // Paged by sequence and webhook, which stand in for time and locator.
      const rows = found.map(row => ({
        ...row,
        createdAt: row.sequence as number as Instant,
        locator: row.webhookLocator as Uuid,
      }))
      return { rows, found: rows.length }
    }),
  )
  const { rows, next } = mergedPage(shards, positions, pageSize)
  return {
    listCompleted: next === undefined,
    items: rows.map(failedResponse),
    ...(next && { pagingToken: writePagingToken(next, UUID_FORM) }),
  }
}

function failedQuery(
  { build }: Database,
  state: FailedDeliveryQuery['state'],
  after: Position<Uuid> | undefined,
  most: number,
) {
  const { sequence, locator, requestId, type, newerType, at } = eventNumbered('"delivery"."event_sequence"')
  const { webhookLocator, eventSequence } = deliveries
  return build
    .select({
      sequence,
      eventLocator: locator,
      requestId,
      type,
      newerType,
      at,
      webhookName: webhooks.name,
      eventTypes: webhooks.eventTypes,
      // Written as expressions, because the query names the table together with its index.
      webhookLocator: sql<string>`${webhookLocator}`.as('webhook_locator'),
      state: sql<FailedDeliveryResponse['state']>`${deliveries.state}`.as('state'),
      outcome: sql<string | null>`${deliveries.outcome}`.as('outcome'),
      finishedAt: sql<number | null>`${deliveries.finishedAt}`.as('finished_at'),
    })
    .from(sql`${deliveries} indexed by delivery_failed`)
    .crossJoin(webhooks)
    .crossJoin(storedRow)
    .where(
      and(
        sql`${deliveries.state} in ('failed', 'diverted')`,
        sql`${webhooks.locator} = ${webhookLocator}`,
        rowOfNumber(sql`${eventSequence}`),
        after &&
          sql`(${eventSequence}, ${webhookLocator}) > (${after.createdAt as number}, ${after.locator})`,
        state && sql`${deliveries.state} = ${state}`,
      ),
    )
    .orderBy(eventSequence, webhookLocator)
    .limit(most)
}

type Failed = Awaited<ReturnType<typeof failedQuery>>[number]

const failedResponse = (row: Failed): FailedDeliveryResponse => ({
  webhookLocator: row.webhookLocator,
  webhookName: row.webhookName,
  eventLocator: row.eventLocator,
  requestLocator: row.requestId,
  eventType: deliveredType(row, row.eventTypes),
  eventTimestamp: new Date(row.at).toISOString(),
  state: row.state,
  ...(row.outcome !== null && { outcome: row.outcome }),
  ...(row.finishedAt !== null && { finishedAt: new Date(row.finishedAt).toISOString() }),
})
