// A person's decision on an application, in the place of underwriting's (brief 1.4). It is about what the person
// saw: the application's content, on the policy as it was issued then, by the configuration of then. An update of
// the application makes it void, as does anything that is issued meanwhile and an upgrade of the policy; then
// underwriting is asked again. (Quotes have the same rule: whoever changes a decided one makes a copy, undecided.)
import type { Instant } from '../../kernel/time.ts'
import { isIssued, isListed } from '../../policy/fold/line.ts'
import type { Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Endorsement, UnderwritingResult } from '../../policy/records/transactions.ts'
import type { Referral } from '../../rating/referral.ts'
import { assertEndorsementAllows } from './operation.ts'
import { endorsementEvent, withEndorsement } from './plans.ts'

/**
 * How many modifications are issued: what is decided or quoted rests on that many. Changes of fees and bills alone do
 * not count: what was quoted is as true after them.
 */
export const issuedCount = ({ modifications }: PolicyAggregate): number =>
  [...modifications.values()].filter(one => isIssued(one) && isListed(one)).length

/** The valid decision on an application; undefined when underwriting must be asked. */
export const personsDecision = (
  aggregate: PolicyAggregate,
  { state, underwriting, basedOn }: Endorsement,
): UnderwritingResult | undefined =>
  state === 'application' && basedOn === issuedCount(aggregate) ? underwriting : undefined

/** The application without a person's decision. */
export const undecided = (application: Endorsement): Endorsement => ({
  ...application,
  underwriting: undefined,
  basedOn: undefined,
})

/** Stores the decision on the application; its notes follow those of `earlier`, which it overrides. */
export function planReferral(
  before: PolicyAggregate,
  endorsement: Endorsement,
  { decision, notes }: Referral,
  earlier: UnderwritingResult,
  now: Instant,
): Planned {
  assertEndorsementAllows(endorsement, 'refer')
  const referred: Endorsement = {
    ...endorsement,
    underwriting: { decision, notes: [...earlier.notes, ...notes], at: now },
    basedOn: issuedCount(before),
    updatedAt: now,
  }
  const aggregate = withEndorsement(before, referred)
  const newerType =
    endorsement.kind === 'renewal' ? 'policy.renewal.manualUnderwrite' : 'policy.change.manualUnderwrite'
  return {
    aggregate,
    events: [{ ...endorsementEvent(aggregate, 'update', referred, { decision }), newerType }],
  }
}
