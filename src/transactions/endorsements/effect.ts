// The effect of an endorsement on a policy (brief 2.2, 2.5). It splits the segment at its time and replaces each later one by a
// changed copy. Runs that it changes are cut and continued by new ones; other runs are unchanged. A new end (brief 10.10) cuts as
// a cancellation would (brief 3.2, 3.3), but a renewal can start there.

import { wrongState } from '../../kernel/errors.ts'
import { earlier, type Instant, later } from '../../kernel/time.ts'
import type { ReportedProblems } from '../../policy/draft/draft.ts'
import { feesOf, lineOf, segmentsInForce, standingCancellations } from '../../policy/fold/line.ts'
import { withSplits } from '../../policy/fold/shares.ts'
import {
  boundQuote,
  type PolicyAggregate,
  type PolicySegment,
  putRecords,
  type Quote,
} from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { type AppliedTransaction, newModification } from '../../policy/transitions.ts'
import { groupsOverTime } from '../../product/fields/groups.ts'
import { reducedFees } from '../cancellations/effect.ts'
import { lapseInForce } from '../lapses/lapse.ts'
import { EndorsedContent, type EndorsementContext, type Ends } from './content.ts'
import { repricingOf } from './repricing.ts'

/**
 * The policy with the endorsement applied, neither issued nor priced. Problems of its content are in `reported`, so that the
 * caller can reject all of them together.
 */
export type EndorsementResult = AppliedTransaction & {
  readonly quote: Quote
  readonly reported: ReportedProblems
}

/** Rejects with 409 a time without coverage. Takes as many digit locators as `digitsForEndorsement` counts. */
export function applyEndorsementChanges(
  aggregate: PolicyAggregate,
  endorsement: Endorsement,
  context: EndorsementContext,
): EndorsementResult {
  const { now, supply, product, prorated } = context
  const quote = boundQuote(aggregate)
  const { startAt, changes } = endorsement
  const locator = supply.uuid()
  const before = withSplits(aggregate, prorated, locator)
  const line = lineOf(before, quote)
  const affected = segmentsInForce(line).filter(segment => segment.end > startAt)
  if (!affected.some(segment => segment.start <= startAt))
    throw wrongState(`Policy ${before.policy.locator} has no coverage at ${startAt} to endorse.`)
  const ends = endsOf(before, affected, endorsement)
  const last = affected.at(-1)!
  const modification = newModification(
    before,
    {
      locator,
      kind: 'endorsement',
      name: endorsement.name,
      effectiveAt: startAt,
      policyEnd: endorsement.endAt ?? before.policy.effectiveEnd,
      transactionLocator: String(endorsement.locator),
    },
    { now, supply },
  )
  const made = { madeBy: modification.locator, createdAt: now, updatedAt: now, replacedBy: undefined }
  const content = new EndorsedContent(before, quote, line, modification, ends, context)
  const going = affected.filter(segment => segment.start < ends.new)
  const groups = groupsOverTime(going.map(segment => segment.data))
  const parts = going.flatMap((segment): PolicySegment[] => {
    const part = (span: { start: Instant; end: Instant }, data: PolicySegment['data']): PolicySegment => ({
      ...segment,
      ...made,
      ...span,
      locator: supply.uuid(),
      predecessor: segment.locator,
      data,
    })
    const split = later(segment.start, startAt)
    const kept = split > segment.start ? [part({ start: segment.start, end: split }, segment.data)] : []
    const until = segment === last ? ends.new : earlier(segment.end, ends.new)
    return [...kept, part({ start: split, end: until }, content.policyData(segment, changes, groups))]
  })
  const feesUpTo = (effectiveAt: Instant) =>
    reducedFees(feesOf(before, quote, line), { ...modification, effectiveAt }, product, before, prorated)
  content.change(
    changes,
    parts.filter(segment => segment.start >= startAt),
    repricingOf(product, endorsement.name, endorsement.changes),
  )
  return {
    quote,
    modification,
    reported: content.reported,
    aggregate: {
      ...before,
      policy: { ...before.policy, updatedAt: now },
      modifications: putRecords(before.modifications, [modification]),
      segments: putRecords(before.segments, parts),
      fees: ends.new < ends.old ? putRecords(before.fees, feesUpTo(ends.new)) : before.fees,
      ...content.records(),
    },
  }
}

/**
 * Returns the old and new end of coverage. An earlier end removes later terms too, as a cancellation would. Rejects with 409 a
 * new end in a coverage gap, or on a cancelled or lapsed policy: a reinstatement must not restore cover beyond an end agreed
 * later.
 */
function endsOf(before: PolicyAggregate, affected: readonly PolicySegment[], { endAt }: Endorsement): Ends {
  const { locator, effectiveEnd } = before.policy
  const old = affected.at(-1)!.end
  if (endAt === undefined || endAt === effectiveEnd) return { old, new: old }
  const cancellation = standingCancellations(before).at(-1)
  if (cancellation)
    throw wrongState(
      `Policy ${locator} is cancelled from ${cancellation.effectiveAt}, so an endorsement cannot move its end; reinstate the policy first, or cancel it from an earlier time.`,
    )
  if (lapseInForce(before))
    throw wrongState(
      `Policy ${locator} has lapsed, so an endorsement cannot move its end; reinstate it first.`,
    )
  if (endAt < effectiveEnd && !affected.some(segment => segment.start < endAt && endAt <= segment.end))
    throw wrongState(
      `newPolicyEndTimestamp ${endAt} is in a gap of the coverage of policy ${locator}; choose a time up to which there is coverage.`,
    )
  return { old, new: endAt }
}
