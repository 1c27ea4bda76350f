// What an endorsement does to a policy (brief 2.2, 2.5): the segment that holds its time is split there, each later
// one is replaced whole by a changed copy; exposures and perils that it changes or ends are cut, and new runs stand
// in their place. Runs that it does not touch stay as they are, however the policy is split around them.
//
// A new end of the policy is a feature of the configuration (brief 2.5, 10.10). An earlier one ends segments, runs
// and fees there, as a cancellation would (brief 3.2, 3.3); but the policy is not cancelled, and a renewal starts
// there. With a later one the last segment goes on, and so do the perils that held up to the old end: content.ts.

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
import { type Carried, newModification } from '../../policy/transitions.ts'
import { reducedFees } from '../cancellations/effect.ts'
import { lapseInForce } from '../lapses/lapse.ts'
import { Content, type EndorsementContext, type Ends } from './content.ts'
import { repricingOf } from './repricing.ts'

/** The policy with the endorsement carried out, not issued and not priced; problems of its content are in `reported`. */
export type Endorsed = Carried & { readonly quote: Quote; readonly reported: ReportedProblems }

/** Refuses (409) where there is no coverage at its time. Takes the digits that `digitsForEndorsement` counts. */
export function endorsed(
  aggregate: PolicyAggregate,
  endorsement: Endorsement,
  context: EndorsementContext,
): Endorsed {
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
  const content = new Content(before, quote, line, modification, ends, context)
  const going = affected.filter(segment => segment.start < ends.new)
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
    return [...kept, part({ start: split, end: until }, content.policyData(segment, changes))]
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
 * Where coverage ends before and after. An earlier end takes away whatever lies beyond it, terms that were renewed
 * since too, as a cancellation at that time would. Refuses (409) a new end in a gap of the coverage, and of a policy
 * that is cancelled or lapsed: its end moves with its cancellations, and what these took away must not come back beyond an end
 * that was agreed on meanwhile.
 */
function endsOf(before: PolicyAggregate, affected: readonly PolicySegment[], { endAt }: Endorsement): Ends {
  const { locator, effectiveEnd } = before.policy
  const old = affected.at(-1)!.end
  if (endAt === undefined || endAt === effectiveEnd) return { old, new: old }
  const cancellation = standingCancellations(before).at(-1)
  if (cancellation)
    throw wrongState(
      `Policy ${locator} is cancelled from ${cancellation.effectiveAt} on, so that an endorsement cannot move its end; reinstate it first, or cancel it from an earlier time.`,
    )
  if (lapseInForce(before))
    throw wrongState(
      `Policy ${locator} is lapsed, so that an endorsement cannot move its end; reinstate it first.`,
    )
  if (endAt < effectiveEnd && !affected.some(segment => segment.start < endAt && endAt <= segment.end))
    throw wrongState(
      `newPolicyEndTimestamp ${endAt} lies in a gap of the coverage of policy ${locator}; choose a time up to which there is coverage.`,
    )
  return { old, new: endAt }
}
