// Records of a policy that have a locator but no row. Characteristics, changes and amounts are derived on read; field groups are
// part of the data that they belong to.
import { derivedUuid, shardOfDigits, type Uuid } from '../../kernel/locators.ts'
import { commissionChargeId, taxChargeId } from '../bills/charge.ts'
import type { Modification, PerilRun, PolicyAggregate, PolicySegment } from '../records/aggregate.ts'
import { perilSegmentLocator } from './policy.ts'

/**
 * Yields every locator that an answer may ever have shown for such a record, including those of transactions that were taken back.
 * Some of them were never shown. Each is made when it is read, because a large policy has millions.
 */
export function* locatorsWithoutRows(aggregate: PolicyAggregate): Generator<string> {
  const { policy, segments, exposures, exposureRuns, perilRuns, modifications } = aggregate
  const shard = shardOfDigits(policy.locator)
  for (const { data } of [segments, exposureRuns, perilRuns].flatMap(runs => [...runs.values()]))
    for (const group of data.groups) yield group.locator
  for (const { locator } of modifications.values())
    for (const exposure of exposures.keys()) yield derivedUuid(shard, locator, exposure)
  for (const { locator, cuts } of exposureRuns.values())
    for (const { by } of cuts) yield derivedUuid(shard, locator, by)
  const changed = withChanges(aggregate)
  for (const run of perilRuns.values()) yield* locatorsOfRun(run, changed, shard)
}

type ChangedSegment = { readonly segment: PolicySegment; readonly changedBy: readonly Uuid[] }

/** Returns each segment with the modifications that made it, replaced or continued it, or ended the policy before it. */
function withChanges({ segments, modifications }: PolicyAggregate): ChangedSegment[] {
  const all = [...segments.values()]
  const continuing = Map.groupBy(all, ({ predecessor }) => predecessor)
  const endsBefore = (segment: PolicySegment) => (one: Modification) => one.policyEnd <= segment.start
  return all.map(segment => ({
    segment,
    changedBy: [
      segment.madeBy,
      ...(segment.replacedBy === undefined ? [] : [segment.replacedBy]),
      ...(continuing.get(segment.locator) ?? []).map(({ madeBy }) => madeBy),
      ...[...modifications.values()].filter(endsBefore(segment)).map(({ locator }) => locator),
    ],
  }))
}

function* locatorsOfRun(run: PerilRun, segments: readonly ChangedSegment[], shard: number): Generator<Uuid> {
  const changesOfRun = [run.madeBy, ...run.cuts.map(({ by }) => by)]
  const changes = new Set(changesOfRun)
  for (const { segment, changedBy } of segments) {
    if (segment.start > run.end || run.start > segment.end) continue
    const characteristics = perilSegmentLocator(run.locator, segment, shard)
    yield characteristics
    for (const by of new Set([...changesOfRun, ...changedBy])) {
      changes.add(by)
      yield derivedUuid(shard, by, characteristics)
    }
  }
  const changed = [...changes].map(by => `${run.locator}/${by}`)
  const sources = [run.locator, ...changed, ...changed.map(source => `${source}/reversal`)]
  for (const source of sources) {
    for (const { name } of run.price?.taxes ?? []) yield derivedUuid(shard, taxChargeId(source, name))
    for (const at of (run.price?.commissions ?? []).keys())
      yield derivedUuid(shard, commissionChargeId(source, at))
  }
}
