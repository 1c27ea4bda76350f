import { DurableObject } from 'cloudflare:workers'
import type { Uuid } from '../src/kernel/locators.ts'
import { now } from '../src/kernel/time.ts'
import { alarm, observed } from '../src/platform/observation.ts'
import type { ShardName } from '../src/platform/tenancy.ts'

/** Time to the next alarm while it works, in case of a crash; the alarm does not fire before the work ends. */
const REARM_MS = 3_000
/** Wait after a failure: short at first, since most faults are brief, and longer while they last. */
const FIRST_FAILED_MS = 1_000
const LONGEST_FAILED_MS = 20_000

type Charge = { readonly shard: ShardName; readonly migration: Uuid }

/**
 * One for each migration: an alarm migrates a bounded number of accounts and sets the next alarm. D1 records progress in
 * the batch of each portion, so a crash repeats work and loses nothing. Its storage holds `charge`, the shard and migration.
 */
export class MigrationObject extends DurableObject<Env> {
  /** Asked to look again while it works. A crash loses this; the alarm looks anyway. */
  #woken = false
  #halted = false
  /** Failed alarms since the last one that could work: each doubles the wait. */
  #failed = 0
  #working: Promise<unknown> | undefined

  /** Looks for work at once. A call while it works is remembered, so it looks again afterwards. */
  async wake(shard: ShardName, migration: Uuid): Promise<void> {
    this.#woken = true
    if (this.#working) return
    if ((await this.ctx.storage.get('charge')) === undefined)
      await this.ctx.storage.put('charge', { shard, migration } satisfies Charge)
    const armed = await this.ctx.storage.getAlarm()
    if (armed === null || armed > now()) await this.ctx.storage.setAlarm(now())
  }

  /** Starts no further account before the next alarm; returns when the current one is finished. */
  async halt(): Promise<void> {
    this.#halted = true
    await this.#working
  }

  /** Re-arms before it works: a crash in between costs seconds and loses nothing. */
  override async alarm(): Promise<void> {
    const charge = await this.ctx.storage.get<Charge>('charge')
    if (!charge) return
    await this.ctx.storage.setAlarm(now() + REARM_MS)
    this.#woken = false
    this.#halted = false
    const work = this.#work(charge)
    this.#working = work
    const waitMs = await work
    this.#working = undefined
    const failedMs = Math.min(FIRST_FAILED_MS * 2 ** this.#failed, LONGEST_FAILED_MS)
    this.#failed = waitMs === 'failed' ? this.#failed + 1 : 0
    if (waitMs === 'failed') await this.ctx.storage.setAlarm(now() + failedMs)
    else if (this.#woken) await this.ctx.storage.setAlarm(now())
    else if (waitMs === undefined) await this.ctx.storage.deleteAlarm()
    else await this.ctx.storage.setAlarm(now() + waitMs)
  }

  /** Milliseconds until it must look again; undefined when no work is left. Never throws. */
  async #work({ shard, migration }: Charge): Promise<number | undefined | 'failed'> {
    try {
      const { workOn } = await import('../src/servicing/migration/run/run.ts')
      return await observed(this.env, alarm('migration', shard), calls =>
        workOn(this.env, shard, migration, () => this.#halted, calls),
      )
    } catch (problem) {
      console.error(JSON.stringify({ at: 'migration', ...shard, migration, problem: String(problem) }))
      return 'failed'
    }
  }
}
