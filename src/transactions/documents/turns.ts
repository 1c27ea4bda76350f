// The policies of a shard whose documents are being created, in the memory of its dispatcher. The first try of a policy is
// assigned and returned without writing a row. If the memory is lost, work is at worst done twice, since each document is
// recorded once. A try that is cut off is found by the policy's row (job-store.ts).
import type { PolicyLocator } from '../../kernel/locators.ts'
import { type Instant, isWithinLast } from '../../kernel/time.ts'

/**
 * How many policies of one shard have their documents created at the same time: as many as its database can load. All tenants
 * share the queue, so a shard with more waiting leaves the other consumers to other shards.
 */
export const MADE_AT_ONCE = 16

/** A turn ends after this time if a crash cut it off. */
export const TURN_MS = 5 * 60_000

/** A policy to hint at. */
export type WaitingPolicy = {
  readonly policyLocator: PolicyLocator
  /** The policy's version that needs the documents, if it is known. */
  readonly version?: number | undefined
  /** It was tried before. */
  readonly again?: boolean
}

/** How long policies may wait without a hint after a sender reached its limit of hints. */
const WITHOUT_HINTS_MS = 60_000

const LOOK_EVERY_MS = 1_000

const MOST_REMEMBERED = 1_000

export class DocumentTurns {
  // Times at which something began, not ended: with a clock that is set back they count as over.
  readonly #underWay = new Map<PolicyLocator, Instant>()
  /** In the order in which they are hinted at. */
  readonly #waiting = new Map<PolicyLocator, WaitingPolicy>()
  #withoutHintsSince = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY

  isUnderWay(policy: PolicyLocator, at: Instant): boolean {
    return isWithinLast(TURN_MS, this.#underWay.get(policy) ?? Number.NEGATIVE_INFINITY, at)
  }

  /**
   * Gives the policy a turn, which `end` ends. Returns false if it has one, or if the shard is at its limit; the policy is then
   * hinted at when a turn ends. `mayBeMore`: its sender will send no further hints for now.
   */
  begin(waiting: WaitingPolicy, mayBeMore: boolean, at: Instant): boolean {
    const { policyLocator } = waiting
    if (mayBeMore) this.#withoutHintsSince = at
    for (const policy of this.#underWay.keys())
      if (!this.isUnderWay(policy, at)) this.#underWay.delete(policy)
    if (this.#underWay.has(policyLocator) || this.#underWay.size >= MADE_AT_ONCE) {
      if (this.#waiting.size < MOST_REMEMBERED) this.#waiting.set(policyLocator, waiting)
      return false
    }
    this.#waiting.delete(policyLocator)
    this.#underWay.set(policyLocator, at)
    return true
  }

  /** Ends the policy's turn. Returns the policy to hint at next, if any is known to wait. `look` finds those without a hint. */
  async end(
    policy: PolicyLocator,
    at: Instant,
    look: () => Promise<readonly WaitingPolicy[]>,
  ): Promise<WaitingPolicy | undefined> {
    this.#underWay.delete(policy)
    const known = this.#next(at)
    const mayBeWithoutHints = isWithinLast(WITHOUT_HINTS_MS, this.#withoutHintsSince, at)
    if (known || !mayBeWithoutHints || isWithinLast(LOOK_EVERY_MS, this.#lookedAt, at)) return known
    this.#lookedAt = at
    for (const waiting of await look())
      if (!this.#waiting.has(waiting.policyLocator)) this.#waiting.set(waiting.policyLocator, waiting)
    return this.#next(at)
  }

  #next(at: Instant): WaitingPolicy | undefined {
    for (const [policy, waiting] of this.#waiting) {
      if (this.isUnderWay(policy, at)) continue
      this.#waiting.delete(policy)
      return waiting
    }
    return undefined
  }
}
