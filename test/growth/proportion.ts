// Whether what something takes grows in proportion to its size, which is doubled three times. Rows are counted; of what has
// no count the time is taken, with so much room that a busy machine does not fail a test and a square does.

/** What a request took: rows that D1 read and wrote, and milliseconds. */
export type Cost = { readonly rows: number; readonly ms: number }

export const DOUBLINGS = [1, 2, 4, 8] as const

/** Twice the size may read twice the rows, and some that do not depend on it. */
const MOST_ROWS = 2.4
export const FIXED_ROWS = 40

/** Below that at the largest size nothing is said: no square of anything that large is done in it. */
const UNNOTICED_MS = 60
/** Four times the size takes four times as long, or sixteen where it is a square. */
const MOST_TIMES = 10
const LEAST_MS = 5

/** What is not in proportion; undefined when all is. */
export async function disproportion(
  size: number,
  measure: (size: number) => Promise<Cost>,
): Promise<string | undefined> {
  const costs: Cost[] = []
  for (const factor of DOUBLINGS) costs.push(await measure(size * factor))
  const shown = (of: (cost: Cost) => number): string => costs.map(cost => Math.round(of(cost))).join(', ')
  for (const [at, { rows }] of costs.entries())
    if (at > 0 && rows > MOST_ROWS * costs[at - 1]!.rows + FIXED_ROWS)
      return `reads and writes ${shown(cost => cost.rows)} rows for ${size} and its doubles`
  if (costs[3]!.ms < UNNOTICED_MS) return undefined
  const best = async (factor: number): Promise<number> => {
    let least = costs[DOUBLINGS.indexOf(factor as 1)]!.ms
    for (let turn = 0; turn < 3; turn += 1) least = Math.min(least, (await measure(size * factor)).ms)
    return least
  }
  const [quarter, whole] = [await best(2), await best(8)]
  return whole >= UNNOTICED_MS && whole > MOST_TIMES * Math.max(quarter, LEAST_MS)
    ? `takes ${Math.round(quarter)} ms for ${2 * size} and ${Math.round(whole)} ms for ${8 * size}`
    : undefined
}

/** Of steps, whose work in proportion would hide a square of less. Their times are the least of four where they are slow. */
const MOST_TIMES_OF_STEPS = 7

/** Steps of a story that are not in proportion. All steps are taken anew where one is slow. */
export async function stepsOutOfProportion(
  smallest: number,
  measure: (size: number) => Promise<ReadonlyMap<string, Cost>>,
): Promise<string[]> {
  const sizes = DOUBLINGS.map(factor => smallest * factor)
  const all: ReadonlyMap<string, Cost>[] = []
  for (const size of sizes) all.push(await measure(size))
  const steps = [...all[0]!.keys()]
  const rows = (step: string): number[] => all.map(costs => costs.get(step)!.rows)
  // A policy of the smallest size is read at once, where a larger one is first read in part.
  const wrong = steps
    .filter(step =>
      rows(step).some((own, at) => at > 1 && own > MOST_ROWS * rows(step)[at - 1]! + FIXED_ROWS),
    )
    .map(step => `${step}: ${rows(step).join(', ')} rows for ${sizes.join(', ')}`)
  const quarter = new Map([...all[1]!].map(([step, { ms }]) => [step, ms]))
  const whole = new Map([...all[3]!].map(([step, { ms }]) => [step, ms]))
  const slow = (): string[] =>
    steps.filter(
      step =>
        whole.get(step)! >= UNNOTICED_MS &&
        whole.get(step)! > MOST_TIMES_OF_STEPS * Math.max(quarter.get(step)!, LEAST_MS),
    )
  for (let turn = 0; turn < 3 && slow().length > 0; turn += 1)
    for (const [size, least] of [
      [sizes[1]!, quarter],
      [sizes[3]!, whole],
    ] as const)
      for (const [step, { ms }] of await measure(size)) least.set(step, Math.min(ms, least.get(step)!))
  const late = slow().map(
    step =>
      `${step}: ${Math.round(quarter.get(step)!)} ms for ${sizes[1]}, ${Math.round(whole.get(step)!)} ms for ${sizes[3]}`,
  )
  return [...wrong, ...late]
}
