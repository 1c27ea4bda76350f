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
