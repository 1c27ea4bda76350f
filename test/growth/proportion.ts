// Whether a cost grows in proportion to its size, which is doubled three times. Rows are counted. What cannot be counted is timed,
// with enough tolerance for a busy machine but not for quadratic growth.

/** The cost of a request: rows that D1 read and wrote, and milliseconds. */
export type Cost = { readonly rows: number; readonly ms: number }

/** The sizes that are compared, as multiples of the smallest. */
export const DOUBLINGS: readonly number[] = [1, 2, 4, 8]
/** The two sizes whose times are compared. */
export const TWO_SIZES: readonly number[] = [2, 8]

/** Twice the size may read twice the rows, plus some that do not depend on it. */
const MOST_ROWS = 2.4
export const FIXED_ROWS = 40

/** Whether the rows at a size exceed those in proportion to the size before it. */
const isOutOfProportion = (rows: readonly number[], factors: readonly number[], at: number): boolean =>
  rows[at]! > MOST_ROWS ** Math.log2(factors[at]! / factors[at - 1]!) * rows[at - 1]! + FIXED_ROWS

/** Faster results at the largest size are not judged: quadratic work on that size would take longer. */
const UNNOTICED_MS = 60
/** Four times the size takes four times as long, or sixteen times if growth is quadratic. */
const MOST_TIMES = 10
const LEAST_MS = 5
/** How often times out of proportion are measured again, because a busy machine must not fail a test. */
const MOST_TURNS = 6
/** How often the largest size alone is measured again first. A single slow result is usually not slow again. */
const FIRST_TURNS = 2

/** Describes what is out of proportion; undefined if nothing is. */
export async function disproportion(
  size: number,
  factors: readonly number[],
  measure: (size: number) => Promise<Cost>,
): Promise<string | undefined> {
  /** The shortest time, starting with one that was measured. */
  const least = async (
    factor: number,
    first: number,
    isEnough: (ms: number) => boolean,
    turns = MOST_TURNS,
  ): Promise<number> => {
    let ms = first
    for (let turn = 0; turn < turns && !isEnough(ms); turn += 1)
      ms = Math.min(ms, (await measure(size * factor)).ms)
    return ms
  }
  const isUnnoticed = (ms: number): boolean => ms < UNNOTICED_MS
  const largest = await measure(size * factors.at(-1)!)
  const largestMs = await least(factors.at(-1)!, largest.ms, isUnnoticed, FIRST_TURNS)
  // With two sizes, a fast larger one means that the smaller one cannot be too slow.
  if (factors.length === 2 && largest.rows <= FIXED_ROWS && isUnnoticed(largestMs)) return undefined
  const costs: Cost[] = []
  for (const factor of factors.slice(0, -1)) costs.push(await measure(size * factor))
  const rows = [...costs, largest].map(cost => cost.rows)
  if (rows.some((_, at) => at > 0 && isOutOfProportion(rows, factors, at)))
    return `reads and writes ${rows.join(', ')} rows for ${size} times ${factors.join(', ')}`
  if (isUnnoticed(largestMs)) return undefined
  const quarter = await least(2, costs[factors.indexOf(2)]!.ms, ms => ms <= LEAST_MS)
  const most = MOST_TIMES * Math.max(quarter, LEAST_MS)
  const whole = await least(8, largestMs, ms => isUnnoticed(ms) || ms <= most)
  return whole >= UNNOTICED_MS && whole > most
    ? `takes ${Math.round(quarter)} ms for ${2 * size} and ${Math.round(whole)} ms for ${8 * size}`
    : undefined
}

/**
 * A lower limit for steps, whose proportional work would hide smaller quadratic work. Slow ones are measured up to seven times, and
 * the shortest time counts.
 */
const MOST_TIMES_OF_STEPS = 7

/** Steps of a story whose cost is out of proportion. All steps are measured again if one is slow. */
export async function stepsOutOfProportion(
  smallest: number,
  factors: readonly number[],
  measure: (size: number) => Promise<ReadonlyMap<string, Cost>>,
): Promise<string[]> {
  const sizes = factors.map(factor => smallest * factor)
  const all: ReadonlyMap<string, Cost>[] = []
  for (const size of sizes) all.push(await measure(size))
  const steps = [...all[0]!.keys()]
  const rows = (step: string): number[] => all.map(costs => costs.get(step)!.rows)
  // A policy of the smallest size is read in one go; larger ones are first read in part.
  const wrong = steps
    .filter(step => factors.some((factor, at) => factor > 2 && isOutOfProportion(rows(step), factors, at)))
    .map(step => `${step}: ${rows(step).join(', ')} rows for ${sizes.join(', ')}`)
  const quarter = new Map([...all[factors.indexOf(2)]!].map(([step, { ms }]) => [step, ms]))
  const whole = new Map([...all.at(-1)!].map(([step, { ms }]) => [step, ms]))
  const slow = (): string[] =>
    steps.filter(
      step =>
        whole.get(step)! >= UNNOTICED_MS &&
        whole.get(step)! > MOST_TIMES_OF_STEPS * Math.max(quarter.get(step)!, LEAST_MS),
    )
  const again = async (factor: number, least: Map<string, number>): Promise<void> => {
    for (const [step, { ms }] of await measure(factor * smallest))
      least.set(step, Math.min(ms, least.get(step)!))
  }
  for (let turn = 0; turn < MOST_TURNS && slow().length > 0; turn += 1) {
    await again(8, whole)
    // A time of the smaller size that was too long would hide quadratic growth.
    if (slow().length > 0) await again(2, quarter)
  }
  const late = slow().map(
    step =>
      `${step}: ${Math.round(quarter.get(step)!)} ms for ${2 * smallest}, ${Math.round(whole.get(step)!)} ms for ${8 * smallest}`,
  )
  return [...wrong, ...late]
}
