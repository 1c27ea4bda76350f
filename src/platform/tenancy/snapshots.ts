// What the control database says, as isolates keep it: trusted for some seconds, and longer while the control database does not answer.
// So its failure takes nobody down who was served before. Isolates of one place share what one of them has read (the cache of the
// platform), so that it is asked less. That a snapshot may be old is harmless for data: each tenant database has a fence (fence.ts).
import { Memo } from '../../kernel/maps.ts'
import { now } from '../../kernel/time.ts'

/** How old a snapshot may be while the control database does not answer. */
const STALE_MS = 60 * 60_000

/** How long a caller with an older snapshot waits for a newer one; without limit if this isolate has changed something since. */
const PATIENCE_MS = 2_000

export type Snapshot<Value> = {
  readonly value: Value
  /** Before the read began, so that nothing is trusted longer than that after it was so. */
  readonly readAt: number
}

/** How the value is kept in the place that isolates share; `undefined` text: not at all. */
export type Shared<Value> = {
  /** An address that nobody can call. */
  readonly url: string
  readonly text: (value: Value) => string | undefined
  readonly read: (text: string) => Value
}

export type Found<Value> = {
  readonly value: Value
  /** Whether it is too old, because the control database does not answer. */
  readonly isStale: boolean
  /** Whether a known value was read again. */
  readonly isRenewed: boolean
}

/** `changes`: how many this isolate had made when the read began. */
type Remembered<Value> = Snapshot<Value> & { readonly changes: number }

export class Snapshots<Value> {
  readonly #trustMs: number
  readonly #memory: Memo<string, Remembered<Value>>
  /** Values that were read before a change are not used, unless the control database does not answer. */
  #changes = 0
  #changedAt = Number.NEGATIVE_INFINITY
  /** When a read failed last. */
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(most: number, trustMs: number) {
    this.#memory = new Memo(most)
    this.#trustMs = trustMs
  }

  /** The value of the key, by `read` unless it is known. Throws what `read` does when nothing is known. */
  async find(key: string, read: () => Promise<Value>, shared?: Shared<Value>): Promise<Found<Value>> {
    const own = this.#memory.get(key)
    if (own && this.#isFresh(own)) return { value: own.value, isStale: false, isRenewed: false }
    const others = shared && (await this.#others(shared))
    if (others && this.#isFresh(others)) {
      this.#memory.set(key, others)
      return { value: others.value, isStale: false, isRenewed: false }
    }
    const known = own ?? others
    const old = known && isWithin(known.readAt, STALE_MS) ? known : undefined
    const isUnchanged = old?.changes === this.#changes
    if (old && isUnchanged && isWithin(this.#failedAt, this.#trustMs))
      return { value: old.value, isStale: true, isRenewed: false }
    const begun = { readAt: now(), changes: this.#changes }
    try {
      const value = await (isUnchanged ? inTime(read()) : read())
      this.#memory.set(key, { value, ...begun })
      if (shared) await share(shared, { value, ...begun })
      return { value, isStale: false, isRenewed: own !== undefined }
    } catch (problem) {
      this.#failedAt = now()
      if (!old) throw problem
      console.error(JSON.stringify({ at: 'control database', problem: String(problem) }))
      return { value: old.value, isStale: true, isRenewed: false }
    }
  }

  /** Makes every value be read again, after a change. */
  forget(): void {
    this.#changes += 1
    this.#changedAt = now()
  }

  #isFresh({ readAt, changes }: Remembered<Value>): boolean {
    return changes === this.#changes && isWithin(readAt, this.#trustMs)
  }

  async #others({ url, read }: Shared<Value>): Promise<Remembered<Value> | undefined> {
    try {
      const stored = await cache()?.match(url)
      if (!stored) return undefined
      const { readAt, text } = await stored.json<{ readAt: number; text: string }>()
      // Clocks differ: what others read about the time of a change of our own may be from before it.
      const isOlder = isWithin(this.#changedAt, this.#trustMs)
      return { value: read(text), readAt, changes: isOlder ? -1 : this.#changes }
    } catch {
      // The cache does not answer, or another release has kept it in a form of its own.
      return undefined
    }
  }
}

/** Whether the time is past, and not longer ago than that. */
const isWithin = (time: number, ms: number): boolean => time <= now() && now() - time < ms

/** The cache of the place where the isolate runs; scripts have none. */
const cache = (): Cache | undefined =>
  typeof caches === 'undefined' ? undefined : (caches as unknown as { default?: Cache }).default

async function share<Value>({ url, text }: Shared<Value>, { value, readAt }: Snapshot<Value>): Promise<void> {
  const kept = text(value)
  if (kept === undefined) return
  const response = new Response(JSON.stringify({ readAt, text: kept }), {
    headers: { 'content-type': 'application/json', 'cache-control': `max-age=${STALE_MS / 1_000}` },
  })
  await cache()
    ?.put(url, response)
    .catch(() => undefined)
}

async function inTime<Value>(read: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer in ${PATIENCE_MS} ms.`)), PATIENCE_MS)
  })
  // A late result or failure is ignored.
  read.catch(() => undefined)
  return await Promise.race([read, late]).finally(() => clearTimeout(timer))
}
