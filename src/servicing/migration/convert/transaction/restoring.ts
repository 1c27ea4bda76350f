// A reinstatement of the very cover that its cancellation ended brings that back, as a live one does: the same segments
// and runs.
import { negated } from '../../../../kernel/money.ts'
import { later, type Span } from '../../../../kernel/time.ts'
import { endOfRun } from '../../../../policy/fold/line.ts'
import { piecesOf } from '../../../../policy/fold/pieces.ts'
import { minusAmounts } from '../../../../policy/fold/shares.ts'
import type { Modification, PerilRun, PolicySegment } from '../../../../policy/records/aggregate.ts'
import { canonical, type ReadElement } from '../elements.ts'
import { type Carrying, findReach, idsOfPerils, keptOf, lineNow, runsIn, runsOf } from './carrying.ts'
import { changedAmounts, hasOtherRate, hasPlace, missingAmounts, readKey } from './charged.ts'

/** Whether the coverage that the transaction says is the very one that the cancellation ended. */
export const isUndone = (carrying: Carrying, cancellation: Modification): boolean =>
  comingBack(carrying, cancellation) !== undefined && isAsBefore(carrying, cancellation)

/** Brings back what it ended; false, and nothing done, where what the transaction charges is not what comes back. */
export function restore(carrying: Carrying, cancellation: Modification): boolean {
  const back = comingBack(carrying, cancellation)!
  const { segments } = carrying.making
  for (const segment of back) segments.set(segment.locator, segment)
  findReach(carrying)
  if (chargesWhatComesBack(carrying, back)) return true
  for (const { locator } of back) segments.delete(locator)
  return false
}

/** Whether what the cancellation ended is the very same elements, each with the same data at the same rate throughout. */
function isAsBefore(carrying: Carrying, cancellation: Modification): boolean {
  const { transaction, making, known, before } = carrying
  const { tree, from, term } = transaction
  const { exposureRuns, policy } = making
  const covers = new Map<string, number>()
  const isSame = (id: string, { start, end }: Span, test: (element: ReadElement) => boolean): boolean => {
    const element = tree!.elements.get(id)
    covers.set(id, (covers.get(id) ?? 0) + end - later(start, from))
    return element !== undefined && !element.isEnded && test(element)
  }
  const exposureIds = new Map([...known.exposures].map(([id, locator]) => [locator, id]))
  const counted = new Set(making.modifications.keys())
  for (const run of exposureRuns.values()) {
    const span = { start: run.start, end: endOfRun(run, counted) }
    if (run.end !== term.endTime || span.end <= later(from, span.start)) continue
    const data = canonical(run.data)
    if (!isSame(exposureIds.get(run.exposureLocator)!, span, one => canonical(one.data) === data))
      return false
  }
  const ids = idsOfPerils(carrying)
  const ended = [...making.segments.values()].filter(one => one.replacedBy === cancellation.locator)
  const runs = runsIn(
    known,
    making,
    ended.map(one => one.locator),
  )
  for (const run of runs)
    for (const piece of piecesOf(run, before, policy.timeZone)) {
      if (piece.replacedBy !== cancellation.locator || piece.end <= from) continue
      const content = canonical([run.data, run.amounts])
      const isLike = (element: ReadElement): boolean =>
        canonical([element.data, element.amounts]) === content && !hasOtherRate(run.price!, element)
      if (!isSame(ids.get(run.perilLocator)!, piece, isLike)) return false
    }
  const said = [...tree!.elements.values()].filter(one => one.level !== 'policy' && !one.isEnded)
  return said.every(({ id }) => covers.get(id) === term.endTime - from)
}

/** The segments that the cancellation ended, from the time on; undefined where they do not reach to the term's end. */
function comingBack(
  { making, transaction: { from, term, tree }, made, supply }: Carrying,
  cancellation: Modification,
): PolicySegment[] | undefined {
  const segments = [...making.segments.values()]
  const data = canonical(tree!.root.data)
  const lost = segments
    .filter(one => one.replacedBy === cancellation.locator && one.end > from)
    .sort((a, b) => a.start - b.start)
  const back = lost.map((segment): PolicySegment => {
    const kept = segments.find(
      one => one.madeBy === cancellation.locator && one.predecessor === segment.locator,
    )
    return {
      ...segment,
      ...made,
      replacedBy: undefined,
      locator: supply.uuid(),
      start: later(kept?.end ?? segment.start, from),
      predecessor: segment.locator,
    }
  })
  let end = from
  for (const { start, end: next } of back) {
    if (start !== end) return undefined
    end = next
  }
  return end === term.endTime && lost.every(one => canonical(one.data) === data) ? back : undefined
}

/** Says of each run what does not come back, where that is another part than the fold's; false where it cannot be said. */
function chargesWhatComesBack(carrying: Carrying, back: readonly PolicySegment[]): boolean {
  const { by, making } = carrying
  const line = lineNow(carrying)
  const splits: PerilRun[] = []
  for (const [id, amounts] of missingAmounts(carrying)) {
    const found = runsOf(carrying, id)
      .map(run => ({ run, pieces: piecesOf(run, line, making.policy.timeZone) }))
      .find(({ pieces }) => pieces.some(one => one.madeBy === by && one.segment === back[0]))
    if (!found) return false
    const { run, pieces } = found
    if (amounts.some(({ key }) => !hasPlace(run.price!, readKey(key)))) return false
    const own = pieces.find(one => one.madeBy === by && one.segment === back[0])
    const source = own && pieces.find(one => one.segment.locator === own.segment.predecessor)
    const kept = source && keptOf(pieces, source, source.replacedBy!)
    if (!own?.amounts || !source?.amounts || own.start === (kept?.end ?? source.start)) return false
    const taken = kept?.amounts ? minusAmounts(source.amounts, kept.amounts) : source.amounts
    const before = amounts.reduce(
      (all, { key, by: more }) => changedAmounts(all, run.price!, readKey(key), negated(more)),
      minusAmounts(taken, own.amounts),
    )
    const told = { by, segment: source.segment.locator, at: own.start, before }
    splits.push({ ...run, splits: [...(run.splits ?? []), told] })
  }
  for (const run of splits) making.perilRuns.set(run.locator, run)
  return true
}
