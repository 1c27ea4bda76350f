import type { Instant } from '../../kernel/time.ts'
import { totalsDueOf } from '../../policy/bills/amounts-due.ts'
import { invoiceEvent } from '../../policy/events.ts'
import type { Planned } from '../../policy/planned.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import { type Invoice, writtenOff } from '../../policy/records/invoice.ts'

/** What is open of the invoices is given up; what was paid of them stays paid, and becomes no credit (brief 4.5). */
export function planWriteOff(before: PolicyAggregate, invoices: readonly Invoice[], now: Instant): Planned {
  const totalDueOf = totalsDueOf(before)
  const lost = invoices.map(invoice => writtenOff(invoice, now))
  const aggregate = { ...before, invoices: putRecords(before.invoices, lost) }
  return {
    aggregate,
    events: lost.map(invoice => invoiceEvent(aggregate, 'invoice.writtenOff', invoice, totalDueOf(invoice))),
  }
}
