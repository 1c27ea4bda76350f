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
import { segmentsInForce, standingCancellations } from '../../../../policy/fold/line.ts'
import { premiumChangeOf } from '../../../../policy/fold/premium.ts'
import type { Modification } from '../../../../policy/records/aggregate.ts'
import { type Billed, billedThings } from './billed.ts'
import {
  beginCarrying,
  type Carrying,
  changeModification,
  type Given,
  isInTerm,
  lengthOf,
  lineNow,
  modificationOf,
} from './carrying.ts'
import { charge } from './charging.ts'
import { cover } from './cover.ts'
import { kindOf } from './kind.ts'
import { countReach, findReach, inReach, keepReach } from './reach.ts'
import { recordModification } from './record.ts'
import { isUndone, restore } from './restoring.ts'
import { cutSegments, replacedSegments } from './segments.ts'

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
