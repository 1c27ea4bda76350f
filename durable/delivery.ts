import { DurableObject } from 'cloudflare:workers'
import { type Instant, now } from '../src/kernel/time.ts'
import { alarmWork, runObserved } from '../src/platform/observation.ts'
import { type ShardName, servedTenantOfShard } from '../src/platform/tenancy.ts'

/** Time until the next alarm, both while the object works and after a failure. */
const REARM_MS = 60_000

type Charge = { readonly shard: ShardName; readonly webhook: string }

/**
 * One object for each webhook in each shard of a tenant. Each object has its own connections, so a slow endpoint delays no other
 * webhook. Its storage keeps `charge` (the shard and the webhook) and what is under way (delivery/claims.ts).
 */
export class DeliveryObject extends DurableObject<Env> {
  /** A call arrived during the work, so it must look again. A crash loses this flag, but the alarm looks anyway. */
  #woken = false
  #works = false

  /** Looks for due deliveries immediately. A call during the work is remembered: the object looks again afterwards. */
  async wake(shard: ShardName, webhook: string): Promise<void> {
    this.#woken = true
    if (this.#works) return
    if ((await this.ctx.storage.get('charge')) === undefined)
      await this.ctx.storage.put('charge', { shard, webhook } satisfies Charge)
    const armed = await this.ctx.storage.getAlarm()
    if (armed === null || armed > now()) await this.ctx.storage.setAlarm(now())
  }

  /** Sets the next alarm before the work, so that a crash in between costs a minute and loses nothing. */
  override async alarm(): Promise<void> {
    const charge = await this.ctx.storage.get<Charge>('charge')
    if (!charge) return
    await this.ctx.storage.setAlarm(now() + REARM_MS)
    this.#woken = false
    this.#works = true
    let due: Instant | undefined
    try {
      due = await this.#deliver(charge)
    } catch (problem) {
      console.error(JSON.stringify({ at: 'delivery', ...charge, problem: String(problem) }))
      return
    } finally {
      this.#works = false
    }
    if (this.#woken) await this.ctx.storage.setAlarm(now())
    else if (due === undefined) await this.ctx.storage.deleteAlarm()
    else await this.ctx.storage.setAlarm(Math.max(due, now()))
  }

  async #deliver({ shard, webhook }: Charge): Promise<Instant | undefined> {
    return await runObserved(this.env, alarmWork('delivery', shard), async calls => {
      const tenant = await servedTenantOfShard(this.env, shard, calls)
      if (!tenant) return undefined
      const { deliverTo } = await import('../src/servicing/events/delivery/deliver.ts')
      const place = { env: this.env, tenant, shard: shard.shard, calls }
      return await deliverTo(place, webhook, this.ctx.storage)
    })
  }
}
