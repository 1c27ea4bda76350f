// Numbers that look random and are the same for the same seed.

export type Random = {
  /** From 0 up to but not including 1. */
  next(): number
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Returns a separate sequence of numbers for each seed text. */
export function randomOf(seed: string): Random {
  let state = 0x811c9dc5
  for (let at = 0; at < seed.length; at += 1) state = Math.imul(state ^ seed.charCodeAt(at), 0x01000193)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  // Skips the first numbers, which are similar for similar seeds.
  for (let at = 0; at < 8; at += 1) next()
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    chance: probability => next() < probability,
    pick: list => list[between(0, list.length - 1)]!,
  }
}
