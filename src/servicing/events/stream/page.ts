// A page of the stream over all shards, for either of its views.
import type { RequestContext } from '../../../platform/context.ts'
import { shardDatabase } from '../../../platform/tenancy.ts'
import { mergeShards } from './merge.ts'
import { eventsAfter, type Form, type StreamRow } from './store.ts'
import { type Reading, readToken, writeToken } from './token.ts'

export type StreamPage<F extends Form> = {
  readonly rows: readonly StreamRow<F>[]
  readonly pagingToken: string
}

/**
 * What comes next: after a token of this view, or as a first call asks for it. The token of the page goes on after its
 * last event. One round trip for each shard.
 */
export async function readPage<F extends Form>(
  form: F,
  from: string | Reading,
  { env, tenant, calls }: RequestContext,
  pageSizeAsked?: number,
): Promise<StreamPage<F>> {
  const view = form === 'events' ? 'events' : 'stream'
  const reading = typeof from === 'string' ? readToken(env.SEALING_KEY, view, tenant, from) : from
  const { filter, positions } = reading
  const pageSize = pageSizeAsked ?? reading.pageSize
  const read = await Promise.all(
    tenant.shards.map((_, shard) =>
      eventsAfter(shardDatabase(env, tenant, shard, calls), form, positions[shard] ?? 0, filter, pageSize),
    ),
  )
  const rows = read.map(one => one.rows)
  const reached = read.map(one => one.reached)
  const page = mergeShards(rows, positions, pageSize, reached)
  return {
    rows: page.events,
    pagingToken: writeToken(env.SEALING_KEY, view, tenant, { filter, pageSize, positions: page.positions }),
  }
}
