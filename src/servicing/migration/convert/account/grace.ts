// Grace of invoices that were past due for long before the account came.
//
// A grace period begins when its invoice is due, and at its end the policy loses its cover from then on. Of an invoice whose
// grace would be over by now, that would take back cover that the other system gave, and nobody was told here that it
// might be lost. So such a one has the product's days from the day of the move. Any other has what is left of its own.

import { add, endOfDay } from '../../../../kernel/time.ts'
import { type PolicyAggregate, putRecords } from '../../../../policy/records/aggregate.ts'
import { isOutstanding } from '../../../../policy/records/invoice.ts'
import { pastDueFrom } from '../../../../transactions/lapses/past-due.ts'
import type { ConvertContext } from '../converted.ts'

/** The policy with an end of grace for each such invoice. */
export function withGrace(
  policy: PolicyAggregate,
  { configuration, now }: Pick<ConvertContext, 'configuration' | 'now'>,
): PolicyAggregate {
  const { productName, timeZone } = policy.policy
  const { gracePeriodDays } = configuration.products[productName]!.lapse
  if (gracePeriodDays === undefined) return policy
  const late = [...policy.invoices.values()].filter(invoice => {
    const from = isOutstanding(invoice) ? pastDueFrom(policy, invoice) : undefined
    return from !== undefined && add(from, gracePeriodDays, 'day', timeZone) <= now
  })
  if (late.length === 0) return policy
  const graceEndAt = endOfDay(add(now, gracePeriodDays, 'day', timeZone), timeZone)
  return {
    ...policy,
    invoices: putRecords(
      policy.invoices,
      late.map(invoice => ({ ...invoice, graceEndAt })),
    ),
  }
}
