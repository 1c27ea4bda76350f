// Which deliveries are under way. A webhook has one object in each shard, so the object that posts is the claim, and the database
// is not told of it. What is under way is in the object's storage before the first post: after a crash nothing is posted again
// while an answer may still come, and everything else goes on at once.
import { type Instant, now } from '../../../kernel/time.ts'

/** Storage of the webhook's object. An instance that was superseded cannot write to it, and so begins no post. */
export type ClaimStorage = Pick<DurableObjectStorage, 'get' | 'put' | 'delete'>

const STORAGE_KEY = 'underWay'

/** Sequence of a line's first delivery, and until when no one else may attempt it. */
type Stored = readonly (readonly [head: number, until: Instant])[]

const NONE: ReadonlySet<number> = new Set()

export class Claims {
  readonly #storage: ClaimStorage
  readonly #heads: Map<number, Instant>

  private constructor(storage: ClaimStorage, heads: Stored) {
    this.#storage = storage
    this.#heads = new Map(heads)
  }

  /** With what an interrupted run left under way. */
  static async open(storage: ClaimStorage): Promise<Claims> {
    return new Claims(storage, (await storage.get<Stored>(STORAGE_KEY)) ?? [])
  }

  /** Heads that may be under way at `at`, without those that are about to be recorded. */
  heads(at: Instant, recorded: ReadonlySet<number> = NONE): number[] {
    for (const [head, until] of this.#heads) if (until <= at) this.#heads.delete(head)
    return [...this.#heads.keys()].filter(head => !recorded.has(head))
  }

  /** Await it before the first post. */
  async take(heads: readonly number[], until: Instant): Promise<void> {
    for (const head of heads) this.#heads.set(head, until)
    await this.#storage.put(STORAGE_KEY, [...this.#heads] satisfies Stored)
  }

  /** Their results are recorded. */
  settle(heads: Iterable<number>): void {
    for (const head of heads) this.#heads.delete(head)
  }

  /** When the first of what is left may be attempted again; undefined if nothing is left. */
  freeAt(): Instant | undefined {
    return this.#heads.size === 0 ? undefined : (Math.min(...this.#heads.values()) as Instant)
  }

  /** Keeps what was not recorded, until its time is over. */
  async close(): Promise<void> {
    this.heads(now())
    if (this.#heads.size > 0) await this.#storage.put(STORAGE_KEY, [...this.#heads] satisfies Stored)
    else await this.#storage.delete(STORAGE_KEY)
  }
}
