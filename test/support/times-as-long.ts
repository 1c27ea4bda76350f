/** Returns what tells the milliseconds of the processor since: another process at the same time does not count. */
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
 * How many times as long the larger takes, by the least times of up to three rounds: as many as it needs to be below `most`, since
 * collecting garbage and compiling are counted with whatever runs then. Less than `leastMs` is taken for that.
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
