import { DurableObject } from 'cloudflare:workers'
import type { Uuid } from '../src/kernel/locators.ts'
import { now } from '../src/kernel/time.ts'
import { alarm, observed } from '../src/platform/observation.ts'
import type { ShardName } from '../src/platform/tenancy.ts'

/** While it works the next alarm is this far away, for what a crash cuts off; it does not go off before the work is done. */
const REARM_MS = 3_000
/** The wait after a failure: short at first, since most faults are gone by then, and longer while they last. */
const FIRST_FAILED_MS = 1_000
const LONGEST_FAILED_MS = 20_000

type Charge = { readonly shard: ShardName; readonly migration: Uuid }

/**
 * One for each migration: an alarm works on a bounded number of its accounts, and sets the next. How far it is lies in D1,
 * in the batch of each portion of them, so that a crash repeats and loses nothing. Kept in its own storage: `charge` (what it works on).
 */
export class MigrationObject extends DurableObject<Env> {
  /** Whether it was asked to look while it works: then it looks once more. Lost in a crash, after which the alarm looks anyway. */
  #woken = false
  #halted = false
  /** Alarms since the last one that could look. */
  #failed = 0
  #working: Promise<unknown> | undefined

  /** Makes it look for work at once. */
  async wake(shard: ShardName, migration: Uuid): Promise<void> {
    this.#woken = true
    if (this.#working) return
    if ((await this.ctx.storage.get('charge')) === undefined)
      await this.ctx.storage.put('charge', { shard, migration } satisfies Charge)
    const armed = await this.ctx.storage.getAlarm()
    if (armed === null || armed > now()) await this.ctx.storage.setAlarm(now())
  }

  /** Begins no further account before its next alarm; returns when the account under way is finished. */
  async halt(): Promise<void> {
    this.#halted = true
    await this.#working
  }

  /** Re-arms before it works, so that a crash in between costs seconds and loses nothing. */
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

  /** Milliseconds until it must look again; undefined when nothing is left to do. Never throws. */
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
