import { createMessageBatch } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { newUuid } from '../../../src/kernel/locators.ts'
import { now } from '../../../src/kernel/time.ts'
import { noCalls } from '../../../src/platform/calls.ts'
import { commit } from '../../../src/platform/commit.ts'
import type { RequestContext } from '../../../src/platform/context.ts'
import type { Database } from '../../../src/platform/database.ts'
import type { NewEvent } from '../../../src/platform/events/outbox.ts'
import { readTenant, shardDatabase, shardName, type Tenant } from '../../../src/platform/tenancy.ts'
import type { ClaimStorage } from '../../../src/servicing/events/delivery/deliver.ts'
import { deliverTo } from '../../../src/servicing/events/delivery/deliver.ts'
import { webhooksDue } from '../../../src/servicing/events/delivery/store.ts'
import { consumeAnnouncements } from '../../../src/servicing/events/dispatch.ts'
import {
  CreateWebhookRequest,
  type WebhookResponse,
} from '../../../src/servicing/events/webhooks/contract.ts'
import { createWebhook } from '../../../src/servicing/events/webhooks/service.ts'
import { poolBinding } from '../../support/databases.ts'
import { noteMadeUp } from '../../support/emission/calls.ts'
import { atFileStart } from '../../support/fresh-start/memory.ts'

let used = 0
atFileStart(() => {
  used = 0
})

/** Creates a tenant on `shards` databases of the pool that no other tenant of the test file has. */
export async function makeTenant(shards = 1): Promise<Tenant> {
  const locator = newUuid(0)
  const name = `tenant-${locator.slice(0, 8)}`
  const statements = Array.from({ length: shards }, (_, number) => {
    used += 1
    return env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, ?, ?)').bind(
      locator,
      number,
      poolBinding(used),
    )
  })
  await env.CONTROL.batch([
    env.CONTROL.prepare(
      `insert into tenant (locator, name, host_name, type, status, generation, token_epoch, versioned, created_at, former_units)
       values (?, ?, ?, 'test', 'active', 1, 1, 1, 0, null)`,
    ).bind(locator, name, `${name}.co.test.bindery.test`),
    ...statements,
  ])
  const tenant = await readTenant(env, { locator }, noCalls())
  if (!tenant) throw new Error('The tenant was not made.')
  return tenant
}

/** A context as in a request of the administrator of the tenant. `later` does nothing. */
export const requestOf = (tenant: Tenant, changes: Partial<RequestContext> = {}): RequestContext => ({
  env,
  tenant,
  caller: { accountLocator: newUuid(0), username: 'alice', accountType: 'account.test.tenant.admin' },
  requestId: newUuid(0),
  now: now(),
  idempotency: undefined,
  calls: noCalls(),
  later: () => {},
  ...changes,
})

export const databaseOf = (tenant: Tenant, shard = 0): Database =>
  shardDatabase(env, tenant, shard, noCalls())

/** An environment without hints and alarms, so that only the test starts due work. */
const alone = {
  ...env,
  DISPATCHER: { idFromName: () => undefined, get: () => ({ arm: async () => {} }) },
} as unknown as Env

/** Commits the events in one request, with a hint to `announced` only. Returns the locator of the request. */
export async function happen(
  tenant: Tenant,
  happened: readonly Partial<NewEvent>[],
  shard = 0,
  announced: (message: unknown) => unknown = () => {},
): Promise<string> {
  const ANNOUNCEMENTS = { send: async (message: unknown) => void announced(message) }
  const context = requestOf(tenant, { env: { ...alone, ANNOUNCEMENTS } as unknown as Env })
  noteMadeUp(context.requestId)
  await commit(context, databaseOf(tenant, shard), {
    shard,
    guards: [],
    facts: [],
    events: happened.map(event => ({ type: 'policy.create', data: {}, ...event })),
    answer: { status: 200, text: '' },
    subject: 'test',
  })
  return context.requestId
}

type WebhookWishes = {
  url: string
  endpoint?: Record<string, unknown>
  /** `none`: the client omits it. */
  failureHandling?: Record<string, unknown> | 'none'
  eventTypes?: string[]
  enabled?: boolean
}

/** Creates a webhook of the tenant as a client would. The result includes its secret. */
export async function makeWebhook(tenant: Tenant, wishes: WebhookWishes): Promise<WebhookResponse> {
  const request = CreateWebhookRequest.parse({
    name: newUuid(0),
    enabled: wishes.enabled ?? true,
    endpoint: { url: wishes.url, ...wishes.endpoint },
    ...(wishes.failureHandling !== 'none' && { failureHandling: wishes.failureHandling ?? {} }),
    eventTypes: wishes.eventTypes ?? ['policy.*'],
  })
  const answer = await createWebhook(request, requestOf(tenant))
  return JSON.parse(answer.text)
}

/** The storage of an object, in memory. */
export function objectStorage(): ClaimStorage {
  const values = new Map<string, unknown>()
  return {
    get: async (key: string) => structuredClone(values.get(key)),
    put: async (key: string, value: unknown) => void values.set(key, structuredClone(value)),
    delete: async (key: string) => values.delete(key),
  } as ClaimStorage
}

/** Delivers what is due in the shard for all webhooks concurrently, as their objects do. */
export async function deliver(tenant: Tenant, shard = 0): Promise<void> {
  const place = { env, tenant, shard, calls: noCalls() }
  const due = await webhooksDue(shardDatabase(env, tenant, shard, place.calls), now())
  await Promise.all(due.map(webhook => deliverTo(place, webhook, objectStorage())))
}

/**
 * As `deliver`, but by the objects themselves. For tests whose calls wake the objects, since an object works for one caller at a
 * time.
 */
export async function deliverByObjects(tenant: Tenant, shard = 0): Promise<void> {
  await consumeAnnouncements(
    createMessageBatch('q', [
      { id: newUuid(0), timestamp: new Date(), attempts: 1, body: shardName(tenant, shard) },
    ]),
    env,
  )
  await untilFinished(tenant, shard)
}

export type DeliveryRow = { state: string; attempts: number; due_at: number; outcome: string | null }

/** Deliveries of a shard in the order of their events. */
export async function deliveriesIn(tenant: Tenant, shard = 0): Promise<DeliveryRow[]> {
  const client = (env as unknown as Record<string, D1Database>)[tenant.shards[shard]!]!
  const { results } = await client
    .prepare('select state, attempts, due_at, outcome from delivery order by event_sequence, webhook_locator')
    .all<DeliveryRow>()
  return results
}

/** Lets `ms` pass for everything that waits in the shard by moving due times back. */
export async function letPass(tenant: Tenant, ms: number, shard = 0): Promise<void> {
  const client = (env as unknown as Record<string, D1Database>)[tenant.shards[shard]!]!
  await client.batch([
    client.prepare(`update delivery set due_at = due_at - ? where finished_at is null`).bind(ms),
    client.prepare('update timer set due_at = due_at - ?').bind(ms),
  ])
}

/** Waits until no delivery of the shard is waiting or pending. */
export async function untilFinished(tenant: Tenant, shard = 0): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const rows = await deliveriesIn(tenant, shard)
    if (rows.every(({ state }) => !['waiting', 'pending'].includes(state))) return
    await scheduler.wait(100)
  }
  throw new Error(`Deliveries still wait: ${JSON.stringify(await deliveriesIn(tenant, shard))}`)
}
