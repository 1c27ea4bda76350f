// Works off a shard's due deliveries. A delivery is claimed by a lease, posted, and its result recorded; what a
// crash leaves claimed is due again when the lease runs out, so every event arrives at least once.
import type { Calls } from '../../platform/calls.ts'
import type { Database } from '../../platform/database.ts'
import type { Uuid } from '../../platform/locators.ts'
import { shardDatabase, type Tenant } from '../../platform/tenancy.ts'
import { type Instant, now } from '../../platform/time.ts'
import { resolvedHeaders } from '../../resources/secrets/sending.ts'
import type { WebhookEvent } from '../contract.ts'
import type { EventType } from '../types.ts'
import { ATTEMPT_TIMEOUT_MS, attempt } from './attempt.ts'
import { judge, type Outcome, outcomeText } from './judge.ts'
import {
  type Claim,
  type ClaimedDelivery,
  claimDue,
  type DeliveryResult,
  recordResults,
  type StoredEvent,
  suspendHere,
  webhooksDue,
} from './store.ts'

/** Webhooks served at once: each holds one of the six connections, and the database needs one. */
const MOST_AT_ONCE = 5

/** Deliveries that one claim takes. */
const MOST_CLAIMED = 20

/** After a claim no attempt begins later than this; what is left over is given back. */
const SEND_WITHIN_MS = 10_000

/** Outlasts the last attempt of a claim, and its recording. */
const LEASE_MS = SEND_WITHIN_MS + ATTEMPT_TIMEOUT_MS + 5_000

/** One call begins no new claim after this time. */
const WORK_MS = 40_000

/** How often a call that waits for a slow endpoint looks for other webhooks. */
const LOOK_AGAIN_MS = 1_000

/** Where deliveries are worked off. */
type Place = {
  readonly env: Env
  readonly tenant: Tenant
  readonly shard: number
  readonly database: Database
  readonly calls: Calls
}

/**
 * Delivers what is due in the shard. Webhooks are served side by side, each in order; one that is too slow to
 * finish a claim rests until the next call, so that it neither holds up others nor ends this call late.
 */
export async function deliverDue(env: Env, tenant: Tenant, shard: number, calls: Calls): Promise<void> {
  const place: Place = { env, tenant, shard, database: shardDatabase(env, tenant, shard, calls), calls }
  const underWay = new Map<Uuid, Promise<void>>()
  const resting = new Set<Uuid>()
  const serve = async (webhook: Uuid): Promise<void> => {
    if (!(await serveWebhook(place, webhook))) resting.add(webhook)
    underWay.delete(webhook)
  }
  const until = now() + WORK_MS
  try {
    for (;;) {
      const room = now() < until ? MOST_AT_ONCE - underWay.size : 0
      const seen = [...underWay.keys(), ...resting]
      if (room > 0)
        for (const webhook of await webhooksDue(place.database, now(), seen, room))
          underWay.set(webhook, serve(webhook))
      if (underWay.size === 0) return
      await Promise.race([...underWay.values(), scheduler.wait(LOOK_AGAIN_MS)])
    }
  } finally {
    await Promise.all(underWay.values())
  }
}

/** One claim of one webhook's deliveries; whether more may be claimed for it now. Never throws. */
async function serveWebhook(place: Place, webhook: Uuid): Promise<boolean> {
  const at = now()
  try {
    const claim = await claimDue(place.database, webhook, at, (at + LEASE_MS) as Instant, MOST_CLAIMED)
    return claim === undefined || (await deliverClaim(place, claim, (at + SEND_WITHIN_MS) as Instant))
  } catch (problem) {
    console.error(JSON.stringify({ at: 'deliver', webhook, problem: String(problem) }))
    return false
  }
}

async function deliverClaim(place: Place, claim: Claim, sendBefore: Instant): Promise<boolean> {
  const results: DeliveryResult[] = []
  let suspend = false
  const { endpoint } = claim.webhook
  const resolved = await resolvedHeaders(place, endpoint.headers)
  if ('problem' in resolved)
    console.warn(
      JSON.stringify({ at: 'delivery', webhook: claim.webhook.locator, problem: resolved.problem }),
    )
  for (const delivery of claim.deliveries) {
    if (suspend || now() >= sendBefore) {
      results.push(givenBack(delivery))
      continue
    }
    const event = webhookEvent(delivery.event)
    const outcome: Outcome =
      'problem' in resolved
        ? { kind: 'secretMissing' }
        : await attempt(place.env, { ...endpoint, headers: resolved.headers }, event, ATTEMPT_TIMEOUT_MS)
    const result = resultOf(claim, delivery, outcome)
    results.push(result.recorded)
    suspend = result.suspend
  }
  if (suspend) await suspendElsewhere(place, claim.webhook.locator)
  await place.database.batch([
    recordResults(place.database, claim, results),
    ...(suspend ? suspendHere(place.database, claim.webhook.locator, now()) : []),
  ])
  return !suspend && results.every(result => result.outcome !== null)
}

/** What the older webhooks of the contract's platform receive (resources brief 7.3). */
const webhookEvent = ({ locator, requestId, at, type, username, data }: StoredEvent): WebhookEvent => ({
  id: locator,
  transactionId: requestId,
  timestamp: String(at),
  type: type as EventType,
  username,
  data,
})

const givenBack = ({ event, attempts }: ClaimedDelivery): DeliveryResult => ({
  eventSequence: event.sequence,
  state: 'pending',
  attempts,
  dueAt: now(),
  outcome: null,
  finishedAt: null,
})

function resultOf(
  { webhook }: Claim,
  delivery: ClaimedDelivery,
  outcome: Outcome,
): { recorded: DeliveryResult; suspend: boolean } {
  const at = now()
  const attempts = delivery.attempts + 1
  const verdict = judge(outcome, attempts, webhook.failureHandling, Math.random())
  if (verdict.state !== 'sent')
    console.warn(
      JSON.stringify({
        at: 'delivery',
        webhook: webhook.locator,
        event: delivery.event.locator,
        attempts,
        outcome: outcomeText(outcome),
        next: verdict.state,
      }),
    )
  const recorded: DeliveryResult = {
    eventSequence: delivery.event.sequence,
    state: verdict.state,
    attempts,
    dueAt: (verdict.state === 'pending' ? at + verdict.delayMs : at) as Instant,
    outcome: outcomeText(outcome),
    finishedAt: verdict.state === 'pending' ? null : at,
  }
  return { recorded, suspend: verdict.state === 'failed' && verdict.suspend }
}

/**
 * Suspends the webhook in the other shards, home (0) first, since its row is what clients see. Before the result
 * is recorded: cut off in between, the attempt is repeated, and this with it.
 */
async function suspendElsewhere({ env, tenant, shard, calls }: Place, webhook: Uuid): Promise<void> {
  for (const other of tenant.shards.keys()) {
    if (other === shard) continue
    const database = shardDatabase(env, tenant, other, calls)
    await database.batch(suspendHere(database, webhook, now()))
  }
}
