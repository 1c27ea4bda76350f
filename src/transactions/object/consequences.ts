// What a plan brings with it, whatever kind of operation made it: ends of grace, credit, documents and timers. The one place
// where a policy that is stored and one that only a command has in memory are completed (cli/offline/life.ts).
import { uuidOfPolicy } from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import type { NewTimer } from '../../platform/commit.ts'
import type { NewEvent } from '../../platform/events/outbox.ts'
import { assertChargesAddUp } from '../../policy/bills/charged.ts'
import { assertContentFits } from '../../policy/content-size.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Loaded, NeededCredit } from '../../policy/surroundings.ts'
import type { Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { coverEnds } from '../cancellations/kind.ts'
import { type MovedSchedule, movedSchedules, scheduleTimers } from '../custom-events/plan.ts'
import { withDocuments, withPostIssuance } from '../documents/planned.ts'
import { pastDueTimers } from '../lapses/grace-periods.ts'
import { withCredit, withGraceEnds } from '../payments/settling.ts'

export type Consequences = {
  /** The policy as it is to be recorded. */
  readonly after: PolicyAggregate
  /** The policyholder's credit that is left. */
  readonly credit: Money
  /** The result is right only with this credit; undefined where it does not depend on it. */
  readonly neededCredit: NeededCredit | undefined
  readonly events: readonly NewEvent[]
  readonly timers: readonly NewTimer[]
  readonly schedules: readonly MovedSchedule[]
}

type Surroundings = {
  /** False for the clock, which no refusal of a plugin stops. */
  readonly isAttended: boolean
  /** Adds the media that fields name. */
  readonly withMedia: (aggregate: PolicyAggregate) => Promise<PolicyAggregate>
}

/**
 * Completes the plan of an operation. Pure except for `withMedia` and for calls of the tenant's plugins. Refuses what they
 * refuse, (409) a plan that takes back credit that was used, (413) field values beyond the limit of a policy, and (422) charges and
 * credit beyond what adds up exactly.
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
  const graced = await withGraceEnds(before, loaded, plan, attempt, isAttended)
  const { planned, credit, neededCredit } = await withCredit(before, loaded, graced, attempt)
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
