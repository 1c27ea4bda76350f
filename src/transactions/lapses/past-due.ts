// Invoices that are unpaid past their due time (brief 1.5).
import type { Uuid } from '../../kernel/locators.ts'
import type { Money } from '../../kernel/money.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { amountsDue, totalDueOf } from '../../policy/bills/amounts-due.ts'
import { invoiceEvent } from '../../policy/events.ts'
import type { Planned } from '../../policy/planned.ts'
import type { Modification, PolicyAggregate } from '../../policy/records/aggregate.ts'
import { type Invoice, isOutstanding } from '../../policy/records/invoice.ts'
import type { ModificationKind } from '../../policy/records/transactions.ts'

/** What brings cover back or prolongs it: what was unpaid before is past due anew from then on. */
const PROLONGING: ReadonlySet<ModificationKind> = new Set(['renewal', 'reinstatement'])

/**
 * From when the invoice, as long as it is unpaid, is past due: its due time; or when its transaction was issued, as
 * nobody loses his cover over what is only accepted; or when the cover was prolonged or brought back, whichever is
 * latest. Undefined while its transaction is not issued, or when it is settled.
 */
export function pastDueFrom({ modifications }: PolicyAggregate, invoice: Invoice): Instant | undefined {
  const issuedAt = modifications.get(invoice.policyModificationLocator)?.issuedAt
  if (issuedAt === undefined || !isOutstanding(invoice)) return undefined
  let from = later(invoice.dueAt, issuedAt)
  for (const one of modifications.values())
    if (one.issuedAt !== undefined && PROLONGING.has(one.kind)) from = later(from, one.issuedAt)
  return from
}

/** Whether the policyholder owes it: a refund that the insurer owes is never past due. */
export const isOwed = (aggregate: PolicyAggregate, invoice: Invoice): boolean =>
  totalDueOf(aggregate, invoice).minor > 0

/** The policy's invoices that are owed and past due. */
export function pastDueInvoices(aggregate: PolicyAggregate, now: Instant): Invoice[] {
  const dueOf = new Map<Modification, Money[]>()
  return [...aggregate.invoices.values()].filter(invoice => {
    const from = pastDueFrom(aggregate, invoice)
    if (from === undefined || from > now) return false
    const modification = aggregate.modifications.get(invoice.policyModificationLocator)!
    const due = dueOf.get(modification) ?? amountsDue(aggregate, modification)
    dueOf.set(modification, due)
    return due[invoice.installmentNumber - 1]!.minor > 0
  })
}

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
