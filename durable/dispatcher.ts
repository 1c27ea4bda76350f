import { DurableObject } from 'cloudflare:workers'
import { FIRST_SEQUENCE, type PolicyLocator } from '../src/kernel/locators.ts'
import { now } from '../src/kernel/time.ts'
import { type ObjectReply, replyOf } from '../src/platform/objects.ts'
import { alarm, observed } from '../src/platform/observation.ts'
import { type Block, leaseNumbers } from '../src/platform/tenancy/sequence.ts'
import { type ShardName, shardDatabase, shardName, type Tenant } from '../src/platform/tenancy.ts'
import { DocumentTurns, type WaitingPolicy } from '../src/transactions/documents/turns.ts'

/** Time to the next alarm while it works and after a failure. */
const REARM_MS = 60_000

/** While commits are under way that it was armed for. */
const LOOK_EVERY_MS = 60_000

/** The shortest time between two alarms. */
const PAUSE_MS = 1_000

/**
 * One for each shard of a tenant: leases blocks of the number sequence and holds the alarm for the earliest due timer or
 * delivery. Its storage holds `sequence` (the next number to lease), `shard` and `lookAt` (the latest time to look). Its memory holds
 * whose documents are being made.
 */
export class DispatcherObject extends DurableObject<Env> {
  #lastLease: Promise<unknown> = Promise.resolve()
  readonly #turns = new DocumentTurns()

  /** For the previous release while both run: leases from the object's own storage; the next `leaseBlock` starts after it. */
  lease(count: number): Promise<Block> {
    return this.#inTurn(async () => {
      const next = (await this.ctx.storage.get<number>('sequence')) ?? FIRST_SEQUENCE
      await this.ctx.storage.put('sequence', next + count)
      return { next, end: next + count }
    })
  }

  /** Leases `count` numbers; they are never leased again. */
  leaseBlock(tenant: Tenant, shard: number, count: number): Promise<ObjectReply<Block>> {
    return replyOf({ at: 'lease', tenant: tenant.locator, shard }, calls =>
      this.#inTurn(() =>
        leaseNumbers(this.ctx.storage, shardDatabase(this.env, tenant, shard, calls), count),
      ),
    )
  }

  /** Runs leases one after the other: each calls the database between its read and its write of the storage. */
  #inTurn<Result>(lease: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastLease.then(lease)
    this.#lastLease = turn.catch(() => undefined)
    return turn
  }

  /** Gives a policy its turn to have its documents made; false if it has one, or the shard has its share. */
  beginDocuments(policy: WaitingPolicy, mayBeMore: boolean): Promise<ObjectReply<boolean>> {
    return replyOf({ at: 'documents' }, async () => this.#turns.begin(policy, mayBeMore, now()))
  }

  /** Ends the policy's turn, and hints at the next policy. */
  endDocuments(tenant: Tenant, shard: number, policy: PolicyLocator): Promise<ObjectReply<null>> {
    return replyOf({ at: 'documents', tenant: tenant.locator, shard }, async calls => {
      const { hintOf, waitingPolicies } = await import('../src/transactions/documents/job-store.ts')
      const at = now()
      const look = () => waitingPolicies(shardDatabase(this.env, tenant, shard, calls), at)
      const next = await this.#turns.end(policy, at, look)
      if (next) await hintOf(this.env, shardName(tenant, shard), [next], calls)
      return null
    })
  }

  /**
   * Looks at the shard when `at` (epoch milliseconds) comes, and then each minute until a look comes after `until`. An earlier look
   * does not replace it: the caller arms before it commits, so the earlier look may find nothing yet. Returns `until`.
   */
  async arm(shard: ShardName, at: number, until = at): Promise<number> {
    const lookAt = (await this.ctx.storage.get<number>('lookAt')) ?? 0
    if (lookAt < until) await this.ctx.storage.put({ shard, lookAt: until })
    const armed = await this.ctx.storage.getAlarm()
    if (armed === null || armed > at) await this.ctx.storage.setAlarm(at)
    return until
  }

  /**
   * Re-arms before it works: a crash in between costs a minute and loses nothing. If `lookAt` changed meanwhile, the alarm
   * must stay.
   */
  override async alarm(): Promise<void> {
    const shard = await this.ctx.storage.get<ShardName>('shard')
    if (!shard) return
    const startedAt = now()
    await this.ctx.storage.setAlarm(startedAt + REARM_MS)
    let due: number | undefined
    try {
      const { workOff } = await import('../src/servicing/events/dispatch.ts')
      due = await observed(this.env, alarm('dispatcher', shard), calls =>
        workOff(this.env, shard, calls, this.#turns),
      )
    } catch (problem) {
      console.error(JSON.stringify({ at: 'dispatcher', ...shard, problem: String(problem) }))
      return
    }
    const lookAt = (await this.ctx.storage.get<number>('lookAt')) ?? 0
    const next = Math.min(
      due ?? Number.POSITIVE_INFINITY,
      lookAt > startedAt ? Math.min(lookAt, startedAt + LOOK_EVERY_MS) : Number.POSITIVE_INFINITY,
    )
    if (next === Number.POSITIVE_INFINITY) await this.ctx.storage.deleteAlarm()
    else await this.ctx.storage.setAlarm(Math.max(next, now() + PAUSE_MS))
  }
}
