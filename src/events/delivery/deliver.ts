// Works off a webhook's due deliveries in a shard. They are claimed by a lease, posted, and the results recorded; what a
// crash leaves claimed is due again when the lease runs out, so every event arrives at least once.
import { type Instant, now } from '../../platform/time.ts'
import { resolvedHeaders } from '../../resources/secrets/sending.ts'
import { handlingOf, type Webhook } from '../webhook.ts'
import { webhookOf } from '../webhooks/store.ts'
import { suspendWebhook } from '../webhooks/suspend.ts'
import { type Alert, sendAlert } from './alert.ts'
import { ATTEMPT_TIMEOUT_MS, type Attempted, attempt, type SentHeaders } from './attempt.ts'
import { webhookEvent } from './body.ts'
import { judge, outcomeText, type Verdict } from './judge.ts'
import type { Place } from './place.ts'
import {
  type Claim,
  type ClaimedDelivery,
  type ClaimedLine,
  claimDue,
  type DeliveryResult,
  nextDue,
  recordResults,
} from './store.ts'

/**
 * Claims of a webhook under way at once: each posts one event at a time and holds one of the six connections, and the
 * database needs one. A slow answer holds up what is claimed with it, and no other lane.
 */
const LANES = 5

/** Lines that one claim takes. */
const SHARE = { most: 20, claimants: LANES }

/** After a claim no attempt begins later than this; what is left over is given back. */
const SEND_WITHIN_MS = 10_000

/** Outlasts the last attempt of a claim, and its recording. */
const LEASE_MS = SEND_WITHIN_MS + ATTEMPT_TIMEOUT_MS + 5_000

/** One call begins no new claim after this time. */
const WORK_MS = 40_000

/** How often it looks for more, having found nothing, while lanes are busy. */
const LOOK_AGAIN_MS = 1_000

/**
 * Delivers what is due for the webhook in the shard; answers when the next is due, which may be past, or undefined when
 * nothing waits. Lines (tables.ts) are served side by side, each in its order. Who delivers does not fail for a lane that
 * did: what that one claimed is due again when its lease runs out.
 */
export async function deliverTo(place: Place, webhookLocator: string): Promise<Instant | undefined> {
  const until = now() + WORK_MS
  const alerts: Promise<void>[] = []
  const lanes = new Set<Promise<void>>()
  while (now() < until) {
    const at = now()
    const leaseUntil = (at + LEASE_MS) as Instant
    const claim = await claimDue(place.database, webhookLocator, at, leaseUntil, SHARE)
    if (claim) {
      const lane: Promise<void> = deliverClaim(place, claim, (at + SEND_WITHIN_MS) as Instant)
        .then(sent => void alerts.push(...sent))
        .catch(problem =>
          console.error(JSON.stringify({ at: 'deliver', webhook: webhookLocator, problem: String(problem) })),
        )
        .finally(() => lanes.delete(lane))
      lanes.add(lane)
      if (lanes.size === LANES) await Promise.race(lanes)
    } else if (lanes.size === 0) break
    else await Promise.race([Promise.all(lanes), scheduler.wait(LOOK_AGAIN_MS)])
  }
  await Promise.all(lanes)
  await Promise.all(alerts)
  return await nextDue(place.database, webhookLocator)
}

/** A claim while it is worked off. */
type Work = {
  readonly place: Place
  readonly webhook: Webhook
  readonly headers: SentHeaders
  readonly sendBefore: Instant
  readonly results: DeliveryResult[]
  readonly alerts: Alert[]
  suspendAt: Instant | undefined
}

/** Posts and records; answers the alerts that are on their way. */
async function deliverClaim(place: Place, claim: Claim, sendBefore: Instant): Promise<Promise<void>[]> {
  const webhook = await webhookOf(place, claim.webhook)
  const headers = await resolvedHeaders(place, webhook.endpoint.headers)
  if ('problem' in headers)
    console.warn(JSON.stringify({ at: 'delivery', webhook: webhook.locator, problem: headers.problem }))
  const work: Work = { place, webhook, headers, sendBefore, results: [], alerts: [], suspendAt: undefined }
  for (const line of claim.lines) await serveLine(work, line)
  await place.database.batch(recordResults(place.database, claim, work.results))
  if (work.suspendAt !== undefined) await suspendWebhook(place, webhook.locator, work.suspendAt)
  return work.alerts.map(alert => sendAlert(place, webhook, alert))
}

/** Posts the deliveries of a line in order, up to one that is to be tried again. */
async function serveLine(work: Work, line: ClaimedLine): Promise<void> {
  const head = line[0].event.sequence
  for (const delivery of line) {
    if (work.suspendAt !== undefined || now() >= work.sendBefore) {
      // What follows the head was not claimed, and needs not to be given back.
      if (delivery === line[0]) work.results.push(givenBack(delivery))
      return
    }
    const result = await served(work, delivery, head)
    work.results.push(result)
    if (result.state === 'pending') return
  }
}

const givenBack = ({ event, attempts }: ClaimedDelivery): DeliveryResult => ({
  head: event.sequence,
  event,
  state: 'pending',
  attempts,
  dueAt: now(),
  made: undefined,
})

async function served(work: Work, delivery: ClaimedDelivery, head: number): Promise<DeliveryResult> {
  const { place, webhook } = work
  const { event } = delivery
  const body = JSON.stringify(webhookEvent(event, webhook.eventTypes))
  const attempted = await attempt(place.env, webhook.endpoint, work.headers, { id: event.locator, body })
  const attempts = delivery.attempts + 1
  const handling = handlingOf(webhook)
  const verdict = judge(attempted.outcome, attempts, handling, Math.random())
  const at = now()
  if (verdict.state !== 'sent') warn(webhook, delivery, attempted, verdict)
  if (verdict.state === 'failed' && verdict.suspend) work.suspendAt = at
  if (verdict.state === 'failed' && verdict.handled)
    work.alerts.push({
      eventLocator: event.locator,
      outcome: outcomeText(attempted.outcome),
      suspended: verdict.suspend,
      at,
    })
  return {
    head,
    event,
    state: stateAfter(verdict, handling.divert),
    attempts,
    dueAt: (verdict.state === 'pending' ? at + verdict.delayMs : at) as Instant,
    made: attempted.made,
  }
}

/** What is given up is diverted; or skipped where it suspends, so that it is sent with what is missed after it. */
function stateAfter(verdict: Verdict, divert: boolean): DeliveryResult['state'] {
  if (verdict.state !== 'failed' || !verdict.handled) return verdict.state
  if (divert) return 'diverted'
  return verdict.suspend ? 'skipped' : 'failed'
}

const warn = (
  webhook: Webhook,
  { event, attempts }: ClaimedDelivery,
  { made }: Attempted,
  { state }: Verdict,
): void =>
  console.warn(
    JSON.stringify({
      at: 'delivery',
      webhook: webhook.locator,
      event: event.locator,
      attempts: attempts + 1,
      outcome: made.outcome,
      next: state,
    }),
  )
