import type { Instant } from '../../platform/time.ts'
import { type PolicyAggregate, withRecords } from '../../policies/aggregate.ts'
import { invoiceEvent } from '../../policies/events.ts'
import type { Planned } from '../../policies/planned.ts'
import { totalsDueOf } from '../bill.ts'
import { type Invoice, writtenOff } from '../invoice.ts'

/** What is open of the invoices is given up; what was paid of them stays paid, and becomes no credit (brief 4.5). */
export function planWriteOff(before: PolicyAggregate, invoices: readonly Invoice[], now: Instant): Planned {
  const totalDueOf = totalsDueOf(before)
  const lost = invoices.map(invoice => writtenOff(invoice, now))
  const aggregate = { ...before, invoices: withRecords(before.invoices, lost) }
  return {
    aggregate,
    events: lost.map(invoice => invoiceEvent(aggregate, 'invoice.writtenOff', invoice, totalDueOf(invoice))),
  }
}
