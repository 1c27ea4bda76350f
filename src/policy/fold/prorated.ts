// What a plugin said of the amounts that a modification splits (brief 3.2, 5.6): facts of the modification, kept on the
// runs and fees that they are about. The fold takes them in the place of its own shares.
import type { Uuid } from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import {
  type Holdback,
  type PerilRun,
  type PolicyAggregate,
  putRecords,
  type RunSplit,
} from '../records/aggregate.ts'
import type { Same } from './shares.ts'

/** What was said, before the modification has a locator. */
export type Prorated = {
  readonly runs: ReadonlyMap<Uuid, readonly Omit<RunSplit, 'by'>[]>
  /** By fee, what lies before the time of the part that is split there. */
  readonly fees: ReadonlyMap<Uuid, Money>
  /** What is held back, be it nothing; undefined where nothing was said of it. */
  readonly holdbacks: readonly Holdback[] | undefined
}

export const NOTHING_PRORATED: Prorated = { runs: new Map(), fees: new Map(), holdbacks: undefined }

/** The policy with what was said of its runs, as facts of the modification. */
export function withSplits(
  aggregate: PolicyAggregate,
  prorated: Prorated | undefined,
  by: Uuid,
): PolicyAggregate {
  if (!prorated || prorated.runs.size === 0) return aggregate
  const runs = [...prorated.runs].map(([locator, splits]): PerilRun => {
    const run = aggregate.perilRuns.get(locator)!
    return { ...run, splits: [...(run.splits ?? []), ...splits.map(split => ({ ...split, by }))] }
  })
  return { ...aggregate, perilRuns: putRecords(aggregate.perilRuns, runs) }
}

/** What was said of the modification's splits of the run in that segment; undefined where nothing was. */
export function splitsIn(
  { splits }: PerilRun,
  by: Uuid,
  segment: Uuid,
): ((at: Instant, same: Same) => Money | undefined) | undefined {
  const own = splits?.filter(split => split.by === by && split.segment === segment)
  if (!own || own.length === 0) return undefined
  return (at, same) => {
    const split = own.find(one => one.at === at)
    return split && same(split.before)
  }
}
