// The deliveries that are under way. A webhook has one object in each shard, so the object that posts holds the claim, and the
// database does not know of it. The object writes what is under way to its storage before the first post. So after a crash nothing
// is posted again while an answer may still come, and everything else continues immediately.
import { type Instant, now } from '../../../kernel/time.ts'

/** Storage of the webhook's object. A superseded instance cannot write to it, and so starts no post. */
export type ClaimStorage = Pick<DurableObjectStorage, 'get' | 'put' | 'delete'>

const STORAGE_KEY = 'underWay'

/** The sequence of a line's first delivery, and the time until which no one else may attempt it. */
type Stored = readonly (readonly [head: number, until: Instant])[]

const NONE: ReadonlySet<number> = new Set()

/** The claims of one run of a webhook's object. `open` and `close` read and write the object's storage. */
export class Claims {
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
