// The outcome of a run as one line, which `npm run faults` reads.
import { isDone } from './checks/wishes.ts'
import type { Outcome } from './client.ts'
import type { Contents } from './contents.ts'
import type { FaultKind } from './kinds.ts'
import type { Plan } from './writers.ts'

export type Figures = Readonly<Record<Outcome, number>> & {
  readonly seed: number
  readonly violations: number
  /** Wishes of unknown outcome that were done. */
  readonly done: number
  readonly events: number
  /** Accounts that were migrated meanwhile. */
  readonly migrated: number
  /** The number of databases of the tenant, first and last. */
  readonly shards: readonly [from: number, to: number]
  /** Posts of events that had arrived before. */
  readonly repeats: number
  /** Acknowledged wishes by kind, and the numbers of some records at the end. */
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
