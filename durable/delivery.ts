import { DurableObject } from 'cloudflare:workers'
import { type Instant, now } from '../src/kernel/time.ts'
import { alarm, observed } from '../src/platform/observation.ts'
import { type ShardName, servedTenantOfShard } from '../src/platform/tenancy.ts'

/** While it works, and after it failed, the next alarm is this far away. */
const REARM_MS = 60_000

type Charge = { readonly shard: ShardName; readonly webhook: string }

/**
 * One for each webhook in each shard of a tenant: it delivers, and has the connections of an object to itself, so that a
 * slow endpoint delays no other. Kept in its own storage: `charge` (whom it works for).
 */
export class DeliveryObject extends DurableObject<Env> {
  /** Whether it was asked to look while it works: then it looks once more. Lost in a crash, after which the alarm looks anyway. */
  #woken = false
  #works = false

  /** Makes it look for due deliveries at once. */
  async wake(shard: ShardName, webhook: string): Promise<void> {
    this.#woken = true
    if (this.#works) return
    if ((await this.ctx.storage.get('charge')) === undefined)
      await this.ctx.storage.put('charge', { shard, webhook } satisfies Charge)
    const armed = await this.ctx.storage.getAlarm()
    if (armed === null || armed > now()) await this.ctx.storage.setAlarm(now())
  }

  /** Re-arms before it works, so that a crash in between costs a minute and loses nothing. */
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
    return await observed(this.env, alarm('delivery', shard), async calls => {
      const tenant = await servedTenantOfShard(this.env, shard, calls)
      if (!tenant) return undefined
      const { deliverTo } = await import('../src/servicing/events/delivery/deliver.ts')
      return await deliverTo({ env: this.env, tenant, shard: shard.shard, calls }, webhook)
    })
  }
}
