// The runs of perils that a transaction can do anything to. A policy that was changed 200 times has thousands of runs, and
// each change concerns those alone that lie in the segments from its time on: what a transaction takes grows with what it
// changes, and not with all that came before it.
import type { Uuid } from '../../../../kernel/locators.ts'
import { piecesOf } from '../../../../policy/fold/pieces.ts'
import type { PerilRun, PolicyAggregate, PolicySegment } from '../../../../policy/records/aggregate.ts'
import type { Known, Making } from '../making.ts'
import { type Carrying, lineNow } from './carrying.ts'

/** The runs that ever lay in one of the segments, in the order in which they were made. */
export function runsIn({ reach }: Known, making: Making, segments: Iterable<Uuid>): PerilRun[] {
  const found = new Set<Uuid>()
  for (const segment of segments) for (const run of reach.bySegment.get(segment) ?? []) found.add(run)
  return inOrder(reach, making, found)
}

const inOrder = ({ numbers }: Known['reach'], making: Making, locators: Iterable<Uuid>): PerilRun[] =>
  [...locators]
    .sort((a, b) => numbers.get(a)! - numbers.get(b)!)
    .map(locator => making.perilRuns.get(locator)!)

/** Looks for the runs in reach: once the transaction's segments are there. */
export function findReach({ making, known, by, reached }: Carrying): void {
  const touched: Uuid[] = []
  const touches = ({ locator, madeBy, replacedBy, predecessor }: PolicySegment): void => {
    if (replacedBy === by) touched.push(locator)
    if (madeBy === by && predecessor !== undefined) touched.push(predecessor)
  }
  for (const segment of making.segments.values()) touches(segment)
  reached.clear()
  for (const { perilLocator, locator } of runsIn(known, making, touched)) add(reached, perilLocator, locator)
}

function add(reached: Map<Uuid, Uuid[]>, peril: Uuid, run: Uuid): void {
  const own = reached.get(peril)
  if (own) own.push(run)
  else reached.set(peril, [run])
}

/** A new run of the transaction's own. */
export function reachNew({ making, known: { reach }, reached }: Carrying, run: PerilRun): void {
  making.perilRuns.set(run.locator, run)
  reach.numbers.set(run.locator, reach.numbers.size)
  reach.lastOf.set(run.perilLocator, run.locator)
  add(reached, run.perilLocator, run.locator)
}

/** A run of which something is held back: its charges name it, whether or not anything else of it changes. */
export const reachHeld = ({ known }: Carrying, run: Uuid): void => {
  known.reach.held.add(run)
}

/** The policy with no runs of perils but those in reach. */
export function inReach({ making, known, reached }: Carrying): PolicyAggregate {
  const locators = new Set([...reached.values()].flat())
  for (const run of known.reach.held) locators.add(run)
  const runs = inOrder(known.reach, making, locators)
  return { ...making, perilRuns: new Map(runs.map(run => [run.locator, run])) }
}

/** How many runs are in reach. */
export const countReach = ({ reached }: Carrying): number =>
  [...reached.values()].reduce((count, runs) => count + runs.length, 0)

/** Keeps where the runs in reach lie by now, for the transactions to come. */
export function keepReach(carrying: Carrying): void {
  const { making, known, by, reached } = carrying
  const { bySegment } = known.reach
  const line = lineNow(carrying)
  for (const locator of [...reached.values()].flat())
    for (const { madeBy, segment } of piecesOf(
      making.perilRuns.get(locator)!,
      line,
      making.policy.timeZone,
    )) {
      if (madeBy !== by) continue
      const own = bySegment.get(segment.locator)
      if (own) own.add(locator)
      else bySegment.set(segment.locator, new Set([locator]))
    }
}
