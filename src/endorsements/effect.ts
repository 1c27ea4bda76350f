// What an endorsement does to a policy (brief 2.2, 2.5): the segment that holds its time is split there, each later
// one is replaced whole by a changed copy; exposures and perils that it changes or ends are cut, and new runs stand
// in their place. Runs that it does not touch stay as they are, however the policy is split around them.
import { boundQuote, type Carried, nextNumber } from '../cancellations/effect.ts'
import { Refusal } from '../platform/errors.ts'
import type { DisplayId } from '../platform/locators.ts'
import { type Instant, later } from '../platform/time.ts'
import {
  type Endorsement,
  type Modification,
  type PolicyAggregate,
  type PolicySegment,
  type Quote,
  withRecords,
} from '../policies/aggregate.ts'
import type { ReportedProblems } from '../policies/draft/request.ts'
import { lineOf, segmentsInForce } from '../policies/fold/line.ts'
import { Content, type EndorsementContext } from './content.ts'
import { repricingOf } from './touches.ts'

/** The policy with the endorsement carried out, not issued and not priced; problems of its content are in `reported`. */
export type Endorsed = Carried & { readonly quote: Quote; readonly reported: ReportedProblems }

/** Refuses (409) where there is no coverage at its time. Takes the digits that `digitsForEndorsement` counts. */
export function endorsed(
  before: PolicyAggregate,
  endorsement: Endorsement,
  context: EndorsementContext,
): Endorsed {
  const { now, supply, product } = context
  const quote = boundQuote(before)
  const { startAt, changes } = endorsement
  const line = lineOf(before, quote)
  const affected = segmentsInForce(line).filter(segment => segment.end > startAt)
  if (!affected.some(segment => segment.start <= startAt))
    throw new Refusal(
      'wrongState',
      `Policy ${before.policy.locator} has no coverage at ${startAt} to endorse.`,
    )
  const modification: Modification = {
    locator: supply.uuid(),
    kind: 'endorsement',
    displayId: supply.digits() as DisplayId,
    number: nextNumber(before),
    name: endorsement.name,
    effectiveAt: startAt,
    policyEnd: before.policy.effectiveEnd,
    createdAt: now,
    updatedAt: now,
    transactionLocator: String(endorsement.locator),
  }
  const made = { madeBy: modification.locator, createdAt: now, updatedAt: now, replacedBy: undefined }
  const content = new Content(before, quote, line, modification, affected.at(-1)!.end, context)
  const parts = affected.flatMap((segment): PolicySegment[] => {
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
    return [...kept, part({ start: split, end: segment.end }, content.policyData(segment, changes))]
  })
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
      modifications: withRecords(before.modifications, [modification]),
      segments: withRecords(before.segments, parts),
      ...content.records(),
    },
  }
}
