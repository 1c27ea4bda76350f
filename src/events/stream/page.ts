// A page of the stream over all shards, for either of its views.
import type { RequestContext } from '../../platform/context.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { mergeShards } from './merge.ts'
import { eventsAfter, type StreamRow } from './store.ts'
import { type Reading, readToken, type View, writeToken } from './token.ts'

export type StreamPage<V extends View> = {
  readonly rows: readonly StreamRow<V>[]
  readonly pagingToken: string
}

/**
 * What comes next: after a token of this view, or as a first call asks for it. The token of the page goes on after its
 * last event. One round trip for each shard.
 */
export async function readPage<V extends View>(
  view: V,
  from: string | Reading,
  { env, tenant, calls }: RequestContext,
  pageSizeAsked?: number,
): Promise<StreamPage<V>> {
  const reading = typeof from === 'string' ? readToken(env.SEALING_KEY, view, tenant, from) : from
  const { filter, positions } = reading
  const pageSize = pageSizeAsked ?? reading.pageSize
  const shards = await Promise.all(
    tenant.shards.map((_, shard) =>
      eventsAfter(shardDatabase(env, tenant, shard, calls), view, positions[shard] ?? 0, filter, pageSize),
    ),
  )
  const page = mergeShards(shards, positions, pageSize)
  return {
    rows: page.events,
    pagingToken: writeToken(env.SEALING_KEY, view, tenant, { filter, pageSize, positions: page.positions }),
  }
}
