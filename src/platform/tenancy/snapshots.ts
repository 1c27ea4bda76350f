// Values of the control database in isolates. They are trusted for seconds, and longer while the control database is down, so that
// its failure stops no tenant that was served before. Isolates of one location share them in the platform's cache. An old snapshot
// cannot harm data, because each tenant database has a fence (fence.ts).
import { Memo } from '../../kernel/maps.ts'
import { isWithinLast, now } from '../../kernel/time.ts'

/** Maximum age while the control database does not respond. */
const STALE_MS = 60 * 60_000

/** How long a caller with an older snapshot waits for a newer one. Unlimited if this isolate has changed something since. */
const PATIENCE_MS = 2_000

export type Snapshot<Value> = {
  readonly value: Value
  /** The time just before the read began, so that the value was certainly current when its trusted time starts. */
  readonly readAt: number
}

/** The form of a value in the shared cache. A value whose `text` is undefined is not shared. */
export type Shared<Value> = {
  /** An address that no client can call. */
  readonly url: string
  readonly text: (value: Value) => string | undefined
  readonly read: (text: string) => Value
}

export type Found<Value> = {
  readonly value: Value
  /** Whether the value is too old because the control database does not respond. */
  readonly isStale: boolean
  /** Whether a known value was read again. */
  readonly isRenewed: boolean
}

/** `changes` is the number of this isolate's changes when the read began. */
type Remembered<Value> = Snapshot<Value> & { readonly changes: number }

export class Snapshots<Value> {
  readonly #trustMs: number
  readonly #memory: Memo<string, Remembered<Value>>
  /** Number of changes. Values read before the last one are used only while the control database does not respond. */
  #changes = 0
  #changedAt = Number.NEGATIVE_INFINITY
  /** Time of the last failed read. */
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(most: number, trustMs: number) {
    this.#memory = new Memo(most)
    this.#trustMs = trustMs
  }

  /** Returns the value, calling `read` unless it is known. Throws the error of `read` when no value is known. */
  async find(key: string, read: () => Promise<Value>, shared?: Shared<Value>): Promise<Found<Value>> {
    const own = this.#memory.get(key)
    if (own && this.#isFresh(own)) return { value: own.value, isStale: false, isRenewed: false }
    const others = shared && (await this.#others(shared))
    if (others && this.#isFresh(others)) {
      this.#memory.set(key, others)
      return { value: others.value, isStale: false, isRenewed: false }
    }
    const known = own ?? others
    const old = known && isWithinLast(STALE_MS, known.readAt) ? known : undefined
    const isUnchanged = old?.changes === this.#changes
    if (old && isUnchanged && isWithinLast(this.#trustMs, this.#failedAt))
      return { value: old.value, isStale: true, isRenewed: false }
    const readState = { readAt: now(), changes: this.#changes }
    try {
      const value = await (isUnchanged ? withTimeout(read()) : read())
      this.#memory.set(key, { value, ...readState })
      if (shared) await share(shared, { value, ...readState })
      return { value, isStale: false, isRenewed: own !== undefined }
    } catch (problem) {
      this.#failedAt = now()
      if (!old) throw problem
      console.error(JSON.stringify({ at: 'control database', problem: String(problem) }))
      return { value: old.value, isStale: true, isRenewed: false }
    }
  }

  /** Whether `find` needs no read. */
  knows(key: string): boolean {
    const own = this.#memory.get(key)
    return own !== undefined && this.#isFresh(own)
  }

  /** Makes every value be read again after a change. Clears an earlier failure, because the change was stored. */
  forget(): void {
    this.#changes += 1
    this.#changedAt = now()
    this.#failedAt = Number.NEGATIVE_INFINITY
  }

  #isFresh({ readAt, changes }: Remembered<Value>): boolean {
    return changes === this.#changes && isWithinLast(this.#trustMs, readAt)
  }

  async #others({ url, read }: Shared<Value>): Promise<Remembered<Value> | undefined> {
    try {
      const stored = await cache()?.match(url)
      if (!stored) return undefined
      const { readAt, text } = await stored.json<{ readAt: number; text: string }>()
      // Clocks differ: a value that another isolate read around the time of this isolate's change may be older.
      const isOlder = isWithinLast(this.#trustMs, this.#changedAt)
      return { value: read(text), readAt, changes: isOlder ? -1 : this.#changes }
    } catch {
      // The cache does not respond, or another release wrote a different form.
      return undefined
    }
  }
}

/** Returns the cache of the location. Scripts have none. */
const cache = (): Cache | undefined =>
  typeof caches === 'undefined' ? undefined : (caches as unknown as { default?: Cache }).default

async function share<Value>({ url, text }: Shared<Value>, { value, readAt }: Snapshot<Value>): Promise<void> {
  const sharedText = text(value)
  if (sharedText === undefined) return
  const response = new Response(JSON.stringify({ readAt, text: sharedText }), {
    headers: { 'content-type': 'application/json', 'cache-control': `max-age=${STALE_MS / 1_000}` },
  })
  await cache()
    ?.put(url, response)
    .catch(() => undefined)
}

async function withTimeout<Value>(read: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No response in ${PATIENCE_MS} ms.`)), PATIENCE_MS)
  })
  // A late result or failure is ignored.
  read.catch(() => undefined)
  return await Promise.race([read, late]).finally(() => clearTimeout(timer))
}
