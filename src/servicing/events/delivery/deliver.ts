// Delivers what is due for a webhook in one shard: claims it, posts it, and records the results. After a crash, claimed deliveries
// are due again when the claim ends, so every event arrives at least once.
import { type Instant, now } from '../../../kernel/time.ts'
import { hasRoomForMore } from '../../../platform/calls.ts'
import type { Database, Query } from '../../../platform/database.ts'
import type { ShardPlace } from '../../../platform/events/timers.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import { resolveHeaders } from '../../../reference/secrets/sending.ts'
import { ATTEMPT_TIMEOUT_MS, deliverLine, type Sender, sendAlert } from './serve.ts'
import {
  type ClaimedLine,
  type DeliveryResult,
  type NothingDue,
  nextDue,
  readDue,
  recordResults,
} from './store.ts'
import { webhookOf } from './webhook.ts'
import { suspendWebhook } from './webhook-copies.ts'

/** The number of lines that are served simultaneously. Each uses one of six connections, and the database needs one. */
const LANES = 5

/** The number of lines in one claim. The claim's time covers all of them, so a larger claim would give more lines back unsent. */
const MOST_LINES_CLAIMED = 100

/**
 * No attempt begins later than this after its claim; the remaining deliveries are given back. So every attempt ends before its
 * claim does, and no other call posts the same delivery in the meantime.
 */
const SEND_WITHIN_MS = 10_000

/** Longer than the last attempt of a claim and its recording. */
const CLAIM_MS = SEND_WITHIN_MS + ATTEMPT_TIMEOUT_MS + 5_000

/** A call of `deliverTo` makes no claim after this time, or after as many posts as an invocation may send. */
const WORK_MS = 40_000

/** Interval between claims while lanes are busy and the last claim took everything that was due. */
const LOOK_AGAIN_MS = 1_000

/** Storage of the webhook's object. A superseded instance cannot write to it, and so starts no post. */
export type ClaimStorage = Pick<DurableObjectStorage, 'get' | 'put' | 'delete'>

type QueuedLine = { readonly sender: Sender; readonly line: ClaimedLine }

type Run = {
  readonly place: ShardPlace
  readonly database: Database
  readonly webhookLocator: string
  readonly claims: Claims
  readonly recorder: Recorder
  readonly lanes: Set<Promise<void>>
  readonly alerts: Promise<void>[]
  isSuspended: boolean
}

/**
 * Delivers what is due for the webhook in the shard. Serves lines (tables.ts) in parallel, each in order. If serving a line throws
 * or its results cannot be recorded, it is due again when its claim ends. `storage` belongs to the webhook's object; calls for one
 * webhook and shard must not overlap. Returns when the next delivery is due, maybe in the past; undefined when nothing waits.
 */
export async function deliverTo(
  place: ShardPlace,
  webhookLocator: string,
  storage: ClaimStorage,
): Promise<Instant | undefined> {
  const database = shardDatabase(place.env, place.tenant, place.shard, place.calls)
  const claims = await Claims.open(storage)
  const recorder = new Recorder(database, webhookLocator, claims)
  const lanes = new Set<Promise<void>>()
  const run: Run = {
    place,
    database,
    webhookLocator,
    claims,
    recorder,
    lanes,
    alerts: [],
    isSuspended: false,
  }
  let nothing: NothingDue | undefined
  try {
    nothing = await deliverUntilDone(run)
  } finally {
    await Promise.all(lanes)
    await recorder.flush()
    await claims.close()
    await Promise.all(run.alerts)
  }
  const next = nothing ? nothing.nextDue : await nextDue(database, webhookLocator, claims.heads(now()))
  return earlierIfAny(next, claims.freeAt())
}

const earlierIfAny = (one: Instant | undefined, other: Instant | undefined): Instant | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one

const logFailure = (webhook: string, problem: unknown): void =>
  console.error(JSON.stringify({ at: 'deliver', webhook, problem: String(problem) }))

/**
 * Makes a claim whenever a lane is free and nothing is ready, until nothing is due. Returns undefined when the time or the calls of
 * this invocation are used up, or the webhook is suspended: then something may still be due.
 */
async function deliverUntilDone(run: Run): Promise<NothingDue | undefined> {
  const until = now() + WORK_MS
  const { lanes, place } = run
  for (let mayBeMore = true; ; ) {
    if (lanes.size === LANES) await Promise.race(lanes)
    if (lanes.size > 0 && !mayBeMore) await Promise.race([Promise.all(lanes), scheduler.wait(LOOK_AGAIN_MS)])
    if (run.isSuspended || now() >= until || !hasRoomForMore(place.calls)) return undefined
    // The claim misses deliveries that become due when a lane ends in the meantime.
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
      const lane: Promise<void> = deliverQueuedLine(run, queued)
        .catch(problem => logFailure(run.webhookLocator, problem))
        .finally(() => lanes.delete(lane))
      lanes.add(lane)
    }
  }
}

/** Records waiting results and reads due lines in one round trip, and claims those lines. */
async function claimLines(run: Run): Promise<QueuedLine[] | NothingDue> {
  const { place, database, webhookLocator, claims, recorder } = run
  const { found, at } = await recorder.withNext(async (before, recorded) => {
    const at = now()
    const underWay = claims.heads(at, recorded)
    return { at, found: await readDue(database, webhookLocator, at, underWay, MOST_LINES_CLAIMED, before) }
  })
  if ('nextDue' in found) return found
  const heads = found.lines.map(([head]) => head.event.sequence)
  await claims.take(heads, (at + CLAIM_MS) as Instant)
  const webhook = await webhookOf(place, found.webhook)
  const headers = await resolveHeaders(place, webhook.endpoint.headers, webhook.endpoint.url)
  if ('problem' in headers)
    console.warn(JSON.stringify({ at: 'delivery', webhook: webhook.locator, problem: headers.problem }))
  const sender = { place, webhook, headers, sendBefore: (at + SEND_WITHIN_MS) as Instant }
  return found.lines.map(line => ({ sender, line }))
}

