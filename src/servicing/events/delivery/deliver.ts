// Works off a webhook's due deliveries in a shard. They are claimed by a lease, posted, and the results recorded; what a
// crash leaves claimed is due again when the lease runs out, so every event arrives at least once.
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

/** Lines of a webhook served at once; each holds one of the six connections, and the database needs one. */
const LANES = 5

/** Lines that one claim takes. */
const MOST_CLAIMED = 100

/** After a claim no attempt begins later than this; what is left over is given back. */
const SEND_WITHIN_MS = 10_000

/** Outlasts the last attempt of a claim, and its recording. */
const LEASE_MS = SEND_WITHIN_MS + ATTEMPT_TIMEOUT_MS + 5_000

/** One call begins no new claim after this time. */
const WORK_MS = 40_000

/** How often it looks for more, having found all there was, while lanes are busy. */
const LOOK_AGAIN_MS = 1_000

/** A line that is claimed, and served when a lane is free. */
type Ready = { readonly claim: Claim; readonly sender: Sender; readonly line: ClaimedLine }

/** One call's work. */
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
 * Delivers what is due for the webhook in the shard. Returns when the next is due, which may be past, or undefined. Lines
 * (tables.ts) are served side by side, each in order. A line that fails is due again when its lease runs out.
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
    await recorder.written()
    await Promise.all(run.alerts)
  }
  return nothing ? nothing.nextDue : await nextDue(database, webhookLocator)
}

const failed = (webhook: string, problem: unknown): void =>
  console.error(JSON.stringify({ at: 'deliver', webhook, problem: String(problem) }))

/** Claims whenever a lane is free and nothing is ready, until nothing is due, or (undefined) the time is over. */
async function work(run: Run): Promise<NothingDue | undefined> {
  const until = now() + WORK_MS
  const { lanes } = run
  for (let mayBeMore = true; ; ) {
    if (lanes.size === LANES) await Promise.race(lanes)
    if (lanes.size > 0 && !mayBeMore) await Promise.race([Promise.all(lanes), scheduler.wait(LOOK_AGAIN_MS)])
    if (run.isSuspended || now() >= until) return undefined
    // The claim does not see what a lane that ends meanwhile leaves to be done.
    const seesAll = lanes.size === 0
    const found = await claimed(run)
    if ('nextDue' in found) {
      if (seesAll) return found
      mayBeMore = false
      continue
    }
    mayBeMore = found.length === MOST_CLAIMED
    for (const ready of found) {
      if (lanes.size === LANES) await Promise.race(lanes)
      const lane: Promise<void> = serve(run, ready)
        .catch(problem => failed(run.webhookLocator, problem))
        .finally(() => lanes.delete(lane))
      lanes.add(lane)
    }
  }
}

/** Records what was added and claims what is due, or finds when something will be: one round trip. */
async function claimed({ place, database, webhookLocator, recorder }: Run): Promise<Ready[] | NothingDue> {
  const { claim, at } = await recorder.withClaim(async before => {
    const at = now()
    const leaseUntil = (at + LEASE_MS) as Instant
    return { at, claim: await claimDue(database, webhookLocator, at, leaseUntil, MOST_CLAIMED, before) }
  })
  if ('nextDue' in claim) return claim
  const webhook = await webhookOf(place, claim.webhook)
  const headers = await resolvedHeaders(place, webhook.endpoint.headers, webhook.endpoint.url)
  if ('problem' in headers)
    console.warn(JSON.stringify({ at: 'delivery', webhook: webhook.locator, problem: headers.problem }))
  const sender = { place, webhook, headers, sendBefore: (at + SEND_WITHIN_MS) as Instant }
  return claim.lines.map(line => ({ claim, sender, line }))
}

/** Serves the line and has the results recorded; those of one that suspends the webhook are there before it is suspended. */
async function serve(run: Run, { claim, sender, line }: Ready): Promise<void> {
  const { place, recorder } = run
  const { results, alerts, suspendAt } = await serveLine(sender, line, () => run.isSuspended)
  recorder.add(claim, results)
  if (suspendAt !== undefined) {
    run.isSuspended = true
    await recorder.written()
    await suspendWebhook(place, sender.webhook.locator, suspendAt)
  }
  run.alerts.push(...alerts.map(alert => sendAlert(place, sender.webhook, alert)))
}

// Records results of many lines together: a round trip for each would take longer than the posts. After a crash, what was not
// recorded is posted again.
/** How long a result may wait for others, or for the next claim, which takes it along. */
export const RECORD_WITHIN_MS = 250

/** Results of so many lines do not wait any longer. */
const MOST_TOGETHER = 100

type Added = { readonly claim: Claim; readonly results: readonly DeliveryResult[] }

class Recorder {
  readonly #database: Database
  readonly #lost: (problem: unknown) => void
  #added: Added[] = []
  #writing = Promise.resolve()
  #waiting: ReturnType<typeof setTimeout> | undefined

  /** Results that cannot be written are `lost`: their leases run out, and they are tried again. */
  constructor(database: Database, lost: (problem: unknown) => void) {
    this.#database = database
    this.#lost = lost
  }

  /** Takes all results of a line: its lease ends with the first of them. */
  add(claim: Claim, results: readonly DeliveryResult[]): void {
    this.#added.push({ claim, results })
    if (this.#added.length >= MOST_TOGETHER) void this.written()
    else this.#waiting ??= setTimeout(() => void this.written(), RECORD_WITHIN_MS)
  }

  /** Records what was added in the same batch as a claim and before it, so that the claim finds what waited behind ended lines. */
  async withClaim<Found>(claim: (before: readonly Query[]) => Promise<Found>): Promise<Found> {
    await this.#writing
    const taken = this.#take()
    try {
      return await claim(this.#queriesOf(taken))
    } catch (problem) {
      // Written again without the claim, in case it was the claim that failed.
      this.#added = [...taken, ...this.#added]
      throw problem
    }
  }

  /** Resolves when everything that was added is written, without waiting for more. */
  written(): Promise<void> {
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
