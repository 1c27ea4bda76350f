// One stream from many shards. Each shard's events have an order of their own, that of its commits; the page
// takes them by time, and remembers for each shard how far it came, so that none is skipped or comes twice even
// when another shard commits an earlier time later.

/** How far a reader came: for each shard the sequence of the last event taken, 0 before the first. */
export type Positions = readonly number[]

/** `page`: at most `most` events, and the positions after them. Every list must be in order, from its position on. */
export function mergeShards<E extends { sequence: number; at: number }>(
  shards: readonly (readonly E[])[],
  positions: Positions,
  most: number,
): { events: E[]; positions: Positions } {
  const [only] = shards
  if (only && shards.length === 1) {
    const events = only.slice(0, most)
    return { events, positions: [events.at(-1)?.sequence ?? positions[0] ?? 0] }
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
    positions: shards.map((waiting, shard) => waiting[taken[shard]! - 1]?.sequence ?? positions[shard] ?? 0),
  }
}
