// Random choices that can be repeated with a seed.

export type Random = {
  /** At least 0, below 1. */
  next(): number
  /** A whole number, both ends included. */
  whole(from: number, to: number): number
  /** True in this share of all cases. */
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Returns the same choices for the same seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    whole,
    chance: share => next() < share,
    pick: list => list[whole(0, list.length - 1)]!,
  }
}

/** Returns the random choices of one policy of a run, so that any policy can be generated again without those before it. */
export const randomOfCase = (seed: number, number: number): Random =>
  randomOf(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35))
