// Delivers what is due for a webhook in one shard: claims it by a lease, posts it, records the results. What a crash leaves claimed
// is due again when the lease ends, so every event arrives at least once.
import { type Instant, now } from '../../../kernel/time.ts'
import type { Database, Query } from '../../../platform/database.ts'
import type { ShardPlace } from '../../../platform/events/timers.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import { resolvedHeaders } from '../../../reference/secrets/sending.ts'
import { ATTEMPT_TIMEOUT_MS, type Sender, sendAlert, serveLine } from './serve.ts'
import {
  type Claim,
  type ClaimedLine,
  claimDue,
  type DeliveryResult,
  type NothingDue,
  nextDue,
  recordResults,
  webhookOf,
} from './store.ts'
import { suspendWebhook } from './webhook-copies.ts'

/** Lines served at once. Each holds one of six connections, and the database needs one. */
const LANES = 5

/** Lines that one claim takes. The lease covers all of them, so a larger claim would give more back unsent. */
const MOST_LINES_CLAIMED = 100

/**
 * No attempt begins later than this after its claim; the remaining deliveries are given back. So every attempt ends
 * before its lease does, and no other call posts the same delivery meanwhile.
 */
const SEND_WITHIN_MS = 10_000

/** Outlasts the last attempt of a claim, and its recording. */
const LEASE_MS = SEND_WITHIN_MS + ATTEMPT_TIMEOUT_MS + 5_000

/** A call of `deliverTo` begins no claim after this time. */
const WORK_MS = 40_000

/** Interval between claims while lanes are busy and the last claim took all that was due. */
const LOOK_AGAIN_MS = 1_000

type QueuedLine = { readonly claim: Claim; readonly sender: Sender; readonly line: ClaimedLine }

type Run = {
  readonly place: ShardPlace
  readonly database: Database
  readonly webhookLocator: string
  readonly recorder: Recorder
  readonly lanes: Set<Promise<void>>
  readonly alerts: Promise<void>[]
  isSuspended: boolean
}

/**
 * Delivers what is due for the webhook in the shard. Serves lines (tables.ts) side by side, each in order. If serving a line throws, it is due
 * again when its lease ends. Returns when the next delivery is due, maybe in the past; undefined when nothing waits.
 */
export async function deliverTo(place: ShardPlace, webhookLocator: string): Promise<Instant | undefined> {
  const database = shardDatabase(place.env, place.tenant, place.shard, place.calls)
  const recorder = new Recorder(database, problem => failed(webhookLocator, problem))
  const lanes = new Set<Promise<void>>()
  const run: Run = { place, database, webhookLocator, recorder, lanes, alerts: [], isSuspended: false }
  let nothing: NothingDue | undefined
  try {
    nothing = await work(run)
  } finally {
    await Promise.all(lanes)
    await recorder.flush()
    await Promise.all(run.alerts)
  }
  return nothing ? nothing.nextDue : await nextDue(database, webhookLocator)
}

const failed = (webhook: string, problem: unknown): void =>
  console.error(JSON.stringify({ at: 'deliver', webhook, problem: String(problem) }))

/**
 * Claims whenever a lane is free and nothing is ready, until nothing is due. Undefined when time is over or the webhook is
 * suspended: then something may still be due.
 */
async function work(run: Run): Promise<NothingDue | undefined> {
  const until = now() + WORK_MS
  const { lanes } = run
  for (let mayBeMore = true; ; ) {
    if (lanes.size === LANES) await Promise.race(lanes)
    if (lanes.size > 0 && !mayBeMore) await Promise.race([Promise.all(lanes), scheduler.wait(LOOK_AGAIN_MS)])
    if (run.isSuspended || now() >= until) return undefined
    // The claim misses deliveries that a lane ending meanwhile makes due.
    const seesAll = lanes.size === 0
    const found = await claimLines(run)
    if ('nextDue' in found) {
      if (seesAll) return found
      mayBeMore = false
      continue
    }
    mayBeMore = found.length === MOST_LINES_CLAIMED
    for (const queued of found) {
      if (lanes.size === LANES) await Promise.race(lanes)
      const lane: Promise<void> = serve(run, queued)
        .catch(problem => failed(run.webhookLocator, problem))
        .finally(() => lanes.delete(lane))
      lanes.add(lane)
    }
  }
}

