// A webhook, and its row: which properties are columns, which are sealed together, and how both are read (docs/webhooks.md). The table
// is in platform/events/tables.ts, because each commit reads it to create deliveries.
import { eq } from 'drizzle-orm'
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { Database } from '../../../platform/database.ts'
import {
  OWN_FAILURE_HANDLING,
  type WebhookEndpoint,
  type WebhookFailureHandling,
  webhooks,
} from '../../../platform/events/tables.ts'
import { referencesIn } from '../../../platform/outbound/masking.ts'
import { seal, unseal } from '../../../platform/sealed.ts'
import { sealedPlace, type Tenant } from '../../../platform/tenancy.ts'

/** Resources brief 7. */
export type Webhook = {
  locator: Uuid
  name: string
  /** A disabled webhook collects no events. Deliveries that were waiting continue to wait. */
  enabled: boolean
  /** Real time, not the tenant's time. */
  suspendedAt: Instant | null
  endpoint: WebhookEndpoint
  /** Undefined means `OWN_FAILURE_HANDLING`. */
  failureHandling: WebhookFailureHandling | undefined
  /** Types, or prefixes of types with `.*`. */
  eventTypes: string[]
  createdAt: Instant
  version: number
  /** The latest version that replays missed events; 0 for none. */
  replayVersion: number
}

export type WebhookPlace = { readonly env: Env; readonly tenant: Tenant }

export type WebhookRow = typeof webhooks.$inferSelect

/** Sealed in the row: addresses, headers and signing secrets of both endpoints. */
type Connections = { readonly endpoint: WebhookEndpoint; readonly alertEndpoint?: WebhookEndpoint }

/** Returns the same value for every shard, so that rows are copied unchanged. */
const placeOf = (tenant: Tenant, locator: string): string => sealedPlace(tenant, 'webhook', locator)

/** Reads a row of any shard. In a copy, `name` is the locator (`copyQueries`). */
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

/** Seals the connections. `secretNames` are static names that headers of both endpoints refer to, each once. */
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

/** Returns undefined if the shard has no such webhook. Takes one round trip. */
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

/** Returns how the webhook handles failures: `OWN_FAILURE_HANDLING` if it does not say. */
export const handlingOf = ({ failureHandling }: Pick<Webhook, 'failureHandling'>): WebhookFailureHandling =>
  failureHandling ?? OWN_FAILURE_HANDLING
