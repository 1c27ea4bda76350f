// Reproducible chance: with the same seed, the same users do the same things.

export type Chance = {
  /** From 0 up to but not including 1. */
  next(): number
  pick<T>(values: readonly T[]): T
  /** Milliseconds between two arrivals whose mean distance is `mean`, limited to five times that. */
  pause(mean: number): number
}

/** The generator is mulberry32. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    pick: values => values[Math.floor(next() * values.length)]!,
    pause: mean => Math.min(-Math.log(1 - next()) * mean, 5 * mean),
  }
}
