// What of a policy its schedules hang on: the times that they are counted from, and the state that suppresses them. Pure.
import type { Instant } from '../../kernel/time.ts'
import { lineOf, segmentsInForce } from '../../policy/fold/line.ts'
import { boundQuote, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { ModificationKind } from '../../policy/records/transactions.ts'
import { policyState } from '../../policy/transitions.ts'
import type { Anchor, Course, SuppressingStatus } from '../../product/custom-events.ts'

const issuedOf = ({ modifications }: PolicyAggregate, kind: ModificationKind) =>
  [...modifications.values()].filter(
    one => one.kind === kind && one.issuedAt !== undefined && one.invalidatedAt === undefined,
  )

const ANCHOR_TIMES: Readonly<Record<Anchor, (aggregate: PolicyAggregate) => Instant[]>> = {
  policyStart: ({ policy }) => [policy.originalStart],
  policyEnd: ({ policy }) => [policy.effectiveEnd],
  termStart: aggregate => [
    aggregate.policy.originalStart,
    ...issuedOf(aggregate, 'renewal').map(one => one.effectiveAt),
  ],
  segmentStart: aggregate =>
    segmentsInForce(lineOf(aggregate, boundQuote(aggregate))).map(segment => segment.start),
}

/** Of an issued policy. */
export const courseOf = (aggregate: PolicyAggregate, anchor: Anchor): Course => ({
  anchors: [...new Set(ANCHOR_TIMES[anchor](aggregate))],
  end: aggregate.policy.effectiveEnd,
  zone: aggregate.policy.timeZone,
})

const lastNumber = (aggregate: PolicyAggregate, kind: ModificationKind): number =>
  Math.max(-1, ...issuedOf(aggregate, kind).map(one => one.number))

/** The state of an issued policy as lists of policies show it (policies/list), of which a schedule may name some. */
export function statusOf(aggregate: PolicyAggregate, now: Instant): SuppressingStatus {
  const { policy } = aggregate
  if (policyState(aggregate) === 'withdrawn') return 'withdrawn'
  const reinstated = lastNumber(aggregate, 'reinstatement')
  if (lastNumber(aggregate, 'lapse') > reinstated) return 'lapsed'
  if ([...aggregate.gracePeriods.values()].some(one => one.state === 'open')) return 'inGrace'
  if (lastNumber(aggregate, 'cancellation') > reinstated) return 'cancelled'
  if (policy.originalStart > now) return 'pending'
  return policy.effectiveEnd <= now ? 'expired' : 'issued'
}
