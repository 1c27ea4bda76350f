// Webhooks as rows of the home shard. Secrets lie there as they are, protected by the database's own encryption
// at rest only.
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../platform/database.ts'
import type { Uuid } from '../../platform/locators.ts'
import { webhooks } from '../tables.ts'
import type { Webhook } from '../webhook.ts'

export async function findWebhook(database: Database, locator: Uuid): Promise<Webhook | undefined> {
  const [rows] = await database.batch([
    database.build.select().from(webhooks).where(eq(webhooks.locator, locator)),
  ])
  return rows[0] as Webhook | undefined
}

export async function hasWebhookNamed(database: Database, name: string): Promise<boolean> {
  const [rows] = await database.batch([
    database.build.select({ locator: webhooks.locator }).from(webhooks).where(eq(webhooks.name, name)),
  ])
  return rows.length > 0
}

export type WebhookFilter = {
  name?: string
  enabled?: boolean
  suspended?: boolean
  /** Enabled and not suspended. */
  active?: boolean
  /** Those that list any of these. */
  eventTypes: readonly string[]
}

const isSuspended = sql`(${webhooks.suspendedAt} is not null)`

function conditions({ name, enabled, suspended, active, eventTypes }: WebhookFilter): SQL[] {
  const all: SQL[] = []
  if (name !== undefined) all.push(eq(webhooks.name, name))
  if (enabled !== undefined) all.push(eq(webhooks.enabled, enabled))
  if (suspended !== undefined) all.push(sql`${isSuspended} = ${suspended ? 1 : 0}`)
  if (active !== undefined) all.push(sql`(${webhooks.enabled} and not ${isSuspended}) = ${active ? 1 : 0}`)
  if (eventTypes.length > 0)
    all.push(sql`exists (select 1 from json_each(${webhooks.eventTypes}) t
      where t.value in (select value from json_each(${JSON.stringify(eventTypes)})))`)
  return all
}

/** Webhooks in the order of their creation. */
export async function listWebhooks(
  database: Database,
  filter: WebhookFilter,
  offset: number,
  count: number,
): Promise<Webhook[]> {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(webhooks)
      .where(and(...conditions(filter)))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.locator))
      .limit(count)
      .offset(offset),
  ])
  return rows as Webhook[]
}
