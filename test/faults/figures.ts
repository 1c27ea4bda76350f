// What a run came to, as a line for `npm run faults` to read.
import { isDone } from './checks/wishes.ts'
import type { Outcome } from './client.ts'
import type { Contents } from './contents.ts'
import type { FaultKind } from './kinds.ts'
import type { Plan } from './writers.ts'

export type Figures = Readonly<Record<Outcome, number>> & {
  readonly seed: number
  readonly violations: number
  /** What came of the unknown ones: they are there. */
  readonly done: number
  readonly events: number
  /** Accounts that were migrated meanwhile. */
  readonly migrated: number
  /** Databases that the tenant had at first, and in the end. */
  readonly shards: readonly [from: number, to: number]
  /** Posts of events that had come before. */
  readonly repeats: number
  /** Acknowledged wishes by their kind, and what is there in the end. */
  readonly kinds: Readonly<Record<string, number>>
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>
}

export function figuresOf(
  { seed, shards: { from } }: Pick<Plan, 'seed' | 'shards'>,
  contents: Contents,
  stories: readonly string[],
  counts: Readonly<Record<FaultKind, number>>,
): Figures {
  const { ledger, rows, posts, shards } = contents
  const of = (outcome: Outcome): number => ledger.filter(one => one.outcome === outcome).length
  const acknowledged = ledger.filter(one => one.outcome === 'acknowledged')
  const kinds = Map.groupBy(acknowledged, ({ kind }) => kind)
  return {
    seed,
    acknowledged: acknowledged.length,
    refused: of('refused'),
    unknown: of('unknown'),
    done: ledger.filter(one => one.outcome === 'unknown' && isDone(contents, one)).length,
    violations: stories.length,
    events: (rows.event ?? []).length,
    migrated: (rows.migration_mapping ?? []).filter(({ kind }) => kind === 'account').length,
    shards: [from, shards],
    repeats: posts.length - new Set(posts).size,
    kinds: {
      ...Object.fromEntries([...kinds].map(([kind, list]) => [kind, list.length])),
      '= policy': (rows.policy ?? []).length,
      '= grace period': (rows.grace_period ?? []).length,
      '= grace period that lapsed': (rows.grace_period ?? []).filter(({ state }) => state === 'lapsed')
        .length,
    },
    faults: Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
  }
}
