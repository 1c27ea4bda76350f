// Random choices that a seed repeats.

export type Random = {
  /** At least 0, below 1. */
  next(): number
  /** A whole number, both ends included. */
  whole(from: number, to: number): number
  /** True in this share of all cases. */
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
}

/** The same seed gives the same choices (mulberry32). */
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

/** The random choices of one policy of a run: any policy can be made again without those before it. */
export const randomOfCase = (seed: number, number: number): Random =>
  randomOf(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35))
