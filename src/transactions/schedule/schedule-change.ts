// Changes the payment schedule of an issued policy in one step, without an endorsement (brief 0.11): bills that are not invoiced
// yet are planned again from today. The change is a modification, since plans and invoices belong to one, but it charges nothing
// and answers do not list it.
import { makeBills } from '../../billing/billing.ts'
import { planRescheduleByPlugin } from '../../billing/plugin-bills.ts'
import { replan } from '../../billing/replanning.ts'
import { type BillPlan, countInvoicedNow } from '../../billing/schedule.ts'
import type { LocatorSupply } from '../../kernel/locators.ts'
import { zero } from '../../kernel/money.ts'
import { type Instant, later, startOfDay } from '../../kernel/time.ts'
import { assertWithinLimits } from '../../policy/limits.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import { type Loaded, paymentSchedule } from '../../policy/surroundings.ts'
import {
  assertPolicyAllows,
  newModification,
  type Planned,
  policyEvent,
  versionProperties,
} from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { assertNoConflicts } from '../mechanism/conflicts.ts'
import { defineKind, showNothing } from '../mechanism/kind.ts'

/** Returns undefined if the policy already has that schedule, so a repeat changes nothing. */
export async function decideScheduleChange(
  loaded: Loaded,
  name: string,
  attempt: Attempt,
): Promise<Planned | undefined> {
  const { aggregate, product } = loaded
  const { now } = attempt
  assertPolicyAllows(aggregate, 'reschedule')
  const scheduleName = paymentSchedule(product, name)
  if (scheduleName === aggregate.policy.paymentScheduleName) return undefined
  // Pending transactions were planned on the former schedule.
  assertNoConflicts(aggregate, '')
  const { originalStart, effectiveEnd: policyEnd, timeZone } = aggregate.policy
  const from = later(startOfDay(now, timeZone), originalStart)
  const rescheduled = { ...aggregate.policy, paymentScheduleName: scheduleName }
  const own = await planRescheduleByPlugin(
    aggregate,
    rescheduled,
    { start: from, end: policyEnd },
    loaded,
    attempt,
  )
  const bills = own ?? replan(aggregate, { charges: [], scheduleName, from, policyEnd }, product, now)
  const supply = await attempt.digits(1 + countInvoicedNow(bills.plan, now))
  return planScheduleChange(aggregate, { scheduleName, from }, bills, { now, supply })
}

/** Takes one digit locator, and one for each invoice that is created immediately. */
function planScheduleChange(
  before: PolicyAggregate,
  { scheduleName, from }: { scheduleName: string; from: Instant },
  bills: BillPlan,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Planned {
  const modification = newModification(
    before,
    {
      kind: 'scheduleChange',
      name: 'modification.policy.paymentSchedule',
      effectiveAt: from,
      policyEnd: before.policy.effectiveEnd,
      issuedAt: now,
      premiumChange: zero(before.policy.currency),
      newPaymentScheduleName: scheduleName,
    },
    { now, supply },
  )
  const changed: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, paymentScheduleName: scheduleName, updatedAt: now },
    modifications: putRecords(before.modifications, [modification]),
  }
  assertWithinLimits(changed)
  const billed = makeBills(changed, modification, bills, { now, supply })
  const update = policyEvent(billed.aggregate, 'policy.update', {
    ...versionProperties(billed.aggregate),
    modificationLocator: modification.locator,
    paymentScheduleName: scheduleName,
  })
  return { ...billed, events: [update, ...billed.events] }
}

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    paymentSchedule: { name: string }
  }
}

export const paymentScheduleKind = defineKind<'paymentSchedule'>({
  name: 'paymentSchedule',
  async decide(loaded, { name }, { attempt }) {
    const planned = await decideScheduleChange(loaded, name, attempt)
    return planned && { planned, response: showNothing }
  },
})
