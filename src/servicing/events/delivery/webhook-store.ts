// Webhooks as rows of the home shard. Where they send, and what with, is sealed.

import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { Database } from '../../../platform/database.ts'
import { type WebhookEndpoint, webhooks } from '../../../platform/events/tables.ts'
import { referencesIn } from '../../../platform/outbound/secret-references.ts'
import { seal, unseal } from '../../../platform/sealed.ts'
import { sealedPlace, type Tenant } from '../../../platform/tenancy.ts'
import type { Webhook } from './webhook.ts'

/** Whose webhooks they are, and the keys that open them. */
export type WebhookPlace = { readonly env: Env; readonly tenant: Tenant }

export type WebhookRow = typeof webhooks.$inferSelect

type Connections = { readonly endpoint: WebhookEndpoint; readonly alertEndpoint?: WebhookEndpoint }

/** The same for every shard, so that copies are rows as they are. */
const placeOf = (tenant: Tenant, locator: string): string => sealedPlace(tenant, 'webhook', locator)

export async function webhookOf({ env, tenant }: WebhookPlace, row: WebhookRow): Promise<Webhook> {
  const { connections, secretNames, failureHandling, ...plain } = row
  const opened = await unseal(env, placeOf(tenant, row.locator), connections)
  const { endpoint, alertEndpoint } = JSON.parse(opened) as Connections
  return {
    ...plain,
    locator: row.locator as Uuid,
    suspendedAt: row.suspendedAt as Instant | null,
    createdAt: row.createdAt as Instant,
    endpoint,
    failureHandling: failureHandling
      ? { ...failureHandling, ...(alertEndpoint && { alertEndpoint }) }
      : undefined,
  }
}

export async function rowOf({ env, tenant }: WebhookPlace, webhook: Webhook): Promise<WebhookRow> {
  const { endpoint, failureHandling, ...plain } = webhook
  const { alertEndpoint, ...handling } = failureHandling ?? {}
  const connections: Connections = { endpoint, ...(alertEndpoint && { alertEndpoint }) }
  const headers = [endpoint, alertEndpoint].flatMap(one => Object.values(one?.headers ?? {}).flat())
  return {
    ...plain,
    connections: await seal(env, placeOf(tenant, webhook.locator), JSON.stringify(connections)),
    secretNames: [...new Set(headers.flatMap(referencesIn).map(one => one.staticName))],
    failureHandling: failureHandling ? (handling as WebhookRow['failureHandling']) : null,
  }
}

export async function findWebhook(
  place: WebhookPlace,
  database: Database,
  locator: Uuid,
): Promise<Webhook | undefined> {
  const [rows] = await database.batch([
    database.build.select().from(webhooks).where(eq(webhooks.locator, locator)),
  ])
  return rows[0] && (await webhookOf(place, rows[0]))
}

/** How many there are, and whether one has the name. */
export async function presentWebhooks(
  database: Database,
  name: string,
): Promise<{ count: number; isTaken: boolean }> {
  const [[row]] = await database.batch([
    database.build.all<{ count: number; named: number }>(
      sql`select count(*) as count, coalesce(sum(name = ${name}), 0) as named from ${webhooks}`,
    ),
  ])
  return { count: row!.count, isTaken: row!.named > 0 }
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

/** At most `most` webhooks in the order of their creation. */
export async function listWebhooks(
  place: WebhookPlace,
  database: Database,
  filter: WebhookFilter,
  offset: number,
  most: number,
): Promise<Webhook[]> {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(webhooks)
      .where(and(...conditions(filter)))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.locator))
      .limit(most)
      .offset(offset),
  ])
  return await Promise.all(rows.map(row => webhookOf(place, row)))
}
