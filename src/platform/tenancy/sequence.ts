// Numbers of integer locators. A shard's dispatcher leases blocks; an isolate uses its block without further calls. A block that
// is lost with its isolate leaves a gap, but a number is never repeated.

import { digitLocator, FIRST_SEQUENCE } from '../../kernel/locators.ts'
import { Memo } from '../../kernel/maps.ts'
import type { RequestContext } from '../context.ts'
import type { Database } from '../database.ts'
import { callForReply, dispatcherObject } from '../objects.ts'
import type { Tenant } from '../tenancy.ts'

/** Includes `next`, excludes `end`. */
export type Block = { next: number; end: number }

/** Minimum size of a lease. */
export const BLOCK_SIZE = 1_000

const blocksByShard = new Memo<string, Block>(10_000)

const keyOf = ({ locator, generation }: Tenant, shard: number): string => `${locator}/${generation}/${shard}`

/** Returns `count` rising integer locators. Each request leases for itself: it must not await another request's promise. */
export async function takeLocators(context: RequestContext, shard: number, count: number): Promise<number[]> {
  const { tenant, env, calls } = context
  const key = keyOf(tenant, shard)
  let block = blocksByShard.get(key)
  if (!block || block.end - block.next < count) {
    const size = Math.max(count, BLOCK_SIZE)
    // A repeated lease leaves a gap.
    block = await callForReply(
      calls,
      () => dispatcherObject(env, tenant, shard).leaseBlock(tenant, shard, size),
      {
        mayRepeat: true,
      },
    )
    const current = blocksByShard.get(key)
    if (!current || current.end - current.next < block.end - block.next - count) blocksByShard.set(key, block)
  }
  const first = block.next
  block.next += count
  return Array.from({ length: count }, (_, at) => digitLocator(first + at, shard))
}

/** Drops the block of a shard where a leased number turned out to be in use. */
export const forgetBlock = (tenant: Tenant, shard: number): void => blocksByShard.delete(keyOf(tenant, shard))

const STORAGE_KEY = 'sequence'

/**
 * Leases `count` numbers, which are never leased again: the dispatcher's side. One round trip.
 *
 * The next number is in the object's storage and in a row of the shard. The larger one counts, and both rise, so neither a
 * restored database nor a lost or moved object repeats a number. The caller must run leases one after the other.
 */
export async function leaseNumbers(
  storage: Pick<DurableObjectStorage, 'get' | 'put'>,
  database: Database,
  count: number,
): Promise<Block> {
  const storedNext = (await storage.get<number>(STORAGE_KEY)) ?? FIRST_SEQUENCE
  const [result] = await database.batch([
    database.rawQuery(
      `insert into number_sequence (id, next) values (1, ?1 + ?2)
       on conflict (id) do update set next = max(next, ?1) + ?2 returning next`,
      storedNext,
      count,
    ),
  ])
  const { next: end } = (result as unknown as D1Result<{ next: number }>).results[0]!
  if (end > ((await storage.get<number>(STORAGE_KEY)) ?? 0)) await storage.put(STORAGE_KEY, end)
  return { next: end - count, end }
}
