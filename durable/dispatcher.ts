import { DurableObject } from 'cloudflare:workers'
import { FIRST_SEQUENCE, type PolicyLocator } from '../src/kernel/locators.ts'
import { now } from '../src/kernel/time.ts'
import { type ObjectReply, replyOf } from '../src/platform/objects.ts'
import { alarmWork, runObserved } from '../src/platform/observation.ts'
import { type Block, leaseNumbers } from '../src/platform/tenancy/sequence.ts'
import { type ShardName, shardDatabase, shardName, type Tenant } from '../src/platform/tenancy.ts'
import { DocumentTurns, type WaitingPolicy } from '../src/transactions/documents/turns.ts'

/** Time until the next alarm, both while the object works and after a failure. */
const REARM_MS = 60_000

/** Time between looks while the commits are under way for which the alarm was set. */
const LOOK_EVERY_MS = 60_000

/** The shortest time between two alarms. */
const PAUSE_MS = 1_000

/**
 * One object for each shard of a tenant. It leases blocks of the number sequence and keeps the alarm for the earliest due timer or
 * delivery. Its storage keeps `sequence` (the next number to lease), `shard` and `lookAt` (the latest time to look). Its memory
 * keeps the policies whose documents are being made.
 */
export class DispatcherObject extends DurableObject<Env> {
  #lastLease: Promise<unknown> = Promise.resolve()
  readonly #turns = new DocumentTurns()

  /** Serves the previous release while both run: leases from the object's own storage. The next `leaseBlock` starts after it. */
  lease(count: number): Promise<Block> {
    return this.#inTurn(async () => {
      const next = (await this.ctx.storage.get<number>('sequence')) ?? FIRST_SEQUENCE
      await this.ctx.storage.put('sequence', next + count)
      return { next, end: next + count }
    })
  }

  /** Leases `count` numbers. They are never leased again. */
  leaseBlock(tenant: Tenant, shard: number, count: number): Promise<ObjectReply<Block>> {
    return replyOf({ at: 'lease', tenant: tenant.locator, shard }, calls =>
      this.#inTurn(() =>
        leaseNumbers(this.ctx.storage, shardDatabase(this.env, tenant, shard, calls), count),
      ),
    )
  }

  /** Runs leases one after the other, because each calls the database between its read and its write of the storage. */
  #inTurn<Result>(lease: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastLease.then(lease)
    this.#lastLease = turn.catch(() => undefined)
    return turn
  }

  /** Gives a policy its turn to have its documents made. Returns false if it already has one or the shard is at its limit. */
  beginDocuments(policy: WaitingPolicy, mayBeMore: boolean): Promise<ObjectReply<boolean>> {
    return replyOf({ at: 'documents' }, async () => this.#turns.begin(policy, mayBeMore, now()))
  }

  /** Ends the turn of the policy and sends a hint for the next one. */
  endDocuments(tenant: Tenant, shard: number, policy: PolicyLocator): Promise<ObjectReply<null>> {
    return replyOf({ at: 'documents', tenant: tenant.locator, shard }, async calls => {
      const { sendHints, waitingPolicies } = await import('../src/transactions/documents/job-store.ts')
      const at = now()
      const look = () => waitingPolicies(shardDatabase(this.env, tenant, shard, calls), at)
      const next = await this.#turns.end(policy, at, look)
      if (next) await sendHints(this.env, shardName(tenant, shard), [next], calls)
      return null
    })
  }

  /**
   * Looks at the shard at `at` (epoch milliseconds), and then each minute until a look comes after `until`. An earlier look does
   * not replace it: the caller sets the alarm before it commits, so an earlier look may find nothing yet. Returns `until`.
   */
  async arm(shard: ShardName, at: number, until = at): Promise<number> {
    const lookAt = (await this.ctx.storage.get<number>('lookAt')) ?? 0
    if (lookAt < until) await this.ctx.storage.put({ shard, lookAt: until })
    const armed = await this.ctx.storage.getAlarm()
    if (armed === null || armed > at) await this.ctx.storage.setAlarm(at)
    return until
  }

  /**
   * Sets the next alarm before the work, so that a crash in between costs a minute and loses nothing. If `lookAt` changed
   * meanwhile, the alarm must stay.
   */
  override async alarm(): Promise<void> {
    const shard = await this.ctx.storage.get<ShardName>('shard')
    if (!shard) return
    const startedAt = now()
    await this.ctx.storage.setAlarm(startedAt + REARM_MS)
    let due: number | undefined
    try {
      const { dispatchDue } = await import('../src/servicing/events/dispatch.ts')
      due = await runObserved(this.env, alarmWork('dispatcher', shard), calls =>
        dispatchDue(this.env, shard, calls, this.#turns),
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
