// Time that was never billed because it cost nothing, such as a boat laid up for the winter at 0.00, or the whole of a policy that
// is free at first. When such time begins to cost something, it is billed like new time, period by period.
import type { Span } from '../kernel/time.ts'
import { installmentOf, openInstallments, standingInvoices } from '../policy/bills/amounts-due.ts'
import { lineUpTo } from '../policy/fold/line.ts'
import { piecesInForce, piecesOf } from '../policy/fold/pieces.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../policy/records/aggregate.ts'
import { invoiceStatus } from '../policy/records/invoice.ts'

/**
 * Returns the periods that the schedule has billed. Excludes charges that an endorsement or a fee billed immediately, which belong
 * to no period, and invoices of zero (a free term has one).
 */
export const billedPeriods = (policy: PolicyAggregate): Span[] =>
  standingInvoices(policy)
    .filter(invoice => invoiceStatus(invoice) !== 'zeroDue')
    .map(invoice => installmentOf(policy, invoice))
    .filter(one => one.replans?.bill !== 'atOnce')
    .flatMap((one): readonly Span[] => (one.periods.length > 0 ? one.periods : [one]))

/** Whether part of the time is in no period that is billed or planned. */
export function hasUnbilledTime(policy: PolicyAggregate, { start, end }: Span): boolean {
  const spans = [...billedPeriods(policy), ...openInstallments(policy)].sort((a, b) => a.start - b.start)
  let billedUntil = start
  for (const one of spans) if (one.start <= billedUntil && one.end > billedUntil) billedUntil = one.end
  return billedUntil < end
}

/** Returns a test for whether any part of a time span had a premium or tax before the transaction. Reads all perils. */
export function costBefore(policy: PolicyAggregate, by: Modification): (time: Span) => boolean {
  const line = lineUpTo(policy, boundQuote(policy), by).filter(
    step => step.modification.locator !== by.locator,
  )
  const costing = new Map<string, Span>()
  for (const run of policy.perilRuns.values())
    if (run.price)
      for (const { start, end, amounts } of piecesInForce(piecesOf(run, line, policy.policy.timeZone)))
        if (amounts && [amounts.premium, ...amounts.taxes].some(one => one.minor !== 0))
          costing.set(`${start}/${end}`, { start, end })
  return time => [...costing.values()].some(({ start, end }) => start < time.end && time.start < end)
}
