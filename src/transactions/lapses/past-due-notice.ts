import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { totalDueOf } from '../../policy/bills/amounts-due.ts'
import { invoiceEvent } from '../../policy/events.ts'
import type { Planned } from '../../policy/planned.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { isOwed, pastDueFrom } from './past-due.ts'

/** Tells that the invoice is past due (brief 9); undefined when it is paid, void, or has more time by now. */
export function planPastDueNotice(
  aggregate: PolicyAggregate,
  invoiceLocator: Uuid,
  now: Instant,
): Planned | undefined {
  const invoice = aggregate.invoices.get(invoiceLocator)
  const from = invoice && pastDueFrom(aggregate, invoice)
  if (!invoice || from === undefined || from > now || !isOwed(aggregate, invoice)) return undefined
  return {
    aggregate,
    events: [invoiceEvent(aggregate, 'invoice.pastDue', invoice, totalDueOf(aggregate, invoice))],
  }
}
