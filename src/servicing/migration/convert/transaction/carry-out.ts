// What a migrated transaction does to the policy in the making: the same records that a live one leaves, so that whatever
// comes after it finds a policy like any other.
//
// What it says that it charges is the difference that it makes. Elements that it changes are cut at its time, and new runs
// take their place: a new run costs what lay there of the old one, by the fold's own share, and the difference. What it
// ends without a successor keeps what the difference leaves of it, as a split that was told (aggregate.ts, RunSplit), or
// where nothing of it lies before its time, as a holdback. So what the fold says that it charges is what was said, to the
// cent, and stays so whatever is done to the policy later.
//
// A gap ends segments and cuts no run, as a cancellation does; the very same coverage after it brings back what it ended, and any
// other has new runs.
import { sum } from '../../../../kernel/money.ts'
import { later, type Span } from '../../../../kernel/time.ts'
import { segmentsInForce, standingCancellations } from '../../../../policy/fold/line.ts'
import { premiumChangeOf } from '../../../../policy/fold/premium.ts'
import type { Modification, PolicySegment } from '../../../../policy/records/aggregate.ts'
import type { ReadElement } from '../elements.ts'
import {
  beginCarrying,
  type Carrying,
  changeModification,
  countReach,
  findReach,
  type Given,
  inReach,
  isInTerm,
  keepReach,
  lengthOf,
  lineNow,
  modificationOf,
} from './carrying.ts'
import { type Billed, billedThings } from './charged.ts'
import { charge } from './charging.ts'
import { cover } from './cover.ts'
import { kindOf, recordModification } from './record.ts'
import { isUndone, restore } from './restoring.ts'

export type Carried = {
  readonly modification: Modification
  readonly billed: readonly Billed[]
  /** Its elements, and the runs that it could do anything to. */
  readonly work: number
}

/**
 * Carries the transaction out: writes its records into `making`, and into `known` what its elements became. Takes two
 * digits, and one for each exposure and each peril of a term that is new.
 */
export function carryOut(given: Given): Carried {
  const carrying = beginCarrying(given)
  const { transaction, making } = carrying
  const { isGap, tree } = transaction
  const standing = standingCancellations(making).filter(one => isInTerm(carrying, one.effectiveAt))
  const { replaced, covered } = replacedSegments(carrying)
  const endsGap = !isGap && tree !== undefined && standing.length > 0 && covered < lengthOf(carrying)
  const kind = kindOf(carrying, endsGap)
  const undone = kind === 'reinstatement' ? standing.findLast(one => isUndone(carrying, one)) : undefined
  recordModification(carrying, kind, undone ? [undone] : standing)
  if (isGap) {
    cutSegments(carrying, replaced, undefined)
    findReach(carrying)
  } else if (tree && !(undone && restore(carrying, undone))) {
    cutSegments(carrying, replaced, tree.root)
    findReach(carrying)
    cover(carrying, covered)
  }
  charge(carrying)
  setEndAndChange(carrying)
  keepReach(carrying)
  return {
    modification: modificationOf(carrying),
    billed: billedThings(carrying),
    work: (tree?.elements.size ?? 0) + countReach(carrying),
  }
}

/** Where the policy ends by now, and by how much its premium changed. */
function setEndAndChange(carrying: Carrying): void {
  const { making, transaction, isCreation, quote } = carrying
  const end = segmentsInForce(lineNow(carrying)).at(-1)?.end ?? transaction.from
  const policyEnd = isCreation ? transaction.term.endTime : end
  making.policy = { ...making.policy, effectiveEnd: policyEnd }
  changeModification(carrying, { policyEnd })
  const premiumChange = isCreation
    ? sum(
        [...making.perilRuns.values()].map(run => run.price!.premium.amount),
        making.policy.currency,
      )
    : premiumChangeOf(inReach(carrying), quote, modificationOf(carrying))
  changeModification(carrying, { premiumChange })
}

// Segments of the policy: a transaction ends those of its term from its time on, and puts others there.
/** Segments of the term that are in force from the transaction's time on, and how much of it they cover, in milliseconds. */
export function replacedSegments(carrying: Carrying): { replaced: PolicySegment[]; covered: number } {
  const { from, isFirstOfTerm } = carrying.transaction
  const replaced = isFirstOfTerm
    ? []
    : segmentsInForce(carrying.before).filter(one => isInTerm(carrying, one.start) && one.end > from)
  return { replaced, covered: replaced.reduce((all, one) => all + one.end - later(one.start, from), 0) }
}

/** Segments end at the time; where there is coverage after it, with other data. */
export function cutSegments(
  { making: { segments }, transaction: { from, term }, by, made, quote, supply }: Carrying,
  replaced: readonly PolicySegment[],
  root: ReadElement | undefined,
): void {
  const part = (span: Span, data: PolicySegment['data'], predecessor?: PolicySegment): void => {
    const segment: PolicySegment = {
      ...made,
      ...span,
      locator: supply.uuid(),
      quoteLocator: quote.locator,
      data,
      ...(predecessor && { predecessor: predecessor.locator }),
    }
    segments.set(segment.locator, segment)
  }
  let end = from
  for (const segment of replaced) {
    segments.set(segment.locator, { ...segment, replacedBy: by })
    if (segment.start < from) part({ start: segment.start, end: from }, segment.data, segment)
    if (!root) continue
    const start = later(segment.start, from)
    if (end < start) part({ start: end, end: start }, root.data)
    part({ start, end: segment.end }, root.data, segment)
    end = segment.end
  }
  if (root && end < term.endTime) part({ start: end, end: term.endTime }, root.data)
}
