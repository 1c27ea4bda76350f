// A page of the stream over all shards, for either of its views.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../../../kernel/errors.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { shardDatabase, type Tenant } from '../../../platform/tenancy.ts'
import { eventsAfter, type Form, type StreamFilter, type StreamRow } from './store.ts'

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

// One stream from many shards. Each shard's events have an order of their own, that of its commits; the page
// takes them by time, and remembers for each shard how far it came, so that none is skipped or comes twice even
// when another shard commits an earlier time later.

/** How far a reader came: for each shard the sequence of the last event taken, 0 before the first. */
export type Positions = readonly number[]

/**
 * `page`: at most `most` events, and the positions after them. Every list must be in order, from its position on.
 * `reached`: how far each shard was read. A list that is taken whole moves its position there, so that the events after
 * its last that the view leaves out are not read again.
 */
export function mergeShards<E extends { sequence: number; at: number }>(
  shards: readonly (readonly E[])[],
  positions: Positions,
  most: number,
  reached: Positions = [],
): { events: E[]; positions: Positions } {
  const position = (shard: number, taken: number): number => {
    const waiting = shards[shard]!
    const last = waiting[taken - 1]?.sequence ?? positions[shard] ?? 0
    return taken === waiting.length ? Math.max(last, reached[shard] ?? 0) : last
  }
  const [only] = shards
  if (only && shards.length === 1) {
    const events = only.slice(0, most)
    return { events, positions: [position(0, events.length)] }
  }
  const taken = shards.map(() => 0)
  const events: E[] = []
  while (events.length < most) {
    let earliest = -1
    for (const [shard, waiting] of shards.entries()) {
      const head = waiting[taken[shard]!]
      if (head && (earliest < 0 || head.at < shards[earliest]![taken[earliest]!]!.at)) earliest = shard
    }
    if (earliest < 0) break
    events.push(shards[earliest]![taken[earliest]!]!)
    taken[earliest]! += 1
  }
  return {
    events,
    positions: shards.map((_, shard) => position(shard, taken[shard]!)),
  }
}

// Paging tokens of the stream: where a reader stands and what it reads, sealed so that it cannot be changed. They never
// expire, so they are sealed with the keys that are kept for good: the first of SEALING_KEY seals, and each of them opens
// what it sealed once. Other keys of access tokens end sessions, and no reading.
/** Whose token it is: one of the stream says nothing to the events interface. */
export type View = 'stream' | 'events'

/** All that the next call needs; the token never expires. */
export type Reading = { filter: StreamFilter; pageSize: number; positions: Positions }

/** Start, end, and type of the filter (the older name, or either), rows of a page, positions. */
type Sealed = [start: number | null, end: number | null, type: string | null, size: number, at: number[]]

/** Over the tenant too: another's token does not fit. */
const sealOf = (key: string, view: View, tenant: Tenant, text: string): Buffer =>
  createHmac('sha256', key)
    .update(`paging of ${view}\n${tenant.locator}/${tenant.generation}\n${text}`)
    .digest()

function keysOf(keys: string | undefined): string[] {
  if (!keys) throw new Error('SEALING_KEY must be set.')
  return keys.split(',').map(key => key.trim())
}

/** `keys`: as in SEALING_KEY, several with commas in between. */
export function writeToken(
  keys: string,
  view: View,
  tenant: Tenant,
  { filter, pageSize, positions }: Reading,
): string {
  const { start, end, type, name } = filter
  const sealed: Sealed = [start ?? null, end ?? null, type ?? name ?? null, pageSize, [...positions]]
  const text = Buffer.from(JSON.stringify(sealed)).toString('base64url')
  return `${text}.${sealOf(keysOf(keys)[0]!, view, tenant, text).toString('base64url')}`
}

/** What the token says; a Refusal `invalidParameter` when it is not one of this tenant's and of this view. */
export function readToken(keys: string, view: View, tenant: Tenant, token: string): Reading {
  const [text = '', seal = ''] = token.split('.')
  const given = Buffer.from(seal, 'base64url')
  const fits = keysOf(keys).some(key => {
    const right = sealOf(key, view, tenant, text)
    return given.length === right.length && timingSafeEqual(given, right)
  })
  if (!fits)
    throw new Refusal(
      'invalidParameter',
      "'pagingToken' is not one that this service gave out here; send it as it came, or begin again without it.",
    )
  const [start, end, type, pageSize, positions] = JSON.parse(
    Buffer.from(text, 'base64url').toString('utf8'),
  ) as Sealed
  return {
    filter: {
      start: start ?? undefined,
      end: end ?? undefined,
      [view === 'stream' ? 'type' : 'name']: type ?? undefined,
    } as StreamFilter,
    pageSize,
    positions,
  }
}
