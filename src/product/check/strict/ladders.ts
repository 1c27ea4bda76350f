// Ladders: branches that each test a range of the same number. Reports ranges that no branch covers, ranges that two branches
// cover, and branches that are never taken.
import type { Statement } from '../../../../packages/liquid/outline.ts'
import { testedRange } from './conditions.ts'
import { difference, type Interval, intersection, joinIntervals, shownInterval } from './domains.ts'
import type { Evaluation } from './evaluation.ts'
import { PREMIUM_SETTERS } from './filters.ts'
import type { Path } from './values.ts'

type Choice = Extract<Statement, { kind: 'choice' }>

/** A gap of at most this width between two ranges is a slip, even if an `else` or a default covers it. */
const SLIP = 1

/** The most branches of a ladder that is checked: each is compared with all before it. */
const MOST_BRANCHES = 100

type Ranges = readonly Interval[]

/** For each branch, `asked` is the range that it tests, and `ranges` the part of it that the number can have. */
type Ladder = {
  readonly asked: readonly Ranges[]
  readonly ranges: readonly Ranges[]
  /** The values that the number can have. */
  readonly whole: Ranges
  readonly step: number | undefined
  /** The number as the template writes it. */
  readonly name: string
}

/**
 * Reports gaps, overlaps and branches that are never taken, if the choice is a ladder of 2 to 100 branches. Reports a gap that
 * leaves a variable or the premium unset; any other gap only if it is at most 1 wide and not the only uncovered range.
 */
export function checkLadder(choice: Choice, path: Path, evaluation: Evaluation): void {
  const ladder = ladderOf(choice, path, evaluation)
  if (!ladder) return
  for (const [at, { begin }] of choice.branches.entries())
    for (const message of branchProblems(ladder, at)) evaluation.source.alarm('rangeOverlap', begin, message)
  const isReplaced = choice.otherwise !== undefined || !setsUnsetVariable(choice, path)
  const advice = `Let each range end where the next one begins${choice.otherwise ? '' : ", or add an 'else'"}.`
  for (const gap of gapsOf(ladder, isReplaced)) {
    const message = `No branch covers '${ladder.name}' ${shownInterval(gap)}, which is between two ranges that branches cover. ${advice}`
    evaluation.source.alarm('rangeHole', choice.begin, message)
  }
}

/** Returns undefined unless all branches test ranges of the same number. */
function ladderOf(choice: Choice, path: Path, evaluation: Evaluation): Ladder | undefined {
  const { branches } = choice
  if (branches.length < 2 || branches.length > MOST_BRANCHES) return undefined
  if (branches.some(one => one.isNegated)) return undefined
  const all = branches.map(one => testedRange(one.condition, path, evaluation))
  const [first] = all
  if (!first || all.some(one => one?.key !== first.key)) return undefined
  const domain = evaluation.domainOf(first.value, path)
  if (domain?.kind !== 'numbers') return undefined
  const { parts: whole, step } = domain
  const asked = all.map(one => one!.parts)
  const ranges = asked.map(parts => intersection(parts, whole, step))
  return { asked, ranges, whole, step, name: shownSubject(choice, evaluation) }
}

/** Compares a branch with those before it and returns its problems. */
function branchProblems({ asked, ranges, step, name }: Ladder, at: number): string[] {
  const range = ranges[at]!
  const before = ranges.slice(0, at)
  if (range.length === 0) {
    if (asked[at]!.length === 0) return []
    return [`This branch is never taken: '${name}' is never ${shownRanges(asked[at]!)}. Correct the bounds.`]
  }
  if (difference(range, joinIntervals(before.flat(), step), step).length === 0)
    return [
      `This branch is never taken: an earlier branch covers all of ${shownRanges(range)}. Correct the bounds, or their order.`,
    ]
  return before.flatMap(other => {
    const shared = intersection(range, other, step).filter(one => one.high > one.low)
    const isNested = contains(range, other, step) || contains(other, range, step)
    if (shared.length === 0 || isNested) return []
    return `Two branches cover ${shownRanges(shared)} of '${name}'; the first one counts. Let each range end where the next one begins.`
  })
}

/** Gaps between two branches. If something covers the gaps, only those that are slips. */
function gapsOf({ ranges, whole, step }: Ladder, isReplaced: boolean): Interval[] {
  const covered = joinIntervals(ranges.flat(), step)
  const rest = joinIntervals(difference(whole, covered, step), step)
  return rest.filter(gap => {
    const isSlip = gap.high - gap.low <= SLIP && rest.length >= 2
    return isBetween(gap, covered) && (isSlip || !isReplaced)
  })
}

const shownRanges = (ranges: Ranges): string => ranges.map(shownInterval).join(' and ')

const contains = (a: Ranges, b: Ranges, step: number | undefined): boolean =>
  difference(b, a, step).length === 0

/** Whether there is a covered range on both sides of the gap. */
const isBetween = (gap: Interval, covered: Ranges): boolean =>
  covered.some(one => one.high <= gap.low) && covered.some(one => one.low >= gap.high)

function shownSubject({ branches }: Choice, { source }: Evaluation): string {
  let { initial } = branches[0]!.condition
  while (initial.kind === 'operation') {
    const { left, right }: typeof initial = initial
    initial = left.kind === 'number' || left.kind === 'text' ? right : left
  }
  return source.text.slice(initial.begin, initial.end)
}

/** Whether a gap leaves a variable, or the premium, unset. */
function setsUnsetVariable({ branches }: Choice, path: Path): boolean {
  return branches.some(({ body }) =>
    body.some(one => {
      if (one.kind === 'assign') return !path.variables.has(one.name)
      if (one.kind !== 'output') return false
      return path.premium === 'unset' && one.value.filters.some(filter => PREMIUM_SETTERS.has(filter.name))
    }),
  )
}
