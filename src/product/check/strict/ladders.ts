// Ladders: branches that each ask for a range of the same number. Told are ranges that no branch has, that two have, and
// branches that are never taken.
import type { Statement } from '../../../../packages/liquid/outline.ts'
import { askedRange } from './conditions.ts'
import { difference, type Interval, intersection, joined, shownInterval } from './domains.ts'
import type { Evaluation } from './evaluation.ts'
import { PREMIUM_SETTERS } from './filters.ts'
import type { Path } from './values.ts'

type Choice = Extract<Statement, { kind: 'choice' }>

/** A gap of this width between two ranges is a slip, even where something stands in for it. */
const SLIP = 1

/** Each is held against each before it. */
const MOST_BRANCHES = 100

export function checkLadder(choice: Choice, path: Path, evaluation: Evaluation): void {
  const { branches, otherwise } = choice
  if (branches.length < 2 || branches.length > MOST_BRANCHES || branches.some(one => one.isNegated)) return
  const asked = branches.map(one => askedRange(one.condition, path, evaluation))
  const [first] = asked
  if (!first || asked.some(one => one?.key !== first.key)) return
  const domain = evaluation.domainOf(first.value, path)
  if (domain?.kind !== 'numbers') return
  const { parts: whole, step } = domain
  const ranges = asked.map(one => intersection(one!.parts, whole, step))
  const { source } = evaluation
  const name = shownSubject(choice, evaluation)
  for (const [at, range] of ranges.entries()) {
    const before = ranges.slice(0, at)
    const offset = branches[at]!.begin
    if (range.length > 0 && difference(range, joined(before.flat(), step), step).length === 0) {
      const message = `This branch is never taken: all of ${shownRanges(range)} is in a branch before it. Correct the bounds, or their order.`
      source.alarm('rangeOverlap', offset, message)
    } else if (range.length === 0 && asked[at]!.parts.length > 0) {
      const message = `This branch is never taken: '${name}' is never ${shownRanges(asked[at]!.parts)}. Correct the bounds.`
      source.alarm('rangeOverlap', offset, message)
    } else
      for (const other of before) {
        const shared = intersection(range, other, step).filter(one => one.high > one.low)
        const isNested = contains(range, other, step) || contains(other, range, step)
        if (shared.length === 0 || isNested) continue
        const message = `Two branches have ${shownRanges(shared)} of '${name}'; the first one counts. Let the ranges end where the next ones begin.`
        source.alarm('rangeOverlap', offset, message)
      }
  }
  const covered = joined(ranges.flat(), step)
  const rest = joined(difference(whole, covered, step), step)
  const gaps = rest.filter(one => isBetween(one, covered))
  const isReplaced = otherwise !== undefined || !setsWhatIsUnset(choice, path)
  for (const gap of gaps) {
    const width = gap.high - gap.low
    if (isReplaced && (width > SLIP || rest.length < 2)) continue
    const message = `No branch has '${name}' ${shownInterval(gap)}, between two that are there. Let the ranges end where the next ones begin${otherwise ? '' : ", or add an 'else'"}.`
    source.alarm('rangeHole', choice.begin, message)
  }
}

const shownRanges = (ranges: readonly Interval[]): string => ranges.map(shownInterval).join(' and ')

const contains = (a: readonly Interval[], b: readonly Interval[], step: number | undefined): boolean =>
  difference(b, a, step).length === 0

/** The gap has a covered range on either side. */
const isBetween = (gap: Interval, covered: readonly Interval[]): boolean =>
  covered.some(one => one.high <= gap.low) && covered.some(one => one.low >= gap.high)

function shownSubject({ branches }: Choice, { source }: Evaluation): string {
  let { initial } = branches[0]!.condition
  while (initial.kind === 'operation') {
    const { left, right }: typeof initial = initial
    initial = left.kind === 'number' || left.kind === 'text' ? right : left
  }
  return source.text.slice(initial.begin, initial.end)
}

/** Whether a gap leaves a variable, or the premium, without a value. */
function setsWhatIsUnset({ branches }: Choice, path: Path): boolean {
  return branches.some(({ body }) =>
    body.some(one => {
      if (one.kind === 'assign') return !path.variables.has(one.name)
      if (one.kind !== 'output') return false
      return path.premium === 'unset' && one.value.filters.some(filter => PREMIUM_SETTERS.has(filter.name))
    }),
  )
}