/** Records waiting results and claims due lines in one round trip. */
async function claimLines({
  place,
  database,
  webhookLocator,
  recorder,
}: Run): Promise<QueuedLine[] | NothingDue> {
  const { claim, at } = await recorder.withClaim(async before => {
    const at = now()
    const leaseUntil = (at + LEASE_MS) as Instant
    return { at, claim: await claimDue(database, webhookLocator, at, leaseUntil, MOST_LINES_CLAIMED, before) }
  })
  if ('nextDue' in claim) return claim
  const webhook = await webhookOf(place, claim.webhook)
  const headers = await resolvedHeaders(place, webhook.endpoint.headers, webhook.endpoint.url)
  if ('problem' in headers)
    console.warn(JSON.stringify({ at: 'delivery', webhook: webhook.locator, problem: headers.problem }))
  const sender = { place, webhook, headers, sendBefore: (at + SEND_WITHIN_MS) as Instant }
  return claim.lines.map(line => ({ claim, sender, line }))
}

/** Results that suspend the webhook are recorded before it is suspended. */
async function serve(run: Run, { claim, sender, line }: QueuedLine): Promise<void> {
  const { place, recorder } = run
  const { results, alerts, suspendAt } = await serveLine(sender, line, () => run.isSuspended)
  recorder.add(claim, results)
  if (suspendAt !== undefined) {
    run.isSuspended = true
    await recorder.flush()
    await suspendWebhook(place, sender.webhook.locator, suspendAt)
  }
  run.alerts.push(...alerts.map(alert => sendAlert(place, sender.webhook, alert)))
}

/** How long a result may wait for others, or for the next claim, which records it. */
export const RECORD_WITHIN_MS = 250

/** Results of this many lines are written without waiting longer. */
const MOST_LINES_WAITING = 100

type Added = { readonly claim: Claim; readonly results: readonly DeliveryResult[] }

/** Records results of many lines together: a round trip for each would take longer than the posts. */
class Recorder {
  readonly #database: Database
  readonly #lost: (problem: unknown) => void
  #added: Added[] = []
  #writing = Promise.resolve()
  #waiting: ReturnType<typeof setTimeout> | undefined

  /** `lost` gets the error when results cannot be written; their leases end and they are tried again. */
  constructor(database: Database, lost: (problem: unknown) => void) {
    this.#database = database
    this.#lost = lost
  }

  /** Takes all results of a line at once: its lease ends with the first. */
  add(claim: Claim, results: readonly DeliveryResult[]): void {
    this.#added.push({ claim, results })
    if (this.#added.length >= MOST_LINES_WAITING) void this.flush()
    else this.#waiting ??= setTimeout(() => void this.flush(), RECORD_WITHIN_MS)
  }

  /** Records before the claim in the same batch, so the claim finds deliveries behind ended lines. */
  async withClaim<Found>(claim: (before: readonly Query[]) => Promise<Found>): Promise<Found> {
    await this.#writing
    const taken = this.#take()
    try {
      return await claim(this.#queriesOf(taken))
    } catch (problem) {
      // The claim may have failed: the results are written again without it.
      this.#added = [...taken, ...this.#added]
      throw problem
    }
  }

  /** Writes everything that was added, without waiting for more. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const queries = this.#queriesOf(this.#take())
      if (queries.length > 0)
        await this.#database.batch(queries as [Query, ...Query[]]).catch(problem => this.#lost(problem))
    })
    return this.#writing
  }

  #take(): Added[] {
    clearTimeout(this.#waiting)
    this.#waiting = undefined
    const taken = this.#added
    this.#added = []
    return taken
  }

  #queriesOf(added: readonly Added[]): Query[] {
    const byClaim = Map.groupBy(added, ({ claim }) => claim)
    return [...byClaim].flatMap(([claim, lines]) =>
      recordResults(
        this.#database,
        claim,
        lines.flatMap(({ results }) => results),
      ),
    )
  }
}
