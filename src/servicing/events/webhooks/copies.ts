// Copies of webhooks. Deliveries are made by a statement inside the batch of the shard where the event happens,
// which can only see that shard's own tables; so every shard has a copy of the home shard's `webhook`.
import { eq } from 'drizzle-orm'
import { type Instant, now } from '../../../kernel/time.ts'
import type { Calls } from '../../../platform/calls.ts'
import type { NewTimer } from '../../../platform/commit.ts'
import type { Database, Query } from '../../../platform/database.ts'
import { webhooks } from '../../../platform/events/tables.ts'
import type { TimerOwner } from '../../../platform/events/timers.ts'
import { HOME_SHARD, shardDatabase, type Tenant } from '../../../platform/tenancy.ts'
import { applied, removed } from './apply.ts'
import type { WebhookRow } from './store.ts'

export const WEBHOOK_COPY = 'webhook.copy'

/** How long a change may be on its way to the other shards before the dispatcher takes it there. */
const COPIED_WITHIN_MS = 60_000

/** Timers for the commit of a change of the webhook: should the copying be cut off, the dispatcher does it. */
export const copyTimers = (tenant: Tenant, webhook: string, at: Instant): NewTimer[] =>
  tenant.shards.length === 1
    ? []
    : [{ dueAt: (at + COPIED_WITHIN_MS) as Instant, kind: WEBHOOK_COPY, subject: webhook, payload: {} }]

/** Queries that take the home shard's row into another shard, where it is newer than what is there. */
export const copyQueries = (database: Database, row: WebhookRow, at: Instant): Query[] =>
  applied(database, { ...row, name: row.locator }, at)

/** When the timer is due. */
export const webhookCopyDue: TimerOwner = ({ subject }, { env, tenant, calls }) =>
  copyWebhook(env, tenant, subject, calls)

/** Makes every other shard's copy what the home shard has: the row as it is now, or none. */
export async function copyWebhook(env: Env, tenant: Tenant, webhook: string, calls: Calls): Promise<void> {
  if (tenant.shards.length === 1) return
  const home = shardDatabase(env, tenant, HOME_SHARD, calls)
  const [[row]] = await home.batch([home.build.select().from(webhooks).where(eq(webhooks.locator, webhook))])
  await Promise.all(
    tenant.shards.map(async (_, shard) => {
      if (shard === HOME_SHARD) return
      const database = shardDatabase(env, tenant, shard, calls)
      const change = row ? copyQueries(database, row, now()) : removed(database, webhook, now())
      await database.batch(change as [Query, ...Query[]])
    }),
  )
}
