// Numbers for digit locators. A shard's dispatcher leases them in blocks; what an isolate has leased it hands
// out without a call. A block lost with its isolate leaves a gap, never a repeat.

import { digitLocator } from '../../kernel/locators.ts'
import { Memo } from '../../kernel/maps.ts'
import type { RequestContext } from '../context.ts'
import { callObject, dispatcherObject } from '../objects.ts'

/** A leased range of sequence numbers: `next` included, `end` not. */
export type Block = { next: number; end: number }

/** Numbers leased at least at once. */
export const BLOCK_SIZE = 1_000

const blocksByShard = new Memo<string, Block>(10_000)

/**
 * `count` digit locators of the shard, increasing. Each request that finds too few left leases for itself:
 * a promise of one request must not be awaited by another.
 */
export async function takeLocators(context: RequestContext, shard: number, count: number): Promise<number[]> {
  const { tenant } = context
  const key = `${tenant.locator}/${tenant.generation}/${shard}`
  let block = blocksByShard.get(key)
  if (!block || block.end - block.next < count) {
    const asked = Math.max(count, BLOCK_SIZE)
    block = await callObject(context.calls, () => dispatcherObject(context.env, tenant, shard).lease(asked))
    const kept = blocksByShard.get(key)
    if (!kept || kept.end - kept.next < block.end - block.next - count) blocksByShard.set(key, block)
  }
  const first = block.next
  block.next += count
  return Array.from({ length: count }, (_, at) => digitLocator(first + at, shard))
}
