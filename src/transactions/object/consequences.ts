// The consequences of a plan, for every kind of operation: credit, ends of grace periods, documents and timers. Both stored
// policies and policies that a command has only in memory are completed here (cli/offline/life.ts).
import { uuidOfPolicy } from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { assertChargesAddUp, assertContentFits } from '../../policy/limits.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Loaded, NeededCredit } from '../../policy/surroundings.ts'
import type { Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { coverEnds } from '../cancellations/cover-end.ts'
import { type MovedSchedule, movedSchedules, scheduleTimers } from '../custom-events/plan.ts'
import { withDocuments, withPostIssuance } from '../documents/document-plan.ts'
import { pastDueTimers } from '../lapses/grace-periods.ts'
import { withCredit } from '../payments/credit.ts'
import { withGraceEnds } from '../payments/settling.ts'

export type Consequences = {
  /** The policy to record. */
  readonly after: PolicyAggregate
  /** The credit that the policyholder has left. */
  readonly credit: Money
  /** The credit that the result relies on. Undefined if it does not depend on credit. */
  readonly neededCredit: NeededCredit | undefined
  readonly events: readonly NewEvent[]
  readonly timers: readonly NewTimer[]
  readonly schedules: readonly MovedSchedule[]
}

type Surroundings = {
  /** False for operations of the clock, which a plugin must not be able to stop. */
  readonly isAttended: boolean
  /** Adds the media that field values name. */
  readonly withMedia: (aggregate: PolicyAggregate) => Promise<PolicyAggregate>
}

/**
 * Completes the plan of an operation. Pure except for `withMedia` and for calls of the tenant's plugins. Throws what these throw,
 * 409 for a plan that takes back credit that other policies use, 413 for field values beyond the limit of a policy, and 422 for
 * charges and credit that are too large to add up exactly.
 */
export async function withConsequences(
  before: PolicyAggregate | undefined,
  loaded: Loaded,
  plan: Planned,
  attempt: Attempt,
  { isAttended, withMedia }: Surroundings,
): Promise<Consequences> {
  const { now } = attempt
  const { product } = loaded
  assertContentFits(before, plan.aggregate, loaded.unread)
  assertChargesAddUp(before, plan.aggregate, loaded.unread)
  const { planned: settled, credit, neededCredit } = await withCredit(before, loaded, plan, attempt)
  const planned = await withGraceEnds(before, loaded, settled, attempt, isAttended)
  const { locator } = planned.aggregate.policy
  const version = (before?.policy.version ?? 0) + 1
  const seen = await withMedia(planned.aggregate)
  const documentPlan = { product, now, uuid: () => uuidOfPolicy(locator) }
  const drafted = withDocuments(before, { ...seen, policy: { ...seen.policy, version } }, documentPlan)
  const issued = { ...loaded, aggregate: drafted }
  const after = await withPostIssuance(before, issued, attempt, isAttended, documentPlan)
  attempt.tables?.assertComplete()
  const { customEvents } = loaded.configuration.configuration
  const schedules = movedSchedules(before, after, customEvents, now)
  const ended = coverEnds(before, after, now)
  return {
    after,
    credit,
    neededCredit,
    events: [...planned.events, ...ended.events],
    timers: [
      ...(planned.timers ?? []),
      ...ended.timers,
      ...scheduleTimers(after, schedules),
      ...pastDueTimers(before, after, product),
    ],
    schedules,
  }
}
