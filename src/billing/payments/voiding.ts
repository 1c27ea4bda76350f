import type { Instant } from '../../kernel/time.ts'
import { totalsDueOf } from '../../policy/bills/amounts-due.ts'
import { invoiceEvent } from '../../policy/events.ts'
import { chain, type Planned } from '../../policy/planned.ts'
import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import { type Invoice, invalidated, invoiceStatus } from '../../policy/records/invoice.ts'
import { standingPayments } from '../../policy/records/payment.ts'
import { planReversal } from './plans.ts'

/**
 * The invoices of a transaction that comes to nothing are void; what was paid of them is reversed first (brief 1.3,
 * 1.4). Those that were settled without money, or are void already, stay as they are. These reversals reopen nothing
 * beside the invoice, which is not outstanding in between.
 */
export function planVoidInvoices(
  before: PolicyAggregate,
  invoices: readonly Invoice[],
  now: Instant,
): Planned {
  const totalDueOf = totalsDueOf(before)
  return invoices
    .filter(invoice => ['unfulfilled', 'paid'].includes(invoiceStatus(invoice)))
    .reduce<Planned>(
      (planned, invoice) => {
        const unpaid = withoutPayments(planned.aggregate, invoice, now)
        const gone = invalidated(unpaid.aggregate.invoices.get(invoice.locator)!, now)
        const aggregate = { ...unpaid.aggregate, invoices: putRecords(unpaid.aggregate.invoices, [gone]) }
        const event = invoiceEvent(aggregate, 'invoice.invalidate', gone, totalDueOf(gone))
        return chain(planned, unpaid, { aggregate, events: [event] })
      },
      { aggregate: before, events: [] },
    )
}

const withoutPayments = (before: PolicyAggregate, invoice: Invoice, now: Instant): Planned =>
  standingPayments(before, invoice).reduce<Planned>(
    (planned, payment) => chain(planned, planReversal(planned.aggregate, payment, now)),
    { aggregate: before, events: [] },
  )
