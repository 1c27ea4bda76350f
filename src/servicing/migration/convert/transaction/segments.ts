// Segments of the policy: a transaction ends those of its term from its time on, and puts others there.
import { later, type Span } from '../../../../kernel/time.ts'
import { segmentsInForce } from '../../../../policy/fold/line.ts'
import type { PolicySegment } from '../../../../policy/records/aggregate.ts'
import type { ReadElement } from '../elements.ts'
import { type Carrying, isInTerm } from './carrying.ts'

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