/** Records results before they suspend the webhook. Only the failure that suspends it says so in an alert. */
async function deliverQueuedLine(run: Run, { sender, line }: QueuedLine): Promise<void> {
  const { place, recorder } = run
  const { results, alerts, suspendAt } = await deliverLine(sender, line, () => run.isSuspended)
  recorder.add(line[0].event.sequence, results)
  let hasSuspended = false
  if (suspendAt !== undefined) {
    run.isSuspended = true
    await recorder.flush()
    hasSuspended = await suspendWebhook(place, sender.webhook.locator, suspendAt)
  }
  const alertsToSend = alerts.filter(({ suspended }) => hasSuspended || !suspended)
  run.alerts.push(...alertsToSend.map(alert => sendAlert(place, sender.webhook, alert)))
}

/** How long a result may wait for other results, or for the next claim, which records it. */
export const RECORD_WITHIN_MS = 250

/** Results of this many lines are written without further waiting. */
const MOST_LINES_WAITING = 100

type Added = { readonly head: number; readonly results: readonly DeliveryResult[] }

/** Records the results of many lines together. A round trip for each line would take longer than the posts. */
class Recorder {
  readonly #database: Database
  readonly #webhook: string
  readonly #claims: Claims
  #added: Added[] = []
  #writing = Promise.resolve()
  #waiting: ReturnType<typeof setTimeout> | undefined

  constructor(database: Database, webhook: string, claims: Claims) {
    this.#database = database
    this.#webhook = webhook
    this.#claims = claims
  }

  /** Adds all results of a line together, because its claim ends with them. */
  add(head: number, results: readonly DeliveryResult[]): void {
    this.#added.push({ head, results })
    if (this.#added.length >= MOST_LINES_WAITING) void this.flush()
    else this.#waiting ??= setTimeout(() => void this.flush(), RECORD_WITHIN_MS)
  }

  /**
   * Records results before `read` reads, in the same batch, so that it finds deliveries behind ended lines. `recorded` are the
   * heads of the lines that the batch records.
   */
  async withNext<Found>(
    read: (before: readonly Query[], recorded: ReadonlySet<number>) => Promise<Found>,
  ): Promise<Found> {
    await this.#writing
    const taken = this.#take()
    const heads = new Set(taken.map(({ head }) => head))
    try {
      const found = await read(this.#queriesOf(taken), heads)
      this.#claims.release(heads)
      return found
    } catch (problem) {
      // The batch may have failed, so the results are written again without it.
      this.#added = [...taken, ...this.#added]
      throw problem
    }
  }

  /** Writes everything that was added, without waiting for more. If that fails, the lines are tried again when their claims end. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const taken = this.#take()
      const queries = this.#queriesOf(taken)
      try {
        if (queries.length > 0) await this.#database.batch(queries as [Query, ...Query[]])
        this.#claims.release(taken.map(({ head }) => head))
      } catch (problem) {
        logFailure(this.#webhook, problem)
      }
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
    const results = added.flatMap(({ results }) => results)
    return recordResults(this.#database, this.#webhook, results)
  }
}

const STORAGE_KEY = 'underWay'

/** The sequence of a line's first delivery, and the time until which no one else may attempt it. */
type Stored = readonly (readonly [head: number, until: Instant])[]

const NONE: ReadonlySet<number> = new Set()

/**
 * The deliveries that are under way: the claims of one run of a webhook's object. A webhook has one object in each shard, so the
 * object that posts holds the claim, and the database does not know of it. `take` writes what is under way to the object's storage
 * before the first post. So after a crash nothing is posted again while an answer may still come, and everything else continues
 * immediately.
 */
class Claims {
  readonly #storage: ClaimStorage
  readonly #heads: Map<number, Instant>

  private constructor(storage: ClaimStorage, heads: Stored) {
    this.#storage = storage
    this.#heads = new Map(heads)
  }

  /** Opens the claims, including those that an interrupted run left under way. */
  static async open(storage: ClaimStorage): Promise<Claims> {
    return new Claims(storage, (await storage.get<Stored>(STORAGE_KEY)) ?? [])
  }

  /** Returns the heads that may be under way at `at`, without those that are about to be recorded. */
  heads(at: Instant, recorded: ReadonlySet<number> = NONE): number[] {
    for (const [head, until] of this.#heads) if (until <= at) this.#heads.delete(head)
    return [...this.#heads.keys()].filter(head => !recorded.has(head))
  }

  /** Claims the heads. Await it before the first post. */
  async take(heads: readonly number[], until: Instant): Promise<void> {
    for (const head of heads) this.#heads.set(head, until)
    await this.#storage.put(STORAGE_KEY, [...this.#heads] satisfies Stored)
  }

  /** Releases heads whose results are recorded. */
  release(heads: Iterable<number>): void {
    for (const head of heads) this.#heads.delete(head)
  }

  /** Returns when the first of the remaining heads may be attempted again, or undefined if none remain. */
  freeAt(): Instant | undefined {
    return this.#heads.size === 0 ? undefined : (Math.min(...this.#heads.values()) as Instant)
  }

  /** Keeps unrecorded heads until their time is over. */
  async close(): Promise<void> {
    this.heads(now())
    if (this.#heads.size > 0) await this.#storage.put(STORAGE_KEY, [...this.#heads] satisfies Stored)
    else await this.#storage.delete(STORAGE_KEY)
  }
}
