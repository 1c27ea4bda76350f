// Statistics of many runs.

/** Returns the quantile by nearest rank: the least value such that at least the share (0 to 1) of the values is at or below it. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('A quantile needs at least one value.')
  const ordered = [...values].sort((one, other) => one - other)
  return ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)]!
}

/** Returns the middle value or, for an even number of values, the mean of the middle two. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('A median needs at least one value.')
  const ordered = [...values].sort((one, other) => one - other)
  const half = Math.floor(ordered.length / 2)
  return ordered.length % 2 === 1 ? ordered[half]! : (ordered[half - 1]! + ordered[half]!) / 2
}

/** Returns the most frequent value, the earliest of several. */
export function mostCommon<Value extends string>(values: readonly Value[]): Value {
  const counts = new Map<Value, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const [first, ...others] = counts
  if (!first) throw new Error('There is no most common value without values.')
  return others.reduce((most, one) => (one[1] > most[1] ? one : most), first)[0]
}
