import { DurableObject } from 'cloudflare:workers'
import type { Uuid } from '../src/kernel/locators.ts'
import { now } from '../src/kernel/time.ts'
import type { Calls } from '../src/platform/calls.ts'
import { alarmWork, runObserved } from '../src/platform/observation.ts'
import type { ShardName } from '../src/platform/tenancy.ts'

/** Time until the next alarm during the work, in case of a crash. The alarm does not fire before the work ends. */
const REARM_MS = 3_000
/** The wait after a failure: short at first, since most faults are brief, and longer while they last. */
const FIRST_FAILED_MS = 1_000
const LONGEST_FAILED_MS = 20_000

/** `migration` is the subject of a migration: its objects store the subject under that name. */
type Charge = { readonly shard: ShardName; readonly subject?: Uuid; readonly migration?: Uuid }

/**
 * Work that is done in portions. An alarm does a bounded number of them and sets the next alarm. D1 records progress in the batch
 * of each portion, so a crash repeats work and loses nothing. The storage keeps `charge`: the shard and the subject.
 */
export abstract class PortionsObject extends DurableObject<Env> {
  /** The name of the work in logs. */
  protected abstract readonly about: 'migration' | 'impact' | 'report'

  /** A call arrived during the work, so it must look again. A crash loses this flag, but the alarm looks anyway. */
  #woken = false
  #halted = false
  /** The number of consecutive alarms that failed. Each doubles the wait. */
  #failed = 0
  #working: Promise<unknown> | undefined

  /** Returns the milliseconds until it must look again, or undefined when no work is left. */
  protected abstract runAlarm(
    shard: ShardName,
    subject: Uuid,
    isHalted: () => boolean,
    calls: Calls,
  ): Promise<number | undefined>

  /** Looks for work immediately. A call during the work is remembered: the object looks again afterwards. */
  async wake(shard: ShardName, subject: Uuid): Promise<void> {
    this.#woken = true
    if (this.#working) return
    if ((await this.ctx.storage.get('charge')) === undefined)
      await this.ctx.storage.put('charge', this.chargeOf(shard, subject))
    const armed = await this.ctx.storage.getAlarm()
    if (armed === null || armed > now()) await this.ctx.storage.setAlarm(now())
  }

  protected chargeOf(shard: ShardName, subject: Uuid): Charge {
    return { shard, subject }
  }

  /** Starts nothing further before the next alarm, and returns when the work under way has finished. */
  async halt(): Promise<void> {
    this.#halted = true
    await this.#working
  }

  /** Sets the next alarm before the work, so that a crash in between costs seconds and loses nothing. */
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

  /** Never throws. */
  async #work({ shard, subject, migration }: Charge): Promise<number | undefined | 'failed'> {
    const named = (subject ?? migration)!
    try {
      return await runObserved(this.env, alarmWork(this.about, shard), calls =>
        this.runAlarm(shard, named, () => this.#halted, calls),
      )
    } catch (problem) {
      console.error(
        JSON.stringify({ at: this.about, ...shard, [this.about]: named, problem: String(problem) }),
      )
      return 'failed'
    }
  }
}

/** One object for each migration. Each alarm processes some of its accounts. Its storage keeps `charge`: shard and migration. */
export class MigrationObject extends PortionsObject {
  protected readonly about = 'migration'

  /** Objects of the previous release read it under this name. */
  protected override chargeOf(shard: ShardName, migration: Uuid) {
    return { shard, migration }
  }

  protected async runAlarm(
    shard: ShardName,
    migration: Uuid,
    isHalted: () => boolean,
    calls: Calls,
  ): Promise<number | undefined> {
    const { runMigrationAlarm } = await import('../src/servicing/migration/run/run.ts')
    return await runMigrationAlarm(this.env, shard, migration, isHalted, calls)
  }
}

/**
 * One object for each impact of a configuration, in the home shard. Each alarm processes some of the tenant's policies, over all
 * its shards. It does not write to policies. Its storage keeps `charge`: the shard and the impact.
 */
export class ImpactObject extends PortionsObject {
  protected readonly about = 'impact'

  protected async runAlarm(
    shard: ShardName,
    impact: Uuid,
    isHalted: () => boolean,
    calls: Calls,
  ): Promise<number | undefined> {
    const { runImpactAlarm } = await import('../src/servicing/impact/run.ts')
    return await runImpactAlarm(this.env, shard, impact, isHalted, calls)
  }
}

/**
 * One object for each report. Each alarm processes some of the tenant's policies, over all its shards; then it writes the files of
 * the report. It does not write to policies. Its storage keeps `charge`: the shard and the report.
 */
export class ReportObject extends PortionsObject {
  protected readonly about = 'report'
  #waiting: (() => void)[] = []

  protected async runAlarm(
    shard: ShardName,
    report: Uuid,
    isHalted: () => boolean,
    calls: Calls,
  ): Promise<number | undefined> {
    const { runReportAlarm } = await import('../src/reporting/run/run.ts')
    const waitMs = await runReportAlarm(this.env, shard, report, isHalted, calls)
    if (waitMs === undefined) for (const ended of this.#waiting.splice(0)) ended()
    return waitMs
  }

  /** Does what `wake` does, and returns when the report has ended or after `mostMs` milliseconds. */
  async wakeAndWait(shard: ShardName, report: Uuid, mostMs: number): Promise<void> {
    const ended = new Promise<void>(resolve => this.#waiting.push(resolve))
    await this.wake(shard, report)
    await Promise.race([ended, scheduler.wait(mostMs)])
  }
}
