/**
 * Returns a function that returns the processor time since this call, in milliseconds. The time of other processes does not
 * count.
 */
export function processorClock(): () => number {
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }
}

async function processorTime(work: () => unknown): Promise<number> {
  const taken = processorClock()
  await work()
  return taken()
}

/**
 * Returns the ratio of the processor times of `large` and `small`, each the minimum of up to three rounds. Stops when the ratio
 * is below `most`. Repeats because garbage collection and compilation are counted with whatever is running. A `small` below
 * `leastMs` counts as `leastMs`.
 */
export async function timesAsLong(
  small: () => unknown,
  large: () => unknown,
  { most, leastMs }: { most: number; leastMs: number },
): Promise<number> {
  let [leastSmall, leastLarge] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 3; round += 1) {
    leastSmall = Math.min(leastSmall, await processorTime(small))
    leastLarge = Math.min(leastLarge, await processorTime(large))
    if (leastLarge / Math.max(leastSmall, leastMs) < most) break
  }
  return leastLarge / Math.max(leastSmall, leastMs)
}
